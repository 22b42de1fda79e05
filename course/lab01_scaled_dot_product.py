# ---
# jupyter:
#   lab:
#     title: Scaled dot-product attention
#     points: 30
#     minutes: 75-90
# ---

# %% [markdown] lang="en"
# # Lab 01 · Scaled dot-product attention
#
# **Why divide by $\sqrt{d_k}$?**
#
# In lab 00 each token matched its query with every key and mixed the values by their shares. One
# step was done for you: how scores become shares. Here you build that step, `softmax`, and with it
# the whole of attention. Then you find out by experiment what the root in the formula is for.
#
# 75–90 minutes, 30 points. Run every cell from top to bottom with Shift+Enter. In the first minute
# every check fails, because nothing is written yet; from then on each check says what is right and,
# where it can, which mistake was made.

# %% given
import math

import matplotlib.pyplot as plt
import numpy as np

from attnlab import check
from attnlab.example import BLANK, FEATURES, TOKENS, X
from attnlab.plots import curves, figure, heatmap, reading

# %% [markdown] lang="en"
# ## The letters
#
# The same in all four labs:
#
# | letter | axis |
# |---|---|
# | `B` | batch: sentences handled at once |
# | `T` | queries: the tokens that look |
# | `S` | keys: the tokens looked at (here often the same ones, so S = T) |
# | `d_model` | features of a token |
# | `d_k` | features of a query and of a key |
# | `d_v` | features of a value |
#
# Tokens are rows: `x` is `(T, d_model)`, and `x @ w` changes the features of every token at once.
# A shape that begins with `...` may have any number of axes in front, or none.

# %% [markdown] lang="en"
# ## Carried over
#
# From lab 00 comes `project`, which gives each token its query, its key and its value. Here is a
# version you can rely on; no mistake of an earlier lab follows you. Remember to count axes from the
# end: `-1` is the last one, and `x.swapaxes(-1, -2)` turns the last two round.

# %% given
def project(x, w_q, w_k, w_v):
    """Turn each token into its query, its key and its value (see lab 00)."""
    return x @ w_q, x @ w_k, x @ w_v  # (..., T, d_k), (..., T, d_k), (..., T, d_v)

# %% [markdown] lang="en"
# ## The formula
#
# $$ \text{out} = \text{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V $$
#
# Read it from the inside out, in four steps:
#
# | step | what it does | shape |
# |---|---|---|
# | scores $= QK^\top$ | match each query with each key | `(..., T, S)` |
# | scaled $=$ scores $/\sqrt{d_k}$ | bring them to a common size | `(..., T, S)` |
# | weights $= \text{softmax}(\text{scaled})$ | make each row shares of one whole | `(..., T, S)` |
# | out $=$ weights $\cdot V$ | mix the values by these shares | `(..., T, d_v)` |
#
# Softmax takes $e$ to the power of each entry and divides by the sum of its row.

# %% [markdown] lang="en"
# ## Exercise 1 · On paper first: `by_hand`
#
# **By hand.** One query with $d_k = 4$ and three keys:
# $q = [2, 0, 0, 0]$, and the first entries of the keys are $0, \ln 2, \ln 3$. Whatever else the keys
# offer is multiplied by 0: what a query does not ask for does not count.
#
# | step | key 0 | key 1 | key 2 |
# |---|---|---|---|
# | scores | $0$ | $2\ln 2$ | $2\ln 3$ |
# | scaled, by $\sqrt 4 = 2$ | $0$ | $\ln 2$ | $\ln 3$ |
# | $e$ to the power | $1$ | $2$ | $3$ |
# | weights, by the sum $6$ | $\tfrac16$ | $\tfrac13$ | $\tfrac12$ |
#
# With the values $6, 0, 18$ the query gets $1 + 0 + 9 = 10$.

