# ---
# jupyter:
#   lab:
#     title: Multi-head attention
#     points: 30
#     minutes: 75-90
# ---

# %% [markdown] lang="en"
# # Lab 02 · Multi-head attention
#
# **How can one layer look for several things at once?**
#
# To fill *I work, you work, he ___* you need the subject (`he`), the verb (`work`) and the tense
# (nothing like *will* stands there). So far the blank has one row of shares that sum to 1. What
# `he` gets, `work` cannot have, and what arrives is one mixture.
#
# So let several **heads** look, each with a row of its own, and lay what they find side by side. You
# build that layer, and a test that shows what it can never see: 75–90 minutes, 30 points. As before,
# each check says what is right and, where it can, which mistake was made.

# %% given
import numpy as np

from attnlab import check
from attnlab.layers import LAYERS
from attnlab.plots import curves, figure, head_maps, heatmap, reading

# %% [markdown] lang="en"
# ## The letters
#
# As in the other labs, with two new ones:
#
# | letter | axis |
# |---|---|
# | `B` | batch: sentences handled at once |
# | `T` | queries: the tokens that look |
# | `S` | keys: the tokens looked at (here the same ones, so S = T) |
# | `H` | **heads: how many rows of shares each token has** |
# | `d_model` | features of a token |
# | `d_head` | **features in one head, d_model / H** |
#
# In a head $d_k = d_v = d_{head}$. A shape that begins with `...` may have any number of axes in front,
# or none: count axes from the end.

# %% [markdown] lang="en"
# ## Carried over from lab 01
#
# `softmax` and `attention`, right versions of what you built. They take any number of leading axes,
# and each place along these axes is worked out on its own. That will be worth a lot in a moment.

# %% given
def softmax(x):
    """Turn each row of scores into positive shares that sum to 1."""
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(q, k, v):
    """Return out (..., T, d_v) and weights (..., T, S) of scaled dot-product attention."""
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])  # (..., T, S)
    weights = softmax(scores)
    return weights @ v, weights


# %% [markdown] lang="en"
# ## A vocabulary you can read
#
# Nine words, eight features. A pronoun has its person, `will` is an auxiliary, `yo` is Spanish for
# `I`. Two sentences will be used: the worked example, and a pair of an English and a Spanish half.
#
# **Question for the picture: what does `yo` share with `I`, and what not?**

# %% given
FEATURES = ("verb", "separator", "blank", "first", "second", "third", "auxiliary", "spanish")
WORDS = {
    "I": "first", "you": "second", "he": "third", "yo": "first spanish", "work": "verb",
    "will": "auxiliary", ",": "separator", "/": "separator", "___": "blank",
}  # fmt: skip


def sentence(text):
    """Return the tokens of a text and their features, (T, 8)."""
    tokens = text.split()
    x = [[float(name in WORDS[token].split()) for name in FEATURES] for token in tokens]
    return tokens, np.array(x)


# %%
tokens, x = sentence("I work , you work , he ___")  # (T, d_model)
pair, x_pair = sentence("I work / yo ___")
figure(
    heatmap(x_pair, pair, FEATURES, title="features", fmt="g", labels=("feature", "token")),
    alt="Features of `I work / yo ___`. `I` and `yo` are both first person; `yo` is also Spanish.",
)

# %% [markdown] lang="en"
# ## The idea: heads
#
# A head is attention with three matrices of its own, and narrower: $d_{head} = d_{model}/H$ features.
# Then $W_O$ brings what the heads found back together:
#
# $$ \text{head}_h = \text{attention}(X W_Q^h,\; X W_K^h,\; X W_V^h), \qquad
#    \text{out} = [\,\text{head}_0 \,|\, \dots \,|\, \text{head}_{H-1}\,]\; W_O . $$
#
# Side by side the $W_Q^h$ make one $(d_{model}, d_{model})$ matrix $W_Q$. Multiply once and cut the
# result into heads: column by column that is the very same sum. Some suspect a mistake there; there
# is none.

