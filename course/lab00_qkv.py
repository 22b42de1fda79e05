# ---
# jupyter:
#   lab:
#     title: Query, key, value
#     points: 20
#     minutes: 45-60
# ---

# %% [markdown] lang="en"
# # Lab 00 · Query, key, value
#
# **What does each token ask for, offer, and hand over?**
#
# Read this sentence and fill the blank: *I work, you work, he ___*. You looked back at *he*, to
# know the person, and at *work*, to know the verb. The commas did not help you. Attention is that
# looking back, written as arithmetic.
#
# In this lab you build its parts in NumPy: 45–60 minutes, 20 points. Run every cell from top to
# bottom with Shift+Enter. In the first minute every check fails, because nothing is written yet;
# from then on each check says what is right and, where it can, which mistake was made.

# %% given
import numpy as np

from attnlab import check
from attnlab.example import BLANK, FEATURES, IDS, TABLE, TOKENS, X, shares
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
# ### Any number of sentences
#
# A function that counts its axes **from the end** works for one sentence and for a batch alike. To
# turn the last two axes round and leave those in front alone, write `x.swapaxes(-1, -2)`:
#
# ```
# x                    (2, 3, 4)      x.swapaxes(-1, -2)   (2, 4, 3)
# sentence 0   a b c d                sentence 0   a e i
#              e f g h                             b f j
#              i j k l                             c g k
#                                                  d h l
# sentence 1   m n o p                sentence 1   m q u
#              q r s t                             n r v
#              u v w x                             o s w
#                                                  p t x
# ```
#
# `x.T` turns *all* axes round. What shape will it give? Guess, then run.

# %%
x = np.zeros((2, 3, 4))
x.swapaxes(-1, -2).shape, x.T.shape

# %% [markdown] lang="en"
# With `.T` the sentences came last: no sentence is whole any more. Where attention code works for
# one sentence and fails for a batch, this is often the reason. In exercises 1 to 5 a batch is a
# case of its own, so a formula that is right for one sentence still earns most of its points.

# %% [markdown] lang="en"
# ## The idea: routing
#
# Older networks read from left to right and squeeze all they have read into one state of fixed
# size. Attention drops the squeezing: to make the output at place $t$, look at every token and
# decide how much each one counts,
#
# $$ y_t = \sum_j \alpha_{t,j}\, v_j . $$
#
# Here $v_j$ is what token $j$ hands over, and $\alpha_{t,j}$ is the share of place $t$'s attention
# that it gets. The shares of one place are positive and sum to 1. They are computed from what the
# tokens *are*, by a few small matrices that can be learned. Information is routed by content.

# %% [markdown] lang="en"
# ## The worked example
#
# Eight tokens with features a person can read: pronoun, verb, comma or blank, and the person.
# Real models learn hundreds of unnamed features; these seven are set by hand so that you can check
# every number.
#
# **Question for the picture: which tokens cannot be told apart?**

# %%
figure(
    heatmap(X, TOKENS, FEATURES, title="features", fmt="g", labels=("feature", "token")),
    alt="A grid of eight tokens and seven features. Both rows of `work` are the same, and so are both commas.",
)

# %% [markdown] lang="en"
# ## Exercise 1 · From words to rows: `embed`
#
# A model sees no letters. Each word of its vocabulary has a number, its **id**, and a table has one
# row of features for each id. To embed a sentence is to look its rows up:
#
# $$ x_t = \text{table}[\text{id}_t], \qquad
#    \underbrace{x}_{(...,\,T,\,d_{model})} = \text{table}[\underbrace{\text{ids}}_{(...,\,T)}] . $$
#
# **By hand.** With `ids = [2, 0, 2]` and the table's rows `r0, r1, r2`, the result is
# `[r2, r0, r2]`. Places 0 and 2 hold equal rows: equal tokens are equal, wherever they stand.

# %% [markdown] lang="en"
# **Your turn** · 2 points · 5 minutes
#
# <details><summary>Hint</summary>
#
# NumPy can index with a whole array of numbers at once, of any shape. What does `table[3]` give?
# And `table[[3, 0]]`?
# </details>

# %% solution="embed"
def embed(ids, table):
    """Look up the features of each token.

    Parameters
    ----------
    ids : (..., T) array of whole numbers, from 0 to n_tokens - 1
    table : (n_tokens, d_model) array

    Returns
    -------
    x : (..., T, d_model) array
    """
    ### BEGIN SOLUTION
    return table[np.asarray(ids)]  # (..., T, d_model)
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** The worked example has ids `[0, 1, 2, 3, 1, 2, 4, 5]`. Before you run: which two pairs
# of places will come out equal?