# %% [markdown] lang="en"
# **Your turn** · 3 points · 10 minutes
#
# Two tokens, $d_k = 4$, $d_v = 3$:
#
# $$ Q = \begin{bmatrix} 2&0&0&0\\0&2&0&0 \end{bmatrix}, \quad
#    K = \begin{bmatrix} 0&0&5&1\\ \ln 3&\ln 2&-1&2 \end{bmatrix}, \quad
#    V = \begin{bmatrix} 12&0&24\\0&12&24 \end{bmatrix} $$
#
# Take paper, write the four matrices down, and return them. Fractions, `np.log(3)` or numbers with
# two decimals will do. The check names the first step that is wrong.
#
# <details><summary>Hint</summary>
#
# The first row of the scores is query 0 with key 0, then query 0 with key 1. And $e^{\ln 3} = 3$.
# </details>

# %% solution="by_hand"
def by_hand():
    """Write down the four steps of attention for two tokens.

    Returns
    -------
    scores, scaled, weights : (2, 2) arrays or nested lists, one row a query
    out : (2, 3) array or nested list
    """
    ### BEGIN SOLUTION
    scores = [[0, 2 * np.log(3)], [0, 2 * np.log(2)]]
    scaled = [[0, np.log(3)], [0, np.log(2)]]
    weights = [[1 / 4, 3 / 4], [1 / 3, 2 / 3]]
    out = [[3, 9, 24], [4, 8, 24]]
    return scores, scaled, weights, out
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** Both values end in 24. Before you run: what must both outputs end in, whatever the
# weights are? And what does each row of weights sum to?

# %%
scores, scaled, weights, out = by_hand()
print(np.array(out, dtype=float))
np.sum(np.array(weights, dtype=float), axis=-1)

# %% check="by_hand" points=3
"""The four steps, one case each: the first that fails is where to look."""
from attnlab import check

check("by_hand", by_hand)

# %% [markdown] lang="en"
# ## Exercise 2 · Shares of one whole: `softmax`
#
# A row of scores must become shares: positive, with sum 1, larger for larger scores. Dividing by the
# sum is not enough, since scores can be negative. So first make them positive, with $e^x$:
#
# $$ \text{softmax}(x)_j = \frac{e^{x_j}}{\sum_i e^{x_i}}, \qquad (...,\,S) \to (...,\,S) . $$
#
# Only the lead of one score over another matters: a lead of $\ln 2$ doubles the share, wherever the
# two stand. The last axis is a row; every row in front of it is treated on its own.

# %% [markdown] lang="en"
# ### When scores are large
#
# $e^{1000}$ is more than a float can hold: NumPy says `inf`, and `inf / inf` is `nan`. But a number
# $c$ may be taken off all scores of a row, because it cancels:
#
# $$ \frac{e^{x_j - c}}{\sum_i e^{x_i - c}}
#  = \frac{e^{-c}\, e^{x_j}}{e^{-c} \sum_i e^{x_i}} = \text{softmax}(x)_j . $$
#
# Which $c$ makes sure that no power is too large and that the sum is never 0?
#
# **By hand.** $[1000,\ 1000 + \ln 3]$ with $c = 1000 + \ln 3$ becomes $[-\ln 3,\ 0]$, then
# $[\tfrac13, 1]$, then $[\tfrac14, \tfrac34]$.

# %% [markdown] lang="en"
# **Your turn** · 6 points · 15 minutes
#
# <details><summary>Hint</summary>
#
# A sum along the last axis loses that axis, and then it no longer lines up with the rows. Look at
# what `keepdims=True` does to the shape. Each row needs a $c$ of its own.
# </details>

# %% solution="softmax"
def softmax(x):
    """Turn each row of scores into shares that are positive and sum to 1.

    Parameters
    ----------
    x : (..., S) array of scores of any size; it is left as it was

    Returns
    -------
    weights : (..., S) array
    """
    ### BEGIN SOLUTION
    largest = np.max(x, axis=-1, keepdims=True)  # (..., 1)
    e = np.exp(x - largest)  # (..., S), at most 1
    return e / np.sum(e, axis=-1, keepdims=True)  # (..., S)
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** Three rows: equal small scores, equal large ones, and one that leads by $\ln 2$. Which
# two rows will come out the same? What is the last row?

# %%
softmax(np.array([[0.0, 0.0, 0.0], [1000.0, 1000.0, 1000.0], [np.log(2), 0.0, 0.0]]))

# %% check="softmax" points=6
"""Rows sum to 1, for vectors and batches; scores of ±1000 hold; the argument is left alone."""
from attnlab import check

check("softmax", softmax)