# %% [markdown] lang="en"
# ## Exercise 1 · Cut into heads: `split_heads`
#
# Head $h$ gets $d_{head}$ neighbouring features of every token:
#
# $$ \text{heads}[h, t, i] = x[t,\; h \cdot d_{head} + i], \qquad
#    (...,T,d_{model}) \to (...,T,H,d_{head}) \to (...,H,T,d_{head}) . $$
#
# Heads end up *in front of* the tokens, where a batch would be: `attention` will then work on each head
# by itself, without a loop.
#
# When $H$ does not divide $d_{model}$, raise a `ValueError` whose text names both numbers.

# %% [markdown] lang="en"
# **By hand.** Read `23` as "token 2, feature 3". Tokens 1 to 4, features 0 to 5, two heads:
#
# ```
# x             (4, 6)         head 0  (4, 3)    head 1  (4, 3)
# 10 11 12 13 14 15            10 11 12          13 14 15
# 20 21 22 23 24 25            20 21 22          23 24 25
# 30 31 32 33 34 35            30 31 32          33 34 35
# 40 41 42 43 44 45            40 41 42          43 44 45
# ```
#
# A `reshape` never moves a number. It reads them row by row (`10 11 12 13 14 15 20 21 …`) and cuts
# that line elsewhere. After which cut are the three numbers `10 11 12` a row of their own, and which
# axis is then in the wrong place?

# %% [markdown] lang="en"
# **Your turn** · 5 points · 10 minutes
#
# <details><summary>Hint</summary>
#
# Check first: what is left over when you divide? Then two steps: a reshape can cut the last axis in
# two (`*x.shape[:-1]` stands for all axes before it, batch and all), and two axes must change
# places. Write the shape behind each line.
# </details>