# %%
x = embed(IDS, TABLE)
print(IDS, x.shape)
[(i, j) for i in range(8) for j in range(i) if np.array_equal(x[i], x[j])]

# %% check="embed" points=2
"""Each token gets its row, equal tokens get equal rows, and a batch keeps its shape."""
from attnlab import check

check("embed", embed)

# %% [markdown] lang="en"
# ## Exercise 2 · Three roles: `project`
#
# Each token plays three parts. It **asks** (query), it **offers** something to be found by (key),
# and it **hands over** a content (value). Think of a search: what you type, the entries of the
# index, the documents behind them. Three matrices turn a token's features into the three:
#
# $$ Q = X W_Q, \qquad K = X W_K, \qquad V = X W_V $$
#
# $$ (...,T,d_{model}) \cdot (d_{model},d_k) \to (...,T,d_k), \qquad
#    (...,T,d_{model}) \cdot (d_{model},d_v) \to (...,T,d_v) . $$
#
# These matrices are what a model learns. Here you only apply them.

# %% [markdown] lang="en"
# **By hand.** One token $x = [1, 0, 2]$ and a $W_Q$ with rows $[1, 2]$, $[0, 1]$, $[1, 0]$. Each
# feature brings its row along:
#
# $$ q = 1\,[1, 2] + 0\,[0, 1] + 2\,[1, 0] = [3, 2] . $$
#
# Read $W_Q$ row by row: row 0 says what a token with feature 0 asks for. You will use that in
# exercise 6.

# %% [markdown] lang="en"
# **Your turn** · 4 points · 5 minutes
#
# <details><summary>Hint</summary>
#
# Tokens are rows, so the matrix stands on the right. Three products, in the order q, k, v.
# </details>

# %% solution="project"
def project(x, w_q, w_k, w_v):
    """Turn each token into its query, its key and its value.

    Parameters
    ----------
    x : (..., T, d_model) array
    w_q, w_k : (d_model, d_k) arrays
    w_v : (d_model, d_v) array

    Returns
    -------
    q, k : (..., T, d_k) arrays
    v : (..., T, d_v) array

    Source: Vaswani et al. 2017, section 3.2.1.
    """
    ### BEGIN SOLUTION
    q = x @ w_q  # (..., T, d_k)
    k = x @ w_k  # (..., T, d_k)
    v = x @ w_v  # (..., T, d_v)
    return q, k, v
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** Eight tokens with 7 features, d_k = 2 and d_v = 3. Which three shapes will you see?

# %%
rng = np.random.default_rng(0)
q, k, v = project(X, rng.normal(size=(7, 2)), rng.normal(size=(7, 2)), rng.normal(size=(7, 3)))
q.shape, k.shape, v.shape

# %% check="project" points=4
"""Each matrix is used for its own role, on the right side, for one sentence and for a batch."""
from attnlab import check

check("project", project)

# %% [markdown] lang="en"
# ## Exercise 3 · A dictionary: `lookup`
#
# A Python dictionary finds a value by its key, and the key must match exactly. Let us ask for the
# **best** match instead. How well a query matches a key is their dot product: large when both are
# large in the same features. The hard lookup hands over the value of the winner,
#
# $$ y_t = v_{j^*}, \qquad j^* = \arg\max_j\; q_t \cdot k_j . $$
#
# With shapes: $(...,T,d_k),\ (...,S,d_k),\ (...,S,d_v) \to (...,T,d_v)$.

# %% [markdown] lang="en"
# **By hand.** One query $q = [1, 2]$ and three keys:
#
# | key | $q \cdot k$ | value |
# |---|---|---|
# | $[3, 0]$ | $1\cdot3 + 2\cdot0 = 3$ | 10 |
# | $[1, 4]$ | $1\cdot1 + 2\cdot4 = 9$ | 20 |
# | $[-2, -1]$ | $-2 - 2 = -4$ | 30 |
#
# The second key wins, so the query gets 20, all of it, and nothing of the others.

# %% [markdown] lang="en"
# **Your turn** · 2 points · 10 minutes
#
# <details><summary>Hint</summary>
#
# All dot products at once are a matrix product with the keys turned round, `(..., T, S)`. Then
# `argmax` along the keys. To pick rows in a batch, look at `np.take_along_axis`, or make a row of
# zeros with a single 1 for each query and multiply.
# </details>