# %% [markdown] lang="en"
# **Question for the picture: how high can the scores stand before the formula, taken word for word,
# breaks?** Three scores $c, c + 1, c + 2$; the share of the last one should not depend on $c$.

# %%
heights = np.arange(0.0, 1001.0, 50.0)
with np.errstate(all="ignore"):
    plain = np.array([np.exp(c + 2) / sum(np.exp([c, c + 1, c + 2])) for c in heights])
yours = np.array([softmax(np.array([c, c + 1, c + 2]))[2] for c in heights])
last = heights[np.isfinite(plain)][-1]
reach = heights[np.isfinite(yours)].max(initial=0)
end = "goes on" if reach == heights[-1] else f"ends after c = {reach:g}"

# %%
ax = curves(
    heights,
    {"yours": yours, "word for word": plain},
    xlabel="c, the height of the three scores",
    ylabel="share of the third",
)
ax.set_ylim(0, 1)
figure(
    ax,
    alt=f"Word for word the line ends after c = {last:g}. Yours begins at {yours[0]:.2f} and {end}.",
    caption=f"Word for word the line ends after c = {last:g}; beyond that every share is nan. "
    f"Yours {end}.",
)

# %% [markdown] lang="en"
# ## Exercise 3 · The whole formula: `attention`
#
# All four steps in one function, for one sentence and for any number of leading axes:
#
# $$ \text{weights} = \text{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right), \qquad
#    \text{out} = \text{weights} \cdot V $$
#
# $$ (...,T,d_k),\ (...,S,d_k),\ (...,S,d_v) \to
#    \underbrace{(...,T,d_v)}_{\text{out}},\ \underbrace{(...,T,S)}_{\text{weights}} . $$
#
# The number under the root is the number of features that each dot product sums over.

# %% [markdown] lang="en"
# **By hand.** Three queries and three keys, made so that the scaled scores are the logarithms of the
# whole numbers in $E$. Then the weights are $E$, each row divided by its sum:
#
# $$ E = \begin{bmatrix} 1&2&3\\4&1&3\\2&6&1 \end{bmatrix} \to
#    \begin{bmatrix} \tfrac16&\tfrac13&\tfrac12\\[2pt] \tfrac12&\tfrac18&\tfrac38\\[2pt]
#    \tfrac29&\tfrac23&\tfrac19 \end{bmatrix}, \qquad
#    V = \begin{bmatrix} 6&0\\0&24\\18&9 \end{bmatrix}, \quad
#    \text{out} = \begin{bmatrix} 10&\tfrac{25}2\\[2pt] \tfrac{39}4&\tfrac{51}8\\[2pt]
#    \tfrac{10}3&17 \end{bmatrix} . $$
#
# Query 0 gets $\tfrac16\cdot 6 + \tfrac13\cdot 0 + \tfrac12\cdot 18 = 10$ of the first feature. The
# cell below holds these $q$, $k$ and $v$.

# %%
E = np.array([[1.0, 2.0, 3.0], [4.0, 1.0, 3.0], [2.0, 6.0, 1.0]])
q = np.hstack([2 * np.eye(3), np.zeros((3, 1))])  # (T, d_k) = (3, 4)
k = np.hstack([np.log(E).T, [[1.0], [-1.0], [2.0]]])  # (S, d_k) = (3, 4)
v = np.array([[6.0, 0.0], [0.0, 24.0], [18.0, 9.0]])  # (S, d_v) = (3, 2)

# %% [markdown] lang="en"
# **Your turn** · 8 points · 15 minutes
#
# <details><summary>Hint</summary>
#
# Four lines, one for each step; your `softmax` is the third. Read d_k off the last axis of q. Which
# axes of k change places when there is a batch in front?
# </details>

# %% solution="attention"
def attention(q, k, v):
    """Mix the values for each query, weighted by how well their keys match.

    Parameters
    ----------
    q : (..., T, d_k) array
    k : (..., S, d_k) array
    v : (..., S, d_v) array

    Returns
    -------
    out : (..., T, d_v) array
    weights : (..., T, S) array, each row positive with sum 1

    Source: Vaswani et al. 2017, equation 1.
    """
    ### BEGIN SOLUTION
    scores = q @ np.swapaxes(k, -1, -2)  # (..., T, S)
    scaled = scores / np.sqrt(np.shape(q)[-1])  # (..., T, S)
    weights = softmax(scaled)  # (..., T, S)
    return weights @ v, weights  # (..., T, d_v), (..., T, S)
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** A query of zeros asks for nothing. Which weights will it get, and so which mixture of
# the three values?