# %% solution="split_heads"
def split_heads(x, n_heads):
    """Share the features out to heads, neighbouring features to the same head.

    Parameters
    ----------
    x : (..., T, d_model) array
    n_heads : H, a whole number

    Returns
    -------
    heads : (..., H, T, d_head) array, d_head = d_model / H

    Raises
    ------
    ValueError : when H does not divide d_model; its text names both numbers

    Source: Vaswani et al. 2017, section 3.2.2.
    """
    ### BEGIN SOLUTION
    d_model = x.shape[-1]
    if d_model % n_heads:
        raise ValueError(f"d_model = {d_model} cannot be shared out to {n_heads} heads")
    cut = x.reshape(*x.shape[:-1], n_heads, d_model // n_heads)  # (..., T, H, d_head)
    return cut.swapaxes(-2, -3)  # (..., H, T, d_head)
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** Before you run: which three numbers will head 1 hold for token 3?

# %%
labelled = np.array([[10 * t + f for f in range(6)] for t in range(1, 5)])  # (T, d_model)
parts = split_heads(labelled, 2)
print(np.shape(parts))
print(parts[1])

# %% check="split_heads" points=5
"""Every head has d_head neighbouring features of every token; sizes that do not fit are refused."""
from attnlab import check

check("split_heads", split_heads)

# %% [markdown] lang="en"
# **Question for the picture: from which token does each number come?** Left two: your heads. Right
# two: `x.reshape(2, 4, 3)`, which has the same shape.

# %%
import matplotlib.pyplot as plt

panels = np.array([*split_heads(labelled, 2), *labelled.reshape(2, 4, 3)]) // 10  # (4, T, d_head)
titles = ("your head 0", "your head 1", "only reshaped, 0", "only reshaped, 1")
_, axes = plt.subplots(1, 4, figsize=(11, 2.9), layout="constrained")
for ax, panel, title in zip(axes, panels, titles):
    names = ("feature", "row")
    heatmap(panel, "0123", "012", ax=ax, title=title, limits=(0, 6), fmt="g", labels=names)
rows = [", ".join(map(str, panel[:, 0])) for panel in panels]
figure(
    axes,
    alt=f"First column, your heads: {rows[0]} and {rows[1]}; only reshaped: {rows[2]} and {rows[3]}.",
    caption="In a head each row should be another token. Only reshaped, the first head holds all of "
    "tokens 1 and 2 and nothing of the others. No shape gives it away.",
)

# %% [markdown] lang="en"
# ## Exercise 2 · Side by side again: `merge_heads`
#
# The way back: each token's rows are collected from all heads and laid side by side, head 0 first.
#
# $$ \text{merged}[t,\; h \cdot d_{head} + i] = x[h, t, i], \qquad
#    (...,H,T,d_{head}) \to (...,T,H,d_{head}) \to (...,T,d_{model}) . $$
#
# **By hand.** Two heads, two tokens, two features each:
#
# ```
# head 0   a b      head 1   e f        merged   a b e f
#          c d               g h                 c d g h
# ```
#
# The numbers lie in memory as `a b c d e f g h`. Cut straight into two rows, the first would be
# `a b c d`: head 0 of both tokens.

# %% [markdown] lang="en"
# **Your turn** · 4 points · 5 minutes
#
# <details><summary>Hint</summary>
#
# The two steps of `split_heads`, each undone, in the opposite order.
# </details>

# %% solution="merge_heads"
def merge_heads(x):
    """Lay the heads of each token side by side.

    Parameters
    ----------
    x : (..., H, T, d_head) array

    Returns
    -------
    merged : (..., T, H * d_head) array, head 0's features first
    """
    ### BEGIN SOLUTION
    side_by_side = x.swapaxes(-2, -3)  # (..., T, H, d_head)
    *leading, n_heads, d_head = side_by_side.shape
    return side_by_side.reshape(*leading, n_heads * d_head)  # (..., T, d_model)
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** Splitting and merging must give back what went in. But look at the second line: it uses
# two plain reshapes, both wrong. What will it say?

# %%
print(np.array_equal(merge_heads(split_heads(labelled, 2)), labelled))
print(np.array_equal(labelled.reshape(2, 4, 3).reshape(4, 6), labelled))

# %% [markdown] lang="en"
# Two mistakes that undo each other pass a round trip. There is published code with this slip that
# trained without complaint for years. Only numbers known beforehand tell, and that is what the check
# compares with.

# %% check="merge_heads" points=4
"""Each token's features stand side by side, head by head, for one sentence and for a batch."""
from attnlab import check

check("merge_heads", merge_heads)

# %% [markdown] lang="en"
# ## Exercise 3 · The layer as a function: `multi_head_attention`
#
# Project, split, attend, merge, and mix with $W_O$:
#
# $$ \underbrace{Q, K, V}_{(...,T,d_{model})} \to \underbrace{Q^h, K^h, V^h}_{(...,H,T,d_{head})}
#    \to \underbrace{\text{weights}}_{(...,H,T,T)},\ \underbrace{\text{heads}}_{(...,H,T,d_{head})}
#    \to \underbrace{\text{out}}_{(...,T,d_{model})} . $$
#
# Two things to watch. Every head may draw on *all* features of $x$, so projecting comes before
# splitting. And a head's dot products run over $d_{head}$ features, so by lab 01 its scores are
# divided by $\sqrt{d_{head}}$: `attention` sees to that.

# %% [markdown] lang="en"
# **By hand.** One query, two keys, two heads of width 1:
#
# | head | shares | values | blend |
# |---|---|---|---|
# | 0 | $\tfrac34,\ \tfrac14$ | $8,\ 0$ | $6$ |
# | 1 | $\tfrac12,\ \tfrac12$ | $4,\ 2$ | $3$ |
#
# Merged: $[6, 3]$. With $W_O$ of rows $[1, 2]$ and $[0, 1]$:
#
# $$ [6, 3]\, W_O = 6\,[1, 2] + 3\,[0, 1] = [6, 15] . $$
#
# Read the middle: head 0 speaks through the first row of $W_O$, head 1 through the second, and the
# parts are **added**. In general $\text{out} = \sum_h \text{head}_h W_O^h$, where $W_O^h$ are the
# $d_{head}$ rows of head $h$.

# %% [markdown] lang="en"
# **Your turn** · 8 points · 15 minutes
#
# <details><summary>Hint</summary>
#
# Once the heads are split, H is one more leading axis, and `attention` takes leading axes as they
# come: one call for all heads. What it returns as weights is what you return.
# </details>

# %% solution="multi_head_attention"
def multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads):
    """Let H heads attend at once, and mix what they find.

    Parameters
    ----------
    x : (..., T, d_model) array
    w_q, w_k, w_v, w_o : (d_model, d_model) arrays; head h owns columns h * d_head up to
        (h + 1) * d_head of the first three, and the same rows of w_o
    n_heads : H

    Returns
    -------
    out : (..., T, d_model) array
    weights : (..., H, T, T) array

    Raises
    ------
    ValueError : when H does not divide d_model; its text names both numbers

    Source: Vaswani et al. 2017, section 3.2.2.
    """
    ### BEGIN SOLUTION
    q = split_heads(x @ w_q, n_heads)  # (..., H, T, d_head)
    k = split_heads(x @ w_k, n_heads)
    v = split_heads(x @ w_v, n_heads)
    found, weights = attention(q, k, v)  # (..., H, T, d_head), (..., H, T, T)
    return merge_heads(found) @ w_o, weights  # (..., T, d_model)
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** The worked example has 8 tokens of 8 features. With 4 heads and random matrices: which
# two shapes will come out, and what will every row of `weights` sum to?