# %% solution="lookup"
def lookup(q, k, v):
    """Give each query the value of its best-matching key.

    Parameters
    ----------
    q : (..., T, d_k) array
    k : (..., S, d_k) array
    v : (..., S, d_v) array

    Returns
    -------
    values : (..., T, d_v) array
    """
    ### BEGIN SOLUTION
    matches = q @ np.swapaxes(k, -1, -2)  # (..., T, S)
    best = np.argmax(matches, axis=-1)  # (..., T)
    return np.take_along_axis(np.asarray(v), best[..., None], axis=-2)  # (..., T, d_v)
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** Ask with a single query for "a pronoun, third person", among the eight tokens, and let
# each token hand over its place in the sentence. Which number do you expect?

# %%
query = TABLE[[4]]  # (1, d_model): the features of `he`
places = np.arange(8.0)[:, None]  # (S, 1)
lookup(query, X, places)

# %% check="lookup" points=2
"""Each query gets the value behind its largest dot product."""
from attnlab import check

check("lookup", lookup)

# %% [markdown] lang="en"
# ### Why hard is not enough
#
# Nudge the query a little: the winner stays the winner, and the result does not move at all. Nudge
# it a little more: the result jumps. Neither tells a model in which direction to improve, because
# the slope is 0 almost everywhere. And a verb form needs *two* things, the person and the verb,
# while a hard lookup returns one.
#
# So let every value count, by how well its key matches. That is a **soft**, differentiable lookup:
# slopes flow back through the shares to the keys, so that they come to match the right queries, and
# to the values, so that they carry the right content.

# %% [markdown] lang="en"
# ## Exercise 4 · Who matches whom: `scores`
#
# The first half of the soft lookup is a dot product for each pair of a query and a key:
#
# $$ \text{scores} = Q K^\top, \qquad
#    (...,T,d_k) \cdot (...,d_k,S) \to (...,T,S) . $$
#
# Row $t$ belongs to query $t$; column $j$ to key $j$. Entry $(t, j)$ says how well what $t$ asks
# fits what $j$ offers.
#
# **By hand.** Queries $[1, 2]$ and $[0, 3]$, keys $[1, 1]$, $[2, 0]$, $[0, 4]$:
#
# $$ \begin{bmatrix} 1+2 & 2+0 & 0+8 \\ 0+3 & 0+0 & 0+12 \end{bmatrix}
#  = \begin{bmatrix} 3 & 2 & 8 \\ 3 & 0 & 12 \end{bmatrix} . $$

# %% [markdown] lang="en"
# **Your turn** · 4 points · 5 minutes
#
# <details><summary>Hint</summary>
#
# Which axes must change places so that `d_k` meets `d_k`? There may be a batch in front.
# </details>

# %% solution="scores"
def scores(q, k):
    """Match every query with every key.

    Parameters
    ----------
    q : (..., T, d_k) array
    k : (..., S, d_k) array

    Returns
    -------
    scores : (..., T, S) array of dot products, one row a query
    """
    ### BEGIN SOLUTION
    return q @ np.swapaxes(k, -1, -2)  # (..., T, S)
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** Let the tokens be matched as they are, without any projection: q = k = X. Which token
# matches `I` best? Does `I` match `you` better than `work`?

# %%
scores(X, X)[0]

# %% check="scores" points=4
"""One row a query, one column a key, each entry a plain dot product."""
from attnlab import check

check("scores", scores)

# %% [markdown] lang="en"
# **Question for the picture: without projections, what does the blank find?**

# %%
own = scores(X, X)
best = [TOKENS[row.argmax()] for row in own]
found = f"The best match of `___` is `{best[BLANK]}`, with a score of {own[BLANK].max():g}."
kin = sum(match == token for match, token in zip(best, TOKENS))
figure(
    heatmap(own, TOKENS, title="scores of the tokens as they are", limits=(0, 2), fmt="g"),
    alt=f"Scores of eight tokens with each other. {found}",
    caption=f"{found} {kin} of 8 tokens match their own kind best, and that is not what a blank needs.",
)

# %% [markdown] lang="en"
# The map above mirrors along its diagonal: $q_t \cdot k_j = q_j \cdot k_t$ when queries and keys
# are the same. Keep that in mind for the written question.
#
# ## Exercise 5 · The mixture: `blend`
#
# The second half: turn each row of scores into shares that sum to 1 (in lab 01 you will build that
# step, `softmax`), then add the values up by their shares,
#
# $$ y_t = \sum_j \alpha_{t,j}\, v_j, \qquad
#    \underbrace{\text{weights}}_{(...,T,S)} \cdot \underbrace{V}_{(...,S,d_v)} \to (...,T,d_v) . $$
#
# **By hand.** Shares $[\tfrac12, \tfrac14, \tfrac14]$ of the values $8, 0, 4$:
# $\tfrac12\cdot 8 + \tfrac14\cdot 0 + \tfrac14\cdot 4 = 5$.