# %%
attention(np.zeros((1, 4)), k, v)

# %% check="attention" points=8
"""Four steps in their order, for whole numbers, large scores and batches alike."""
from attnlab import check

check("attention", attention)

# %% [markdown] lang="en"
# Twice the queries undo the division by $\sqrt 4 = 2$. Then each weight comes from
# $e^{2 \ln n} = n^2$: the numbers of $E$ are squared before their shares are taken.
#
# **Question for the picture: who gains when the division is left out?**

# %%
_, divided = attention(q, k, v)
_, undivided = attention(2 * q, k, v)
_, axes = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
names = ["key 0", "key 1", "key 2"], ["query 0", "query 1", "query 2"]
grown = np.sum(undivided.max(-1) > divided.max(-1))
heatmap(divided, names[1], names[0], ax=axes[0], title="divided by √d_k")
heatmap(undivided, names[1], names[0], ax=axes[1], title="not divided")
figure(
    axes,
    alt=f"Weights of three queries, divided and not. Not divided, {grown} of 3 rows are sharper.",
    caption=f"Without the division the largest share grows in {grown} of 3 rows, in the last one from "
    f"{divided[2].max():.2f} to {undivided[2].max():.2f}.",
)

# %% [markdown] lang="en"
# ## Why a root?
#
# So the division makes the shares flatter. But why by $\sqrt{d_k}$? A score is a sum of $d_k$
# products. Suppose nothing is known of the entries and each product is $+1$ or $-1$, by the toss of
# a coin. All sums that can come out:
#
# | $d_k$ | sums, equally likely | variance |
# |---|---|---|
# | 1 | $1, -1$ | $1$ |
# | 2 | $2, 0, 0, -2$ | $(4 + 0 + 0 + 4)/4 = 2$ |
# | 3 | $3, 1, 1, 1, -1, -1, -1, -3$ | $(2 \cdot 9 + 6 \cdot 1)/8 = 3$ |
#
# Most steps of such a walk undo each other. **Guess before you measure:** with $d_k = 100$, is a
# typical score closer to 1, to 10 or to 100?

# %% [markdown] lang="en"
# ## Exercise 4 · Measure it: `score_variance`
#
# Draw $n$ independent pairs of a query and a key, every entry standard normal (mean 0, variance 1).
# Take the $n$ scores, multiply them by `scale`, and return their variance, the mean squared distance
# from their mean:
#
# $$ \text{Var}(\text{scale} \cdot q\cdot k), \qquad
#    (n, d_k),\ (n, d_k) \to (n,) \to \text{one number} . $$
#
# **By hand.** The scores $3, -1, 1, 1$ have mean $1$ and variance $(4 + 4 + 0 + 0)/4 = 2$. Halved,
# they are $1.5, -0.5, 0.5, 0.5$, with variance $(1 + 1 + 0 + 0)/4 = \tfrac12$: a quarter, not half.

# %% [markdown] lang="en"
# **Your turn** · 4 points · 10 minutes
#
# What you get is a measurement: with $n$ pairs it is off by about $\sqrt{2/n}$ of itself, 4.5 % for
# $n = 1000$. The check allows for five times that. Draw from the `rng` that is passed in, so that
# others can repeat your experiment.
#
# <details><summary>Hint</summary>
#
# `rng.standard_normal((n, d_k))` draws all queries at once. Multiply entry by entry; along which
# axis do you sum to have one score a pair?
# </details>

# %% solution="score_variance"
def score_variance(d_k, n, rng, scale=1.0):
    """Measure the variance of scale times q·k over n independent pairs.

    Parameters
    ----------
    d_k : number of features of a query and of a key
    n : number of pairs
    rng : NumPy generator that every entry is drawn from, standard normal
    scale : factor on every score

    Returns
    -------
    variance : a number
    """
    ### BEGIN SOLUTION
    q = rng.standard_normal((n, d_k))
    k = rng.standard_normal((n, d_k))
    scores = scale * np.sum(q * k, axis=-1)  # (n,)
    return np.var(scores)
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** Three measurements with $d_k = 16$: plain scores, divided by $\sqrt{16}$, divided by
# $16$. Write the three numbers you expect down first.