# %%
rng = np.random.default_rng(0)
w_q, w_k, w_v, w_o = rng.normal(size=(4, 8, 8))
out, weights = multi_head_attention(x, w_q, w_k, w_v, w_o, 4)
print(np.shape(out), np.shape(weights), np.unique(np.sum(weights, axis=-1).round(6)))

# %% check="multi_head_attention" points=8
"""All heads at once: the right scale, the right features, W_O at the end, a batch left whole."""
from attnlab import check

check("multi_head_attention", multi_head_attention)

# %% [markdown] lang="en"
# **Is one product, then cut, really the same as a projection for each head?** Head 1's columns of
# `w_q` are 2 and 3. Guess the size of the largest difference, then run.

# %%
own_columns = x @ w_q[:, 2:4]  # (T, d_head): what head 1 asks, projected on its own
print(f"{np.abs(own_columns - split_heads(x @ w_q, 4)[1]).max():.1g}")

# %% [markdown] lang="en"
# **Question for the picture: do the heads of this layer differ, and do they mean anything?**

# %%
figure(
    head_maps(weights, tokens),
    alt="Heat maps of the heads of an untrained layer, whose matrices are random.",
    caption=" ".join(f"Head {h}: {reading(w, 7, tokens)}" for h, w in enumerate(weights))
    + " Nothing was trained: the matrices are random, and so the heads mean nothing.",
)

# %% [markdown] lang="en"
# ## Exercise 4 · The layer as a class: `MultiHeadAttention`
#
# A layer keeps its four matrices and is made from two sizes and a seed. How many numbers could be
# trained in it? A head has three $(d_{model}, d_{head})$ matrices, $W_O$ is $(d_{model}, d_{model})$:
#
# $$ \underbrace{H \cdot 3 \cdot d_{model} \cdot \tfrac{d_{model}}{H}}_{\text{heads}}
#    + \underbrace{d_{model}^2}_{W_O} = 4\, d_{model}^2 . $$
#
# $H$ cancels: more heads are narrower heads, at the same price. **By hand.** $d_{model} = 6$, $H = 3$:
# nine matrices of $6 \cdot 2$ numbers are 108, and 36 for $W_O$ make 144 = $4 \cdot 6^2$.