# %% [markdown] lang="en"
# **Your turn** · 4 points · 5 minutes
#
# <details><summary>Hint</summary>
#
# A weighted sum for every query and every feature of v at once: which product of two matrices is
# that?
# </details>

# %% solution="blend"
def blend(weights, v):
    """Mix the values of all keys, each by its weight.

    Parameters
    ----------
    weights : (..., T, S) array, each row positive with sum 1
    v : (..., S, d_v) array

    Returns
    -------
    values : (..., T, d_v) array
    """
    ### BEGIN SOLUTION
    return weights @ v  # (..., T, d_v)
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** Here is a matrix of weights set by hand for *The cat sat*. Row `sat` gives 0.2 to `The`
# and 0.4 to each of the others. If each token hands over its place (0, 1, 2), what does `sat` get?

# %%
cat = np.array([[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.2, 0.4, 0.4]])  # (T, S)
blend(cat, np.array([[0.0], [1.0], [2.0]]))

# %% check="blend" points=4
"""Every value counts by its weight, for one sentence and for a batch."""
from attnlab import check

check("blend", blend)

# %% [markdown] lang="en"
# **Question for the picture: whom does each word of *The cat sat* look at?** A row is a query: read
# along it. Each row sums to 1.

# %%
figure(
    heatmap(cat, ["The", "cat", "sat"], title="weights set by hand"),
    alt=f"Weights for The cat sat. {reading(cat, 1, ['The', 'cat', 'sat'])}",
    caption=" ".join(reading(cat, t, ["The", "cat", "sat"]) for t in range(3)),
)

# %% [markdown] lang="en"
# ## The pattern we would like
#
# Back to *he ___*. The verb form depends on the subject, `he`, and on the verb, `work`; either of
# the two will do as a template. That nothing like *will* stands there says it is the present. So a
# good row for the blank puts most of its attention on `he` and on `work`, and little on the commas
# and on `I` and `you`.
#
# **Question for the picture: how does that pattern differ from an untrained layer's?** Left: rows set
# by hand. Right: matrices drawn at random. Untrained weights are random, and so is what they show.
# `shares(w_q, w_k)` is given: it scores the eight tokens and turns each row into shares.

# %%
pattern = np.full((8, 8), 0.08) + 0.36 * np.eye(8)
pattern[BLANK] = [0.03, 0.2, 0.03, 0.03, 0.2, 0.03, 0.45, 0.03]
drawn = np.random.default_rng(7)
untrained = shares(drawn.normal(size=(7, 4)), drawn.normal(size=(7, 4)))

# %%
import matplotlib.pyplot as plt

_, axes = plt.subplots(1, 2, figsize=(12.5, 4.6), layout="constrained")
heatmap(pattern, TOKENS, ax=axes[0], title="set by hand")
heatmap(untrained, TOKENS, ax=axes[1], title="untrained: random")
figure(
    axes,
    alt=f"Two heat maps. By hand: {reading(pattern, BLANK, TOKENS)} The untrained map is random.",
    caption=f"By hand: {reading(pattern, BLANK, TOKENS)} At random: {reading(untrained, BLANK, TOKENS)}",
)

# %% [markdown] lang="en"
# ## Exercise 6 · Turn it round: `steer`
#
# A model would learn $W_Q$ and $W_K$. Be the model: choose both so that in the blank's row `he` gets
# at least 0.35, the two `work` together at least 0.35, and each comma and each other pronoun less
# than 0.15. The shares are proportional to $e^{\text{score}}$, so a score of 3 weighs
# $e^3 \approx 20$ times as much as a score of 0.
#
# **By hand.** Suppose only `he` scores $a$ and the other seven score 0. Its share is
# $e^a / (e^a + 7)$: for $a = 2$ that is $7.39 / 14.39 \approx 0.51$.

# %% [markdown] lang="en"
# **Your turn** · 2 points · 10 minutes
#
# Rows of both matrices belong to the features: pronoun, verb, comma, blank, first, second, third.
#
# <details><summary>Hint</summary>
#
# Start from zeros with two columns, one for each thing the blank looks for. Which row of `w_q` is the
# blank's? Which rows of `w_k` should answer? Then play with the sizes.
# </details>

# %% solution="steer"
def steer():
    """Choose matrices that make the blank attend to `he` and to both `work`.

    Returns
    -------
    w_q, w_k : (7, d_k) arrays, for any d_k
    """
    ### BEGIN SOLUTION
    w_q = np.zeros((7, 2))
    w_k = np.zeros((7, 2))
    w_q[FEATURES.index("blank")] = [3.0, 2.3]  # asks: third person, verb
    w_k[FEATURES.index("third"), 0] = 1.0
    w_k[FEATURES.index("verb"), 1] = 1.0
    return w_q, w_k
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** Before you run: which of the two `work` will get more?