# %%
rng = np.random.default_rng(1)
[float(score_variance(16, 10_000, rng, scale)) for scale in (1, 1 / 4, 1 / 16)]

# %% check="score_variance" points=4
"""The variance of the scores, for few and many features, with and without a scale."""
from attnlab import check

check("score_variance", score_variance)

# %% [markdown] lang="en"
# ### The experiment
#
# Now for $d_k = 1, 2, 4, \dots, 1024$, three ways: plain, divided by $\sqrt{d_k}$, divided by $d_k$.
# We plot the **standard deviation**, the root of the variance: how large a typical score is.
#
# On two logarithmic axes a power $d_k^{\,a}$ is a straight line, and its slope is $a$.
#
# **Predict:** which of the three lines rises, which falls, which is level? With which slopes?

# %%
sizes = [2**power for power in range(11)]
divisors = {
    "not divided": [1.0] * 11,
    "divided by √d_k": [d_k**0.5 for d_k in sizes],
    "divided by d_k": [float(d_k) for d_k in sizes],
}
rng = np.random.default_rng(2)
spread = {
    name: [score_variance(d_k, 2000, rng, 1 / c) ** 0.5 for d_k, c in zip(sizes, divisor)]
    for name, divisor in divisors.items()
}

# %%
slopes = {name: np.polyfit(np.log(sizes), np.log(y), 1)[0] for name, y in spread.items()}
text = ", ".join(f"{name} {slope.round(2) + 0.0:.2f}" for name, slope in slopes.items())
figure(
    curves(sizes, spread, xlabel="d_k", ylabel="standard deviation of the scores", log="xy"),
    alt=f"Standard deviation against d_k, three lines on logarithmic axes. Slopes: {text}.",
    caption=f"Slopes fitted to your measurements: {text}. At d_k = 1024 a typical plain score lies "
    f"{spread['not divided'][-1]:.0f} away from 0.",
)

# %% [markdown] lang="en"
# The plain scores grow as the **root** of $d_k$: twice as large for four times the features.
# Dividing by $\sqrt{d_k}$ takes exactly that away, and a typical score is 1 for every $d_k$. Dividing
# by $d_k$ takes too much, and the scores fade.
#
# *Why* the variance is $d_k$ is the written question at the end. First: what does softmax do to
# scores that are too large, or too small?

# %% [markdown] lang="en"
# ## Exercise 5 · How sharp are the weights? `sharpness`
#
# Softmax sees leads. Two keys, the first leads by $a$: its share is $e^a / (e^a + 1)$.
#
# | lead $a$ | 0.1 | 1 | 4 | 16 |
# |---|---|---|---|---|
# | share | 0.52 | 0.73 | 0.98 | 0.9999999 |
#
# Let the **sharpness** be the largest weight of a query, averaged over many queries:
#
# $$ \frac1T \sum_t \max_j \alpha_{t,j}, \qquad (T, S) \to (T,) \to \text{one number} . $$
#
# It is 1 when every query has chosen a single key, and $1/S$ when all keys count alike.
#
# **By hand.** Rows $[\tfrac12, \tfrac14, \tfrac14]$ and $[\tfrac18, \tfrac18, \tfrac34]$:
# $(\tfrac12 + \tfrac34)/2 = \tfrac58$.

# %% [markdown] lang="en"
# **Your turn** · 3 points · 10 minutes
#
# Draw `n_queries` queries and `n_keys` keys, every entry standard normal. One set of keys for all
# queries will do; new keys for each query are as good.
#
# <details><summary>Hint</summary>
#
# You want another divisor than $\sqrt{d_k}$, so take the steps of `attention` one by one: scores,
# divided, softmax. The largest weight is taken along the keys, the mean over the queries.
# </details>