# %% [markdown] lang="en"
# ### How to draw them
#
# A feature of $x W_Q$ is a sum of $d_{model}$ products. By lab 01's argument its variance is
# $d_{model}$ times that of one product, so entries drawn with spread $1/\sqrt{d_{model}}$ give queries
# as wide as the tokens.
#
# Draw from a generator of the layer's own, `np.random.default_rng(seed)`. The same seed then gives
# the same layer, and nobody else's random numbers change. One generator, four draws: a generator made
# anew from the same seed starts over.
#
# There are no biases. `forward` takes a `mask`, because every layer of this course does; what to do
# with one is lab 03's subject.

# %% [markdown] lang="en"
# **Your turn** · 5 points · 10 minutes
#
# <details><summary>Hint</summary>
#
# `rng.normal(size=(d_model, d_model))` has spread 1: what must it be divided by? Remember `n_heads`
# for `forward`, and let `forward` call your function with the four attributes, so that weights put
# in later count.
# </details>

# %% solution="MultiHeadAttention"
class MultiHeadAttention:
    """A layer of H heads with four (d_model, d_model) matrices and no biases.

    Parameters
    ----------
    d_model : features of a token
    n_heads : H
    seed : the same seed gives the same matrices

    Attributes
    ----------
    w_q, w_k, w_v, w_o : normal, with spread 1/√d_model; may be replaced at any time
    n_parameters : a whole number, how many numbers could be trained
    """

    def __init__(self, d_model, n_heads, seed=0):
        ### BEGIN SOLUTION
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        drawn = rng.normal(size=(4, d_model, d_model)) / np.sqrt(d_model)
        self.w_q, self.w_k, self.w_v, self.w_o = drawn
        self.n_parameters = drawn.size
        ### END SOLUTION

    def forward(self, x, mask=None):
        """Return out (..., T, d_model) and weights (..., H, T, T); mask stays None until lab 03."""
        ### BEGIN SOLUTION
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)
        ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** A layer of width 64: how many parameters with 1 head, how many with 8?

# %%
[MultiHeadAttention(64, n_heads).n_parameters for n_heads in (1, 8)]

# %% check="MultiHeadAttention" points=5
"""Four different matrices of the right spread, repeatable, counted right, and used by forward."""
from attnlab import check

check("MultiHeadAttention", MultiHeadAttention)

# %% [markdown] lang="en"
# **Question for the picture: does the spread of the queries stay at that of the tokens as the layer
# grows wider?** The tokens' spread is 1. The other two lines are your draws times $\sqrt{d_{model}}$ and
# divided by it.

# %%
widths = 2 ** np.arange(2, 10)
spread = np.array([
    np.std(np.random.default_rng(1).normal(size=(50, d)) @ MultiHeadAttention(d, 1).w_q)
    for d in widths
])  # fmt: skip
root = widths**0.5
lines = {"yours": spread, "yours · √d_model": spread * root, "yours / √d_model": spread / root}
figure(
    curves(widths, lines, xlabel="d_model", ylabel="spread of a query's features", log="xy"),
    alt=f"Spread against d_model. Yours goes from {spread[0]:.2g} to {spread[-1]:.2g}.",
    caption=f"At d_model = {widths[-1]} your draws give {spread[-1]:.2g}; √d_model times as large they "
    f"would give {spread[-1] * root[-1]:.2g}, and √d_model times as small {spread[-1] / root[-1]:.2g}.",
)

# %% [markdown] lang="en"
# ## Exercise 5 · What it cannot see: `is_permutation_equivariant`
#
# Shuffle the tokens: `x[permutation]`, or $PX$. A layer is **equivariant** when its output is shuffled
# in the same way and otherwise unchanged:
#
# $$ f(PX) = P f(X), \qquad \underbrace{P}_{(T,T)},\ \underbrace{X}_{(T,d)} . $$
#
# Attention is. $Q, K, V$ become $PQ, PK, PV$; the scores $PQ (PK)^\top = P\,(QK^\top) P^\top$. Softmax
# works row by row, so the weights $A$ become $P A P^\top$, and
#
# $$ (P A P^\top)(P V) = P A V \quad\text{because}\quad P^\top P = I . $$
#
# Nothing in it knows where a token stands.