# %%
w_q, w_k = steer()
dict(zip(enumerate(TOKENS), shares(w_q, w_k)[BLANK].round(3).tolist()))

# %% check="steer" points=2
"""The blank's row: `he` and both `work` high, commas and other pronouns low."""
from attnlab import check

check("steer", steer)

# %% [markdown] lang="en"
# Both `work` got the same. They have the same embedding, so **no** choice of matrices can prefer the
# nearer one: `I work, you work, he ___` and any reordering of it are the same set of tokens here.
# Telling places apart is what position is for, and position is not in this part of the course.
#
# **Question for the picture: whom does the blank look at now, and what do the other rows do?**

# %%
weights = shares(w_q, w_k)
figure(
    heatmap(weights, TOKENS, title="your matrices"),
    alt=f"Heat map made with your matrices. {reading(weights, BLANK, TOKENS)}",
    caption=f"{reading(weights, BLANK, TOKENS)} A token whose row of w_q is zero asks for nothing "
    "and spreads its attention evenly.",
)

# %% [markdown] lang="en"
# ## Between the hard choice and the mean
#
# Divide all scores by a **temperature** before they become shares. What happens to the blank's row
# when it is close to 0? When it is very large? Write your guess down, then run.

# %%
temperatures = 2.0 ** np.arange(-3, 8)
rows = np.array([shares(w_q, w_k, t)[BLANK] for t in temperatures])  # (n, S)
figure(
    curves(
        temperatures,
        {"he": rows[:, 6], "each work": rows[:, 1], "each comma": rows[:, 2]},
        xlabel="temperature",
        ylabel="share of the blank's attention",
        log="x",
    ),
    alt="Shares of the blank's attention that he, work and comma get, against temperature.",
    caption=f"A low temperature is close to the hard lookup, a high one to the mean: `he` gets "
    f"{rows[0, 6]:.2f} at {temperatures[0]:g} and {rows[-1, 6]:.2f} at {temperatures[-1]:g}.",
)

# %% [markdown] lang="en"
# ## The whole, once
#
# `embed`, `project`, `scores`, shares, `blend`: from ids to what each token receives. Each token
# hands over its own features here (`w_v` is the identity).
#
# **Question for the picture: what does the blank know in the end?**

# %%
x = embed(IDS, TABLE)  # (T, d_model)
q, k, v = project(x, w_q, w_k, np.eye(7))  # (T, d_k), (T, d_k), (T, d_v)
received = blend(shares(w_q, w_k), v)  # (T, d_v)
most = ", ".join(FEATURES[f] for f in np.argsort(-received[BLANK])[:3])
figure(
    heatmap(received, TOKENS, FEATURES, title="what each token receives", labels=("feature", "token")),
    alt=f"Features each token receives. The blank receives most of: {most}.",
    caption=f"The blank receives {received[BLANK, 6]:.2f} of `third` and {received[BLANK, 1]:.2f} of "
    "`verb`. What belongs there is the third person of a verb.",
)

# %% [markdown] lang="en"
# ## Written question
#
# **Why three matrices and not one?** What do equal $W_Q$ and $W_K$ force on the scores? Give an
# example of two tokens for which that would be wrong. · 2 points · 5 minutes

# %% [markdown] manual="why_three_matrices" points=2
# **Model answer.** A token asks for one thing, is found by another, and hands over a third: `he`
# asks for a verb, is found as a third person, and hands over its features. With $W_Q = W_K$ the
# scores $X W W^\top X^\top$ are symmetric: $t$ attends to $j$ exactly as strongly (before the
# shares are taken) as $j$ to $t$. But the blank should look at `he` without `he` looking at the
# blank.
#
# **Rubric.** 1 point: equal matrices make the scores symmetric. 0.5 points: an example of a pair
# where attention should go one way. 0.5 points: what is handed over (v) need not be what one is
# found by (k).

# %% [markdown] lang="en"
# ## What you built
#
# A differentiable dictionary: `embed` gives each token its features, `project` its three roles,
# `scores` who matches whom, `blend` what each one receives. `lookup` is its hard limit. `steer`
# showed that the pattern sits in $W_Q$ and $W_K$.
#
# Two things are open. How do scores become shares, for any size of score? And does anything go
# wrong when d_k grows? That is lab 01. Nothing here was trained: training comes in a later part,
# and so does position.