# %% solution="sharpness"
def sharpness(d_k, divisor, n_keys, n_queries, rng):
    """Measure the mean over queries of the largest attention weight.

    Parameters
    ----------
    d_k : number of features of a query and of a key
    divisor : what every score is divided by before softmax
    n_keys, n_queries : how many of each are drawn
    rng : NumPy generator that every entry is drawn from, standard normal

    Returns
    -------
    sharpness : a number between 1 / n_keys and 1
    """
    ### BEGIN SOLUTION
    q = rng.standard_normal((n_queries, d_k))
    k = rng.standard_normal((n_keys, d_k))
    weights = softmax(q @ k.T / divisor)  # (n_queries, n_keys)
    return np.mean(np.max(weights, axis=-1))
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** Eight keys and $d_k = 64$: not divided, divided by 8, divided by 64. Put the
# three in order first. Below which number can none of them fall?

# %%
[float(sharpness(64, divisor, 8, 2000, rng)) for divisor in (1, 8, 64)]

# %% check="sharpness" points=3
"""The mean of each query's largest weight, for the divisor that is asked for."""
from attnlab import check

check("sharpness", sharpness)

# %% [markdown] lang="en"
# **Question for the picture: for which divisor does the sharpness not depend on $d_k$?** Eight keys;
# each point is the mean over 100 sets of keys.

# %%
rng = np.random.default_rng(3)
sharp = {
    name: [
        np.mean([sharpness(d_k, c, 8, 20, rng) for _ in range(100)])
        for d_k, c in zip(sizes, divisor)
    ]
    for name, divisor in divisors.items()
}
ends = [f"{name} from {y[2]:.2f} to {y[-1]:.2f}" for name, y in sharp.items()]

# %%
ax = curves(sizes, sharp, xlabel="d_k", ylabel="mean largest of 8 weights", log="x")
ax.set_ylim(0, 1)
figure(
    ax,
    alt=f"Mean largest weight against d_k, from 4 to 1024: {', '.join(ends)}.",
    caption=f"From d_k = 4 to d_k = 1024 the sharpness goes: {', '.join(ends)}.",
)

# %% [markdown] lang="en"
# Without the division a *random* query at $d_k = 1024$ has all but chosen one key, though nothing has
# been learned. Divided by $d_k$ it looks at all keys alike, whatever they offer.
#
# ## Exercise 6 · Can it still learn? `softmax_jacobian`
#
# A model learns from slopes: by how much does weight $i$ change when score $j$ rises a little?
#
# $$ \frac{\partial p_i}{\partial x_j} = \begin{cases} p_i - p_i^2 & i = j \\ -p_i\, p_j & i \ne j
#    \end{cases} \qquad\text{or}\qquad J = \text{diag}(p) - p\,p^\top $$
#
# $$ (...,\,S) \to (...,\,S,\,S) . $$
#
# All these slopes of one row of weights are its **Jacobian**. It needs only the weights.

# %% [markdown] lang="en"
# **By hand.** $p = [\tfrac12, \tfrac14, \tfrac14]$:
#
# $$ \text{diag}(p) - p\,p^\top =
#    \begin{bmatrix} \tfrac12&0&0\\0&\tfrac14&0\\0&0&\tfrac14 \end{bmatrix} -
#    \begin{bmatrix} \tfrac14&\tfrac18&\tfrac18\\[2pt] \tfrac18&\tfrac1{16}&\tfrac1{16}\\[2pt]
#    \tfrac18&\tfrac1{16}&\tfrac1{16} \end{bmatrix} =
#    \begin{bmatrix} \tfrac14&-\tfrac18&-\tfrac18\\[2pt] -\tfrac18&\tfrac3{16}&-\tfrac1{16}\\[2pt]
#    -\tfrac18&-\tfrac1{16}&\tfrac3{16} \end{bmatrix} $$
#
# Every row sums to 0: what one key wins, the others lose. Now put $p = [1, 0, 0]$ in. What is left
# of $J$?

# %% [markdown] lang="en"
# **Your turn** · 3 points · 10 minutes
#
# <details><summary>Hint</summary>
#
# A column times a row gives all pairs $p_i\,p_j$: `weights[..., None]` is the column, and swapping
# its last two axes gives the row. `np.eye(S)` times a column puts the weights on the diagonal.
# </details>