# %% [markdown] lang="en"
# **By hand.** Tokens `a b c`, permutation `[2, 0, 1]`, so the shuffled sentence is `c a b`.
#
# | layer: every token receives … | $f(X)$ | $P f(X)$ | $f(PX)$ | equivariant? |
# |---|---|---|---|---|
# | its own features (`alone`) | `a b c` | `c a b` | `c a b` | yes |
# | the mean $m$ (`mean`) | `m m m` | `m m m` | `m m m` | yes |
# | the first token's features (`first`) | `a a a` | `a a a` | `c c c` | **no** |
#
# *Invariant* would be $f(PX) = f(X)$: the first layer is not. A layer that sorts its tokens gives the
# same *set* of rows on both sides, and is not equivariant: rows no longer follow their tokens.

# %% [markdown] lang="en"
# **Your turn** · 5 points · 15 minutes
#
# The test is for the one permutation it is handed. If that fails, the layer is not equivariant. If
# it passes, another might still fail: a test can refute, not prove.
#
# <details><summary>Hint</summary>
#
# Two runs of the layer, one shuffle on each side. `x[..., permutation, :]` shuffles tokens in any
# batch. Sums in another order differ in the last digits, hence `atol`. `np.allclose` also forgives a
# relative difference unless you say `rtol=0`.
# </details>

# %% solution="is_permutation_equivariant"
def is_permutation_equivariant(layer, x, permutation, atol=1e-9):
    """Say whether shuffling the tokens only shuffles the layer's output.

    Parameters
    ----------
    layer : has forward(x) -> (out, weights)
    x : (..., T, d) array
    permutation : (T,) array of whole numbers; token permutation[t] moves to place t
    atol : the largest difference in any number of the output that still counts as equal

    Returns
    -------
    bool
    """
    ### BEGIN SOLUTION
    out, _ = layer.forward(x)  # (..., T, d)
    out_of_shuffled, _ = layer.forward(x[..., permutation, :])  # (..., T, d)
    return np.allclose(out_of_shuffled, out[..., permutation, :], rtol=0, atol=atol)
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** Your layer, and eight toys from `attnlab.layers`: the three above; `content` weighs tokens
# by their dot products; `causal` takes the mean of a token and those before it, `window` of it and the
# one before; `positions` adds each token's place to its features, `trace` a ten-millionth of it. For
# which will your test say True?

# %%
permutation = np.array([3, 0, 4, 1, 7, 6, 2, 5])
layer = MultiHeadAttention(d_model=8, n_heads=4, seed=1)
toys = ("content", "mean", "alone", "causal", "window", "first", "positions", "trace")
tried = {"yours": layer} | {name: LAYERS[name] for name in toys}
{name: is_permutation_equivariant(each, x, permutation) for name, each in tried.items()}

# %% check="is_permutation_equivariant" points=5
"""True for layers that go by content alone, False for those that look at places, at every atol."""
from attnlab import check

check("is_permutation_equivariant", is_permutation_equivariant)

# %% [markdown] lang="en"
# **Question for the picture: where does each layer differ from its shuffled self?** Every cell is
# one number of $|f(PX) - P f(X)|$.

# %%
shuffled, largest = [tokens[t] for t in permutation], []
_, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
for ax, name in zip(axes, ("yours", "causal", "positions")):
    out, moved = tried[name].forward(x)[0], tried[name].forward(x[permutation])[0]
    gap = np.abs(moved - out[permutation])  # (T, d_model)
    largest.append(f"{name}: {gap.max():.2g} at most")
    heatmap(gap, shuffled, FEATURES, ax=ax, title=largest[-1], fmt=".1f")
    ax.set(xlabel="feature", ylabel="token")
figure(
    axes,
    alt=f"Differences between the two sides. {'; '.join(largest)}.",
    caption="A layer that goes by content alone agrees to rounding. Looking backwards only, or adding "
    "places, ties the output to the order of the tokens.",
)

# %% [markdown] lang="en"
# So to this layer *he ___ , you work , I work* is the same sentence as ours, shuffled. That is why
# the two `work` could not be told apart in lab 00, and why models add **positions** to the features,
# in a later part of the course. Note that it holds without a mask only: under a causal mask (lab 03)
# attention is *not* equivariant, although one often reads that it is.

# %% [markdown] lang="en"
# ## The whole: four specialists, set by hand
#
# Now be the training. Four heads of width 2, each with one thing to look for: the **subject**, the
# **verb**, the **tense**, and an **alignment** of Spanish words with English ones. Rows of a matrix
# belong to features; head $h$ owns columns $2h$ and $2h + 1$, and the same rows of $W_O$.

# %% given
def place(*entries):
    """Return an (8, 8) matrix of zeros with some (feature, head, column, size) put in."""
    w = np.zeros((8, 8))
    for feature, head, column, size in entries:
        w[FEATURES.index(feature), 2 * head + column] = size
    return w


SUBJECT, VERB, TENSE, ALIGN = range(4)

# %%
specialists = MultiHeadAttention(d_model=8, n_heads=4)
specialists.w_q = place(  # who asks, and how loudly
    ("blank", SUBJECT, 0, 5), ("verb", SUBJECT, 1, 4),
    ("blank", VERB, 0, 4), ("first", VERB, 0, 3), ("second", VERB, 0, 3), ("third", VERB, 0, 3),
    ("blank", TENSE, 0, 4),
    ("spanish", ALIGN, 0, 5), ("blank", ALIGN, 1, 5),
)  # fmt: skip
specialists.w_k = place(  # who answers
    ("third", SUBJECT, 0, 1), ("first", SUBJECT, 0, 0.4), ("second", SUBJECT, 0, 0.4),
    ("spanish", SUBJECT, 0, 0.5), ("first", SUBJECT, 1, 1), ("second", SUBJECT, 1, 1),
    ("third", SUBJECT, 1, 1), ("verb", VERB, 0, 1),
    ("auxiliary", TENSE, 0, 1.6), ("verb", TENSE, 0, 0.8),
    ("first", TENSE, 0, 0.8), ("second", TENSE, 0, 0.8),
    ("first", ALIGN, 0, 1), ("second", ALIGN, 0, 1), ("third", ALIGN, 0, 1),
    ("spanish", ALIGN, 0, -1), ("verb", ALIGN, 1, 1),
)  # fmt: skip

# %% [markdown] lang="en"
# The subject is asked for as a third person: "the nearest pronoun" would need positions. And what
# carries the tense? An auxiliary would. There is none, so that head rests on the patterns `I work` and
# `you work`: bare verbs after their pronouns, the present.
#
# **Question for the picture: what does the blank look for in each head?** The last panel is the pair
# *I work / yo ___*.

# %%
_, weights = specialists.forward(x)  # (H, T, T)
_, weights_pair = specialists.forward(x_pair)
_, axes = plt.subplots(2, 2, figsize=(11.5, 8), layout="constrained")
for ax, head, title in zip(axes.flat, range(3), ("subject", "verb", "tense")):
    heatmap(weights[head], tokens, ax=ax, title=f"head {head}: {title}")
heatmap(weights_pair[ALIGN], pair, ax=axes[1, 1], title="head 3: alignment")
said = [reading(w, 7, tokens) for w in weights[:3]]
figure(
    axes,
    alt=f"Four specialists. {' '.join(said)} On the pair: {reading(weights_pair[ALIGN], 4, pair)}",
    caption=f"Subject: {said[0]} Verb: {said[1]} Tense: {said[2]} On the pair: "
    f"{reading(weights_pair[ALIGN], 3, pair)} {reading(weights_pair[ALIGN], 4, pair)}",
)

# %% [markdown] lang="en"
# A row that is even all along asks for nothing: its query is zero.
#
# **Question for the picture: could you have named the heads of a layer that nobody trained?** The
# same sentence and the same class, with matrices drawn from a seed. (`x` is stretched so that its
# numbers are as wide as such draws expect; otherwise every share would be close to 1/8.)