# %% solution="softmax_jacobian"
def softmax_jacobian(weights):
    """Work out the slope of each weight of a row with each score of that row.

    Parameters
    ----------
    weights : (..., S) array, each row positive with sum 1

    Returns
    -------
    jacobian : (..., S, S) array; entry (i, j) is the slope of weight i with score j
    """
    ### BEGIN SOLUTION
    column = np.asarray(weights)[..., None]  # (..., S, 1)
    row = np.swapaxes(column, -1, -2)  # (..., 1, S)
    return column * np.eye(column.shape[-2]) - column * row  # (..., S, S)
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** Nudge the first of three scores by $h = 10^{-5}$ and compare what your `softmax` does
# with what your Jacobian says. Which two of the three weights will fall?

# %%
x = np.log([2.0, 1.0, 1.0])
h = 1e-5
nudged = (softmax(x + [h, 0, 0]) - softmax(x)) / h
print("nudged:  ", nudged.round(4))
print("Jacobian:", softmax_jacobian(softmax(x))[:, 0].round(4))

# %% check="softmax_jacobian" points=3
"""Own slopes on the diagonal, all pairs beside it, for one row and for any number of rows."""
from attnlab import check

check("softmax_jacobian", softmax_jacobian)

# %% [markdown] lang="en"
# ### Saturation
#
# You measured that scores have the spread $\sqrt{d_k}$ over the divisor. So draw scores with that
# spread and watch two numbers, averaged over the rows:
#
# * the **entropy** of the weights, $-\sum_j p_j \log_2 p_j$: 3 bits when eight keys count alike, 0
#   when one has it all;
# * the **size of the Jacobian**, the root of the sum of its squares: how strongly the weights answer
#   to their scores.
#
# **Predict:** which of the three divisors makes both fall to 0 as $d_k$ grows?

# %%
noise = np.random.default_rng(4).standard_normal((1000, 8))  # (rows, S)
entropy, answer, asleep = {}, {}, {}
for name, divisor in divisors.items():
    rows = [softmax(d_k**0.5 / c * noise) for d_k, c in zip(sizes, divisor)]
    lengths = [np.linalg.norm(softmax_jacobian(p), axis=(-2, -1)) for p in rows]  # (rows,) each
    entropy[name] = [-np.mean(np.sum(p * np.log2(p + 1e-300), axis=-1)) for p in rows]
    answer[name] = np.mean(lengths, axis=-1)
    asleep[name] = np.mean(lengths[-1] < 0.01)
went = {name: f"{y[0]:.3f} to {y[-1]:.3f}" for name, y in answer.items()}

# %%
words = (
    f"From d_k = 1 to 1024 the mean size of the Jacobian goes, not divided, from {went['not divided']}; "
    f"then {asleep['not divided']:.0%} of the rows hardly answer at all (below 0.01). Divided by √d_k "
    f"it goes from {went['divided by √d_k']}."
)
_, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
curves(sizes, entropy, xlabel="d_k", ylabel="entropy of the weights, bits", log="x", ax=axes[0])
curves(sizes, answer, xlabel="d_k", ylabel="mean size of the Jacobian", log="x", ax=axes[1])
for ax in axes:
    ax.set_ylim(bottom=0)
figure(
    axes,
    alt=f"Entropy and size of the Jacobian against d_k, for three divisors. {words}",
    caption=words,
)

# %% [markdown] lang="en"
# Scores that are too large **saturate** softmax: one weight is 1, the slopes are 0, and nothing tells
# the model how to do better. Divided by $d_k$ the slopes are there, but the entropy is stuck at its
# largest: the scores are too small to make a difference, and out is the plain mean of the values.
# Between the two lies $\sqrt{d_k}$.
#
# All this is for independent entries of mean 0 and variance 1, which is how layers are drawn before
# training. It makes a good start; a trained model may make its scores as large as it needs.

# %% [markdown] lang="en"
# ## The whole, on *I work , you work , he ___*
#
# Four maps. Above, matrices set by hand: the blank asks for a third person and for a verb, pronouns
# ask for verbs, verbs for pronouns, commas for nothing. Each feature is written 7 times over, so
# $d_k = 49$ and $\sqrt{d_k} = 7$. Below, an untrained layer with $d_k = 49$: **random**, and so is
# whatever it seems to look at.
#
# **Question for the picture: what does the blank still hear of `work` when the division is left
# out?** And how sure of itself is a layer that has learned nothing?