# %%
_, untrained = MultiHeadAttention(d_model=8, n_heads=4, seed=3).forward(np.sqrt(8) * x)
figure(
    head_maps(untrained, tokens, titles=[f"head {h}: random" for h in range(4)]),
    alt="Four heat maps of an untrained layer. They are random.",
    caption=" ".join(f"Head {h}: {reading(w, 7, tokens)}" for h, w in enumerate(untrained))
    + " All of it is random: where a head seems to know something, it does so by chance.",
)

# %% [markdown] lang="en"
# Heads *can* specialise; the room for it is what you built. Whether they do is up to training, and
# at small scale they do so only in part: some heads can be named, many cannot, and some can be taken
# out with little harm (Michel et al. 2019).
#
# Last step: what the specialists hand over. $W_V$ picks features, $W_O$ says where they go. (The
# alignment head hands over nothing yet.)
#
# **Question for the picture: what does the blank of each sentence know in the end?** Predict first.

# %%
handed_over = (("third", SUBJECT, 0), ("first", SUBJECT, 1), ("verb", VERB, 0),
               ("auxiliary", TENSE, 0), ("spanish", TENSE, 1))  # fmt: skip
specialists.w_v = place(*[(*entry, 1) for entry in handed_over])
specialists.w_o = specialists.w_v.T  # each number goes back to the feature it came from
sentences = ("I work , you work , he ___", "I will work , he ___", "I work / yo ___")
known = np.array([specialists.forward(sentence(text)[1])[0][-1] for text in sentences])  # (3, d_model)
figure(
    heatmap(known, sentences, FEATURES, title="what the blank receives", labels=("feature", "")),
    alt="What the blank receives in three sentences, by feature.",
    caption=f"To say works takes `third`, here {known[0, 5]:.2f}, and `verb`, {known[0, 0]:.2f}. To say will "
    f"work takes an `auxiliary`, {known[1, 6]:.2f}. To say trabajo takes `first`, {known[2, 3]:.2f}, and "
    f"some `spanish`, {known[2, 7]:.2f}.",
)

# %% [markdown] lang="en"
# Type sentences of your own from the nine words into `sentences`. One head could not have told these
# three apart so plainly: person, verb and tense would have come in as one mixture.
#
# ## Written question
#
# 1. Which two patterns of the blank could one head not hold at once? Say what its row would look
#    like, and what is lost.
# 2. With $H = 1$, when is your layer the same as the attention of lab 01 on $XW_Q, XW_K, XW_V$?
#
# 3 points · 10 minutes

# %% [markdown] manual="one_head_or_many" points=3
# **Model answer.** 1. "All on `he`" (who?) and "all on `work`" (which verb?). A row sums to 1, so one
# head must share: perhaps a half for `he`, a quarter for each `work`. One weighted sum arrives, neither
# part of it whole, and nothing says which part came from where. Two heads have two rows and two sums,
# side by side until $W_O$.
#
# 2. The weights always are. The output is $\text{attention}(XW_Q, XW_K, XW_V)\,W_O$: the same only with
# $W_O = I$. (For another $W_O$ it is single-head attention with the value matrix $W_V W_O$.)
#
# **Rubric.** 1 point: two patterns that each want most of the row. 1 point: a row sums to 1, or: one
# weighted sum mixes them. 1 point: only with $W_O = I$.

# %% [markdown] lang="en"
# ## What you built
#
# A layer that looks for several things at once: `split_heads` and `merge_heads` move numbers without
# changing them, `multi_head_attention` lets every head attend by itself and mixes with $W_O$,
# `MultiHeadAttention` keeps the matrices, $4\,d_{model}^2$ parameters for any number of heads.
# Later parts of the course import that class as you wrote it.
#
# And you can refute a claim about a layer: `is_permutation_equivariant` showed that yours cannot
# know the order of its tokens. Still open: every token sees every other, the future too. What must a
# token not see? That is lab 03.