# %%
asks = np.zeros((7, 7))  # row: the feature that asks; column: the feature it asks for
asks[FEATURES.index("blank"), FEATURES.index("third")] = 3.0
asks[FEATURES.index("blank"), FEATURES.index("verb")] = 2.3
asks[FEATURES.index("pronoun"), FEATURES.index("verb")] = 2.0
asks[FEATURES.index("verb"), FEATURES.index("pronoun")] = 2.0
by_design = np.repeat(asks, 7, axis=1), np.repeat(np.eye(7), 7, axis=1)  # (d_model, d_k) each
drawn = np.random.default_rng(3)
untrained = drawn.normal(size=(7, 49)), drawn.normal(size=(7, 49))

# %%
maps = []
for w_q, w_k in (by_design, untrained):
    q, k, v = project(X, w_q, w_k, np.eye(7))
    maps += [attention(q, k, v)[1], attention(7 * q, k, v)[1]]  # 7 * q undoes the division
_, axes = plt.subplots(2, 2, figsize=(12.5, 8.6), layout="constrained")
titles = [f"{layer}, {how}" for layer in ("set by hand", "untrained: random")
          for how in ("divided by √d_k", "not divided")]
for ax, weights, title in zip(axes.ravel(), maps, titles):
    heatmap(weights, TOKENS, ax=ax, title=title)
figure(
    axes,
    alt=f"Four heat maps. By hand, divided: {reading(maps[0], BLANK, TOKENS)} Not divided: "
    f"{reading(maps[1], BLANK, TOKENS)} The untrained maps are random.",
    caption=f"Divided, each `work` has {maps[0][BLANK, 1]:.2f} of the blank's attention; not divided, "
    f"{maps[1][BLANK, 1]:.3f}. The mean largest weight of the random layer goes from "
    f"{maps[2].max(-1).mean():.2f} to {maps[3].max(-1).mean():.2f}.",
)

# %% [markdown] lang="en"
# ## Written question
#
# **Derive $\text{Var}(q \cdot k) = d_k$ in four lines.** The entries of $q$ and $k$ are independent,
# with mean 0 and variance 1. Say of each line which of these assumptions it uses. Is it anywhere
# needed that they are normal? · 3 points · 10 minutes

# %% [markdown] manual="why_the_root" points=3
# **Model answer.** The score is $\sum_i q_i k_i$.
#
# 1. $E[q_i k_i] = E[q_i]\,E[k_i] = 0$: independence of $q_i$ and $k_i$, then mean 0.
# 2. $\text{Var}(q_i k_i) = E[q_i^2 k_i^2] = E[q_i^2]\,E[k_i^2] = 1 \cdot 1$: line 1, independence of
#    $q_i$ and $k_i$, then mean 0 and variance 1.
# 3. For $i \ne j$, $E[q_i k_i q_j k_j] = E[q_i]E[k_i]E[q_j]E[k_j] = 0$: independence of different
#    entries, and mean 0. So the variance of the sum is the sum of the variances.
# 4. $\text{Var}(q\cdot k) = \sum_i 1 = d_k$. The standard deviation is $\sqrt{d_k}$; dividing by it
#    gives 1.
#
# Nothing uses the normal distribution: coins of $\pm1$ give the same.
#
# **Rubric.** 1 point: one product has mean 0 and variance 1. 1 point: the variances add, because the
# cross terms vanish. 0.5 points: each assumption is named where it is used. 0.5 points: normality is
# not needed.

# %% [markdown] lang="en"
# ## What you built
#
# `softmax`, which makes shares of scores of any size; `attention`, the whole formula, which the next
# labs build on; and a chain of evidence for its root: the variance of a score is $d_k$
# (`score_variance`), large scores make a hard choice (`sharpness`), and a hard choice has no slope
# to learn from (`softmax_jacobian`).
#
# One attention shares out one whole. But the blank wanted two things at once, a person and a verb,
# and had to split its attention between them. Looking for several things side by side is lab 02.
