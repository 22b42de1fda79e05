# ---
# jupyter:
#   lab:
#     title: Masking
#     points: 30
#     minutes: 75-90
# ---

# %% [markdown] lang="en"
# # Lab 03 · Masking
#
# **What must a token not see?**
#
# Until now every token saw every other. But a model that learns to predict the next word must not
# see that word, and in a batch nobody should look at the filling behind the short sentences. A
# **mask** says who may see whom. You build masks, put them into attention, and write a test that
# tells whether anything leaks past them.
#
# 75–90 minutes, 30 points. Run every cell from top to bottom with Shift+Enter. In the first minute
# every check fails, because nothing is written yet; from then on each check says what is right and,
# where it can, which mistake was made.

# %% given
import time

import matplotlib.pyplot as plt
import numpy as np

from attnlab import check
from attnlab.example import BLANK, FEATURES, TOKENS, X
from attnlab.layers import LAYERS
from attnlab.plots import curves, figure, head_maps, heatmap, reading

# %% [markdown] lang="en"
# ## The letters
#
# As in the other labs:
#
# | letter | axis |
# |---|---|
# | `B` | batch: sentences handled at once |
# | `T` | queries: the tokens that look |
# | `S` | keys: the tokens looked at (here often the same ones, so S = T) |
# | `H` | heads |
# | `d_model`, `d_k`, `d_v` | features of a token, of a query and key, of a value |
#
# A shape that begins with `...` may have any number of axes in front, or none. And one promise, for
# every mask in this course:
#
# **True means: may attend.** Some libraries mean the opposite. Read their manual before you trust a
# mask of theirs.

# %% [markdown] lang="en"
# ## Carried over
#
# Right versions of what you built in labs 01 and 02. They take any number of leading axes.

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


# %% given
def split_heads(x, n_heads):
    """Cut the features of each token into heads: (..., T, d_model) to (..., H, T, d_head)."""
    parts = x.reshape(*x.shape[:-1], n_heads, x.shape[-1] // n_heads)
    return np.swapaxes(parts, -3, -2)


def merge_heads(x):
    """Put the heads of each token side by side: (..., H, T, d_head) to (..., T, d_model)."""
    parts = np.swapaxes(x, -3, -2)
    return parts.reshape(*parts.shape[:-2], -1)


# %% [markdown] lang="en"
# ## The idea: predict what comes next
#
# A language model is trained on one question, asked at every place of a text: given the tokens up to
# here, which one comes next? The answer stands one place further on. A token that could look at it
# would copy it and learn nothing; and when the model writes for itself, there is no next token to
# look at yet. So place $t$ mixes the past and itself only:
#
# $$ y_t = \sum_{j \le t} \alpha_{t,j}\, v_j . $$
#
# The gain: with the future hidden, one pass over a text of $T$ tokens asks $T$ questions at once, each
# with its own past. All places are trained in parallel.

# %% [markdown] lang="en"
# ## Exercise 1 · No looking ahead: `causal_mask`
#
# Write the condition $j \le t$ down as a table of True and False, one row a query, one column a key:
#
# $$ \text{mask}_{t,j} = (j \le t), \qquad \text{shape } (T,\,T) . $$
#
# **By hand.** Three tokens. The first may see only itself, the second also the first, the third all:
#
# | | key 0 | key 1 | key 2 |
# |---|---|---|---|
# | **query 0** | True | False | False |
# | **query 1** | True | True | False |
# | **query 2** | True | True | True |
#
# The diagonal is True: a token may see itself.

# %% [markdown] lang="en"
# **Your turn** · 3 points · 5 minutes
#
# <details><summary>Hint</summary>
#
# The True entries form a triangle: the lower one, diagonal included. NumPy has functions for both
# triangles of a matrix (`np.tril`, `np.triu`; the letter says lower or upper), or compare
# `np.arange(T)` as a row with itself as a column.
# </details>

# %% solution="causal_mask"
def causal_mask(T):
    """Allow each token itself and all tokens before it.

    Parameters
    ----------
    T : how many tokens there are

    Returns
    -------
    mask : (T, T) array of booleans, one row a query; True means may attend
    """
    ### BEGIN SOLUTION
    return np.tril(np.ones((T, T), dtype=bool))  # (T, T)
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** For four tokens: how many entries are True? And for $T$ tokens? Say it before you run.

# %%
print(causal_mask(4))
[int(np.sum(causal_mask(T))) for T in (4, 5, 6)]

# %% check="causal_mask" points=3
"""True on and below the diagonal, for any number of tokens, and really True and False."""
from attnlab import check

check("causal_mask", causal_mask)

# %% [markdown] lang="en"
# There are $1 + 2 + \dots + T = T(T+1)/2$ of them.
#
# **Question for the picture: which tokens of the worked example may `he` see, and who may see `he`?**
# Read the row of `he` for the first, its column for the second.

# %%
past = causal_mask(len(TOKENS))
sees, seen_by = (" ".join(np.array(TOKENS)[ok == 1]) for ok in (past[6], past[:, 6]))
figure(
    heatmap(past, TOKENS, title="1 = may attend", fmt="g"),
    alt=f"Your mask of eight tokens: {np.sum(np.tril(past) == 1)} ones on and below the diagonal, "
    f"{np.sum(np.triu(past, 1) == 1)} above it.",
    caption=f"Row of `he`, whom it may see: `{sees}`. Column of `he`, who may see it: `{seen_by}`.",
)

# %% [markdown] lang="en"
# ## Exercise 2 · Sentences of different lengths: `padding_mask`
#
# An array has no ragged edge. To put sentences of different lengths into one batch, the short ones
# are filled up to a common length $S$ with tokens that mean nothing, the **padding**. No query may
# look at it: it is the *keys* from the sentence's length on that are forbidden,
#
# $$ \text{mask}_{b,0,j} = (j < \text{length}_b), \qquad (B) \to (B,\,1,\,S) . $$
#
# The 1 in the middle is the axis of the queries. All queries of a sentence are told the same, so one
# row serves them all: NumPy stretches an axis of length 1.

# %% [markdown] lang="en"
# **By hand.** Two sentences with 3 and 1 tokens, $S = 4$:
#
# | | key 0 | key 1 | key 2 | key 3 |
# |---|---|---|---|---|
# | **sentence 0** | True | True | True | False |
# | **sentence 1** | True | False | False | False |
#
# Why not simply `(B, S)`? Beside scores of shape `(B, T, S)` NumPy lines shapes up from the end:
#
# ```
# scores      B  T  S          scores      B  T  S
# mask           B  S          mask        B  1  S
# ```
#
# On the left the sentences stand where the queries belong. For B ≠ T that is an error. For B = T it
# goes through, and query t of *every* sentence gets the mask of sentence t.

# %% [markdown] lang="en"
# **Your turn** · 4 points · 10 minutes
#
# <details><summary>Hint</summary>
#
# Compare every place, `np.arange(S)`, with every length. For that, give `lengths` two more axes:
# `lengths[:, None]` adds one. Which of `<` and `<=` lets exactly `length` places through?
# </details>

# %% solution="padding_mask"
def padding_mask(lengths, S):
    """Allow the real tokens of each sentence as keys, and forbid the padding behind them.

    Parameters
    ----------
    lengths : (B,) array of whole numbers, from 0 to S
    S : how many places each sentence has, padding included

    Returns
    -------
    mask : (B, 1, S) array of booleans; True means may attend
    """
    ### BEGIN SOLUTION
    lengths = np.asarray(lengths)
    return np.arange(S) < lengths[:, None, None]  # (B, 1, S)
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** *I work , you work*, *he ___* and the worked example in one batch: 5, 2 and 8 tokens,
# $S = 8$. Which row has no 0? What will the shape be? How many places are padding?

# %%
mask = padding_mask(np.array([5, 2, 8]), 8)
print(mask.shape, np.sum(mask == 0))
mask * 1

# %% check="padding_mask" points=4
"""One row of keys a sentence, True up to its length, with an axis of length 1 for the queries."""
from attnlab import check

check("padding_mask", padding_mask)

# %% [markdown] lang="en"
# ## Exercise 3 · A mask that can be added: `additive_mask`
#
# How does a mask get into the softmax? A share is $e^{\text{score}}$ over a sum, so a forbidden key
# needs a score whose power of $e$ is 0. There is one: $e^{-\infty} = 0$, and in floats `np.exp(-np.inf)`
# is exactly 0. So add to each score
#
# $$ \text{bias} = \begin{cases} 0 & \text{where the mask is True,} \\
#    -\infty & \text{where it is False,} \end{cases}
#    \qquad \text{scores} + \text{bias}, \quad (...,T,S) + (...,T,S) . $$
#
# An allowed score is left as it is, a forbidden one is gone, however large it was. This is the
# **additive** form of a mask.

# %% [markdown] lang="en"
# **By hand.** A mask of one query and three keys, and scores of e-powers $1, 2, 3$:
#
# | | key 0 | key 1 | key 2 |
# |---|---|---|---|
# | mask | True | False | True |
# | bias | $0$ | $-\infty$ | $0$ |
# | score | $0$ | $\ln 2$ | $\ln 3$ |
# | score + bias | $0$ | $-\infty$ | $\ln 3$ |
# | $e$ to the power | $1$ | $0$ | $3$ |
# | share | $\tfrac14$ | $0$ | $\tfrac34$ |
#
# One trap: in floats $0 \cdot (-\infty)$ is not 0 but `nan`, no number. Do not multiply your way to
# the bias.

# %% [markdown] lang="en"
# **Your turn** · 3 points · 5 minutes
#
# <details><summary>Hint</summary>
#
# Choose between two values, entry by entry: `np.where(condition, value_if_true, value_if_false)`.
# </details>

# %% solution="additive_mask"
def additive_mask(mask):
    """Turn a mask into what is added to the scores.

    Parameters
    ----------
    mask : array of booleans of any shape; True means may attend

    Returns
    -------
    bias : array of floats of the same shape, 0 where allowed and −inf elsewhere
    """
    ### BEGIN SOLUTION
    return np.where(mask, 0.0, -np.inf)
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** The table above as code. What will the middle share be: small, or exactly 0?

# %%
scores = np.log([1.0, 2.0, 3.0])  # (S,)
softmax(scores + additive_mask(np.array([True, False, True])))

# %% check="additive_mask" points=3
"""0 where allowed, minus infinity elsewhere, nowhere nan."""
from attnlab import check

check("additive_mask", additive_mask)

# %% [markdown] lang="en"
# **Question for the picture: must it be infinity?** Many programs add a finite number, such as −1e9.
# Two keys, one of them forbidden by adding a finite fill: which share does it keep, when the scores were
# equal, and when the forbidden one was 20 higher?

# %%
sizes = np.arange(0.0, 61.0, 5.0)
equal = np.array([softmax(np.array([0.0, 0.0 - size]))[1] for size in sizes])
higher = np.array([softmax(np.array([0.0, 20.0 - size]))[1] for size in sizes])
figure(
    curves(
        sizes,
        {"scores equal": equal, "forbidden score 20 higher": higher},
        xlabel="size of the negative fill",
        ylabel="share the forbidden key keeps",
        log="y",
    ),
    alt="Two falling lines: the share of the forbidden key is never 0, and the higher score falls later.",
    caption=f"A fill of −10 leaves {equal[2]:.1e} when scores are equal and {higher[2]:.3f} when the "
    "forbidden one is 20 higher. −1e9 is enough until a score comes near 1e9; −inf always is.",
)

# %% [markdown] lang="en"
# ## Break and predict
#
# Three other ways to mask that people really write. Take $e^{\text{score}}$ from this $E$ (each row
# sums to 8) and a causal mask of three tokens:
#
# $$ E = \begin{bmatrix} 2&1&5\\3&1&4\\1&3&4 \end{bmatrix} $$
#
# 1. Softmax first, then set the forbidden **weights** to 0. What does row 0 sum to?
# 2. Multiply the **scores** by 0 where forbidden. How much of row 0 goes to the future?
#    (What is $e^0$?)
# 3. Forbid **all** keys of the last row: by writing −inf over the scores; by writing −1e9 over them; by
#    adding −1e9 to them. Which three rows come out?
#
# Work it out on paper and write your answers into the next cell before you run on.

# %%
guesses = {
    "1. row 0 sums to": "?",
    "2. share of row 0 on the future": "?",
    "3. nothing allowed, −inf written": "?",
    "   nothing allowed, −1e9 written": "?",
    "   nothing allowed, −1e9 added": "?",
}

# %%
scores, past = np.log([[2.0, 1, 5], [3, 1, 4], [1, 3, 4]]), causal_mask(3)
with np.errstate(invalid="ignore"):  # −inf − (−inf) is nan, and NumPy would warn
    found = [
        (softmax(scores) * past)[0].sum(),
        softmax(scores * past)[0, 1:].sum(),
        softmax(np.full(3, -np.inf)),
        softmax(np.full(3, -1e9)),
        softmax(scores[2] - 1e9),
    ]
for (what, guess), value in zip(guesses.items(), found):
    print(f"{what:33} you: {guess:12} found: {np.round(value, 3)}")

# %% [markdown] lang="en"
# * Masked **after** the softmax, rows no longer sum to 1: the future took its share first. Dividing by
#   the new sums repairs that, but only while an allowed key has kept a share: beside a forbidden score
#   1000 higher none has, and 0/0 is nan.
# * A score of 0 is an ordinary score, since $e^0 = 1$. Scores are masked by **adding**. Factors 0 and 1
#   belong behind the $e$: the **multiplicative** form.
# * A row with **nothing allowed**: −inf gives nan; −1e9 written over the scores shares evenly what is
#   forbidden; −1e9 added gives the softmax without a mask, a silent leak. In this course such a row gets
#   **zeros**.

# %% [markdown] lang="en"
# ## Exercise 4 · Shares among the allowed: `masked_softmax`
#
# Only allowed keys take part, above and below the line:
#
# $$ \alpha_{t,j} = \frac{m_{t,j}\; e^{s_{t,j}}}{\sum_i m_{t,i}\; e^{s_{t,i}}}, \qquad
#    \underbrace{\text{scores}}_{(...,T,S)},\ \underbrace{\text{mask}}_{(...,T,S)} \to (...,T,S) . $$
#
# Here $m$ is 1 where allowed and 0 where not. Forbidden keys get exactly 0, each row sums to 1, and a
# row with nothing allowed is all zeros. As in lab 01, take the largest score of a row off first, so
# that no power overflows: the largest **allowed** one, or a huge forbidden score would push all others
# down to 0. In a row with nothing allowed there is none; see to it that no nan comes of that.

# %% [markdown] lang="en"
# **By hand.** Two queries and three keys, $e^{\text{score}}$ on the left:
#
# $$ \begin{bmatrix} 1&2&3\\4&1&3 \end{bmatrix}, \quad
#    \text{mask} = \begin{bmatrix} 1&0&1\\0&1&1 \end{bmatrix}
#    \;\to\; \begin{bmatrix} 1&0&3\\0&1&3 \end{bmatrix}
#    \;\to\; \begin{bmatrix} \tfrac14&0&\tfrac34\\[2pt] 0&\tfrac14&\tfrac34 \end{bmatrix} . $$
#
# In row 0 key 2 counts three times as much as key 0, with or without the mask. A mask changes who takes
# part, not how those who do compare with each other.

# %% [markdown] lang="en"
# **Your turn** · 6 points · 15 minutes
#
# The mask may be smaller than the scores: `(T, S)` or `(B, 1, S)` beside `(B, T, S)`. The caller's
# arrays stay as they were.
#
# <details><summary>Hint</summary>
#
# Write −inf over forbidden scores with `np.where`, which makes a new array and stretches the mask by
# itself. The largest of a row of −inf is −inf: put 0 in its place before you take it off. And a sum of
# 0 may be replaced by 1, since 0 / 1 is what you want.
# </details>

# %% solution="masked_softmax"
def masked_softmax(scores, mask):
    """Turn each row of scores into shares of the allowed keys.

    Parameters
    ----------
    scores : (..., T, S) array of scores of any size; it is left as it was
    mask : array of booleans that fits the scores by stretching; True means may attend

    Returns
    -------
    weights : (..., T, S) array; forbidden keys get 0, rows sum to 1, and a row with nothing
        allowed is all zeros
    """
    ### BEGIN SOLUTION
    kept = np.where(mask, scores, -np.inf)  # (..., T, S)
    largest = np.max(kept, axis=-1, keepdims=True)  # (..., T, 1), −inf where nothing is allowed
    e = np.exp(kept - np.where(np.isneginf(largest), 0.0, largest))  # (..., T, S)
    total = np.sum(e, axis=-1, keepdims=True)  # (..., T, 1)
    return e / np.where(total == 0, 1.0, total)  # (..., T, S)
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** The $E$ of *Break and predict* once more, with a causal mask whose last row is now all
# False. What does row 0 come out as? Row 1? Row 2?

# %%
past = causal_mask(3)
past[2] = False
masked_softmax(np.log([[2.0, 1, 5], [3, 1, 4], [1, 3, 4]]), past)

# %% check="masked_softmax" points=6
"""Forbidden keys get 0 and rows sum to 1; nothing allowed gives zeros; large scores hold."""
from attnlab import check

check("masked_softmax", masked_softmax)

# %% [markdown] lang="en"
# Matrices set by hand, to see a mask at work: the blank asks for a third person and for a verb, every
# pronoun asks for a verb, every verb for a pronoun, and commas ask for nothing.
#
# **Question for the picture: `I` asks for a verb. What does it get when it may not look ahead, and
# what do the others do with the shares that the mask frees?**

# %%
asks = {"blank": [5.2, 4.0, 0.0], "pronoun": [0.0, 4.0, 0.0], "verb": [0.0, 0.0, 4.0]}
offers = {"third": 0, "verb": 1, "pronoun": 2}
w_q, w_k = np.zeros((7, 3)), np.zeros((7, 3))  # (d_model, d_k)
for feature, row in asks.items():
    w_q[FEATURES.index(feature)] = row
for feature, column in offers.items():
    w_k[FEATURES.index(feature), column] = 1.0
scores = (X @ w_q) @ (X @ w_k).T / np.sqrt(3)  # (T, S)

# %%
pair = softmax(scores), masked_softmax(scores, causal_mask(8))
_, axes = plt.subplots(1, 2, figsize=(12.5, 4.6), layout="constrained")
for ax, weights, title in zip(axes, pair, ("without a mask", "causal")):
    heatmap(weights, TOKENS, ax=ax, title=title)
ahead, last = np.max(np.triu(pair[1], 1)), np.max(np.abs(pair[1] - pair[0])[-1])
figure(
    axes,
    alt=f"Two heat maps. Above the diagonal the causal one is at most {ahead:.2g}.",
    caption=f"Without a mask: {reading(pair[0], 0, TOKENS)} Causal: {reading(pair[1], 0, TOKENS)} Largest "
    f"weight above the diagonal: {ahead:.2g}. The second `work` gives `I` and `you` {pair[0][4, 0]:.2f} and "
    f"{pair[0][4, 3]:.2f} without a mask, {pair[1][4, 0]:.2f} and {pair[1][4, 3]:.2f} with it. Largest "
    f"change in the last row: {last:.2g}.",
)

# %% [markdown] lang="en"
# ## Exercise 5 · The formula with a mask: `masked_attention`
#
# $$ \text{weights} = \text{masked\_softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}},\ \text{mask}\right),
#    \qquad \text{out} = \text{weights} \cdot V $$
#
# $$ (...,T,d_k),\ (...,S,d_k),\ (...,S,d_v),\ \text{mask} \to (...,T,d_v),\ (...,T,S) . $$
#
# **By hand.** The weights $\tfrac14, 0, \tfrac34$ of exercise 4 and the values $8, 6, 4$:
# $\tfrac14\cdot 8 + 0\cdot 6 + \tfrac34 \cdot 4 = 5$. Had we set the forbidden *value* to 0 instead and
# kept the unmasked weights $\tfrac16, \tfrac13, \tfrac12$, the sum would be $\tfrac{10}{3}$: a third of
# the attention is spent on nothing.

# %% [markdown] lang="en"
# **Your turn** · 5 points · 10 minutes
#
# Without a mask (`mask=None`) everything is allowed. A mask of shape `(T, S)` serves a whole batch,
# `(B, 1, S)` tells each sentence its own: hand it on as it is, and NumPy stretches it.
#
# <details><summary>Hint</summary>
#
# Three lines of lab 01's `attention` and a decision: which softmax? Do not write `if mask:` for an
# array; ask `mask is None`.
# </details>

# %% solution="masked_attention"
def masked_attention(q, k, v, mask=None):
    """Mix the values for each query, weighted by how well their keys match, where allowed.

    Parameters
    ----------
    q : (..., T, d_k) array
    k : (..., S, d_k) array
    v : (..., S, d_v) array
    mask : array of booleans that fits (..., T, S) by stretching; True means may attend, and
        None allows everything

    Returns
    -------
    out : (..., T, d_v) array
    weights : (..., T, S) array

    Source: Vaswani et al. 2017, section 3.2.3.
    """
    ### BEGIN SOLUTION
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(np.shape(q)[-1])  # (..., T, S)
    weights = softmax(scores) if mask is None else masked_softmax(scores, mask)  # (..., T, S)
    return weights @ v, weights  # (..., T, d_v), (..., T, S)
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** Let each token hand over its place, 0 to 7, and let all scores be equal. With a causal
# mask token $t$ gets the mean of $0, \dots, t$. Which numbers do you expect?

# %%
same = np.zeros((8, 2))  # equal queries and keys
places = np.arange(8.0)[:, None]  # (S, 1)
out, _ = masked_attention(same, same, places, causal_mask(8))
out[:, 0]

# %% check="masked_attention" points=5
"""Forbidden keys get no weight and no say in the output, for one sentence and for a batch."""
from attnlab import check

check("masked_attention", masked_attention)

# %% [markdown] lang="en"
# ### Lab 02's layer learns to mask
#
# Here is the layer of lab 02 again, and its `forward` now calls **your** function. Heads are one more
# leading axis, so a mask `(T, S)` serves all of them; a mask with a batch axis is given an axis for the
# heads.

# %% given
class MultiHeadAttention:
    """H heads of attention; a mask is handed on to all of them."""

    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        drawn = rng.normal(size=(4, d_model, d_model)) / np.sqrt(d_model)
        self.w_q, self.w_k, self.w_v, self.w_o = drawn
        self.n_parameters = drawn.size

    def forward(self, x, mask=None):
        """Return out (..., T, d_model) and weights (..., H, T, T)."""
        q, k, v = (split_heads(x @ w, self.n_heads) for w in (self.w_q, self.w_k, self.w_v))
        if np.ndim(mask) > 2:
            mask = mask[..., None, :, :]  # (B, 1, T or 1, S)
        out, weights = masked_attention(q, k, v, mask)
        return merge_heads(out) @ self.w_o, weights


# %% [markdown] lang="en"
# **Question for the picture: do two heads of one layer obey the same mask, and do they look at the same
# tokens?** This layer is untrained, so what it looks at is random.

# %%
x = np.random.default_rng(1).normal(size=(8, 6))  # (T, d_model), eight made-up tokens
layer = MultiHeadAttention(d_model=6, n_heads=2)
_, weights = layer.forward(x, causal_mask(8))  # (H, T, T)
figure(
    head_maps(weights, list("abcdefgh"), titles=["head 0: random", "head 1: random"]),
    alt="Two random heat maps of one layer under one mask.",
    caption=f"Largest weight above the diagonal, in either head: {np.max(np.triu(weights, 1)):.2g}. "
    f"Largest difference between the heads: {np.max(np.abs(weights[0] - weights[1])):.2f}. A mask says "
    "who may be seen, the matrices say who is looked at.",
)

# %% [markdown] lang="en"
# ### A causal mask ends the symmetry
#
# In lab 02 you tested that shuffled tokens only shuffle the output: attention without a mask cannot
# know the order. Turn the sentence round, `x[::-1]`. Is the output just turned round too, without a mask?
# With a causal one? Predict both.

# %%
for name, mask in (("no mask", None), ("causal", causal_mask(8))):
    out, _ = layer.forward(x, mask)
    turned, _ = layer.forward(x[::-1], mask)
    print(f"{name:8} largest difference: {np.abs(turned - out[::-1]).max():.2g}")

# %% [markdown] lang="en"
# Under a causal mask the layer is **not** permutation-equivariant: turned round, each token has another
# past. In one layer the mask tells a token who came before it, though not in which order they came.
#
# ## Exercise 6 · Does anything leak? `influence`
#
# Zeros in the weights are a promise. Put it to the test with an experiment: change token $s$ and see
# which outputs move,
#
# $$ \text{influence}_{t,s} = \big(\text{out}_t \text{ changes when } x_s \text{ does}\big), \qquad
#    (T, d_{model}) \to (T,\,T) . $$
#
# Do it for **every** $s$: a test that only changes the last token passes layers that leak elsewhere.

# %% [markdown] lang="en"
# **By hand.** A layer in which each token takes the mean of itself and the one before. Change
# token 1: outputs 1 and 2 move, so column 1 is True in rows 1 and 2. Column by column:
#
# | | change 0 | change 1 | change 2 | change 3 |
# |---|---|---|---|---|
# | **out 0** | True | False | False | False |
# | **out 1** | True | True | False | False |
# | **out 2** | False | True | True | False |
# | **out 3** | False | False | True | True |

# %% [markdown] lang="en"
# **Your turn** · 4 points · 15 minutes
#
# `layer.forward(x)` returns two things, out `(T, d_model)` and weights. Any layer may be handed in, not
# only attention.
#
# <details><summary>Hint</summary>
#
# Call `forward` once for the outputs before. Then for each s: copy x as floats, change the whole of row
# s by something plain such as adding 1 (a token may be all zeros), call `forward` again, and ask for
# each t whether any feature of row t has moved. Which of t and s is the row of the answer?
# </details>

# %% solution="influence"
def influence(layer, x):
    """Say for every pair whether a change of token s changes any feature of output t.

    Parameters
    ----------
    layer : its `forward(x)` returns out (T, d_model) and weights
    x : (T, d_model) array of tokens; it is left as it was

    Returns
    -------
    influence : (T, T) array of booleans, one row an output t, one column a changed token s
    """
    ### BEGIN SOLUTION
    before, _ = layer.forward(x)  # (T, d_model)
    moved = np.zeros((len(x), len(x)), dtype=bool)
    for s in range(len(x)):
        changed = np.array(x, dtype=float)
        changed[s] += 1.0
        after, _ = layer.forward(changed)
        moved[:, s] = np.any(np.abs(after - before) > 1e-9, axis=-1)
    return moved
    ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** A layer in which every token copies the first one. Which column will be True?

# %%
x = np.random.default_rng(2).normal(size=(4, 3))  # (T, d_model)
influence(LAYERS["first"], x).astype(int)

# %% check="influence" points=4
"""Every token is changed, every output is looked at, and nothing is taken for granted."""
from attnlab import check

check("influence", influence)

# %% [markdown] lang="en"
# **Question for the picture: two layers have zeros above the diagonal of their weights. Do both hide
# the future?** One of them strikes the future out after its rows have been divided by their sums, as
# in question 1 of *Break and predict*.

# %%
x = np.random.default_rng(3).normal(size=(5, 3))  # (T, d_model)
tried = {name: influence(LAYERS[name], x) for name in ("causal", "leaking")}
said = []
_, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, (name, moved) in zip(axes, tried.items()):
    title, labels = f"{name}: 1 = has influence", ("changed token", "output")
    heatmap(moved, list("abcde"), ax=ax, title=title, fmt="g", labels=labels)
    weight = np.max(np.triu(LAYERS[name].forward(x)[1], 1))
    future = np.sum(np.triu(moved, 1))
    said.append(f"`{name}`, above the diagonal: largest weight {weight:g}, {future:g} influences.")
figure(
    axes,
    alt=f"Influence in two layers. {' '.join(said)}",
    caption=" ".join(said),
)

# %% [markdown] lang="en"
# The second layer's weights look causal, and yet every future token counts: it sits in the sum that the
# past was divided by. Looking at weights would not have told you. Trained like that, a model does well
# in training and badly when it must write by itself.
#
# ## Exercise 7 · The whole layer: `Attention`
#
# One head with everything: projections, a causal mask if wanted, an extra mask if given, and $W_O$. A
# key is seen when **both** masks allow it:
#
# $$ \text{out} = \text{masked\_attention}(XW_Q,\ XW_K,\ XW_V,\ \text{causal} \wedge \text{mask})\, W_O $$
#
# $$ (...,T,d_{model}) \to (...,T,d_v) \to (...,T,d_{model}) . $$

# %% [markdown] lang="en"
# **By hand.** Four places, three of them real, causal. Row by row, `causal` and `real` (1110):
#
# | query | causal | and padding |
# |---|---|---|
# | 0 | 1000 | 1000 |
# | 1 | 1100 | 1100 |
# | 2 | 1110 | 1110 |
# | 3 (padding) | 1111 | 1110 |
#
# The shapes `(T, T)` and `(B, 1, S)` stretch to `(B, T, S)` by themselves.

# %% [markdown] lang="en"
# **Your turn** · 2 points · 10 minutes
#
# <details><summary>Hint</summary>
#
# Make one generator, `np.random.default_rng(seed)`, and draw four matrices from it, each divided by
# the root of its number of rows, as in lab 02. In `forward`, four things may happen: no mask,
# either, or both. Two masks of booleans are joined with `&`. Read `self.w_q` and the others each
# time `forward` is called: someone may have put other matrices in.
# </details>

# %% solution="Attention"
class Attention:
    """One head of attention with projections and masks.

    Parameters
    ----------
    d_model : features of a token
    d_k, d_v : features of a query and key, of a value; d_model when left out
    causal : whether tokens are kept from looking ahead
    seed : the same seed gives the same matrices

    Attributes
    ----------
    w_q, w_k : (d_model, d_k) arrays, normal, with spread 1/√d_model
    w_v, w_o : (d_model, d_v) and (d_v, d_model) arrays, with spread 1/√d_model and 1/√d_v

    All four may be replaced at any time.
    """

    def __init__(self, d_model, d_k=None, d_v=None, causal=False, seed=0):
        ### BEGIN SOLUTION
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        rng = np.random.default_rng(seed)
        self.w_q = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_k = rng.normal(size=(d_model, d_k)) / np.sqrt(d_model)
        self.w_v = rng.normal(size=(d_model, d_v)) / np.sqrt(d_model)
        self.w_o = rng.normal(size=(d_v, d_model)) / np.sqrt(d_v)
        self.causal = causal
        ### END SOLUTION

    def forward(self, x, mask=None):
        """Return out (..., T, d_model) and weights (..., T, T), where both masks allow."""
        ### BEGIN SOLUTION
        if self.causal:
            past = causal_mask(np.shape(x)[-2])  # (T, T)
            mask = past if mask is None else past & mask  # (..., T, T)
        out, weights = masked_attention(x @ self.w_q, x @ self.w_k, x @ self.w_v, mask)
        return out @ self.w_o, weights
        ### END SOLUTION


# %% [markdown] lang="en"
# **Try it.** A causal layer in a batch of one sentence with three real tokens of four. Where will the
# zeros be? Look back at the table above.

# %%
x = np.random.default_rng(4).normal(size=(1, 4, 6))  # (B, T, d_model)
layer = Attention(d_model=6, d_k=3, d_v=5, causal=True)
out, weights = layer.forward(x, padding_mask(np.array([3]), 4))
print(out.shape)
weights.round(2)

# %% check="Attention" points=2
"""Four matrices of the right shapes and spread from one seed; both masks count, also together."""
from attnlab import check

check("Attention", Attention)

# %% [markdown] lang="en"
# ## The whole, on the worked example
#
# The matrices set by hand above, in your causal layer. Each token hands over its own features: `w_v`
# and `w_o` are identities.
#
# **Question for the picture: whom does each token look at, now that it sees only the past? And what
# would you read into the map on the right,** which comes from random matrices? (Its tokens are
# stretched, so that the random scores are large enough to differ.)

# %%
by_hand = Attention(d_model=7, d_k=3, d_v=7, causal=True)
by_hand.w_q, by_hand.w_k, by_hand.w_v, by_hand.w_o = w_q, w_k, np.eye(7), np.eye(7)
received, weights = by_hand.forward(X)  # (T, d_model), (T, T)
_, untrained = Attention(d_model=7, d_k=3, d_v=7, causal=True, seed=5).forward(np.sqrt(7) * X)
_, axes = plt.subplots(1, 2, figsize=(12.5, 4.6), layout="constrained")
heatmap(weights, TOKENS, ax=axes[0], title="set by hand, causal")
heatmap(untrained, TOKENS, ax=axes[1], title="untrained, causal: random")
said = reading(weights, BLANK, TOKENS), reading(weights, 4, TOKENS), reading(untrained, BLANK, TOKENS)
figure(
    axes,
    alt=f"Two heat maps of causal layers. By hand: {said[0]} The other is random.",
    caption=f"By hand: {said[0]} The second `work`, row 4, stands before `he`: {said[1]} "
    f"Random: {said[2]} That is chance.",
)

# %% [markdown] lang="en"
# The triangle is all that both maps share: it comes from the mask and needs no training. All the rest
# comes from the matrices.
#
# ## What it costs
#
# The weights are a table of $T \times T$ numbers. Double the text: what happens to the memory of that
# table, and to the time? Write two factors down, then run. Each time is the best of five; your machine
# has other things to do as well, so do not expect a smooth line.

# %%
rng = np.random.default_rng(0)
lengths = 2 ** np.arange(6, 12)  # T = 64 to 2048
mega, millis = [], []
for T in lengths:
    q, k, v = rng.normal(size=(3, T, 16))
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        _, weights = masked_attention(q, k, v)
        seconds.append(time.perf_counter() - start)
    millis.append(1e3 * min(seconds))
    mega.append(weights.nbytes / 1e6)

# %% [markdown] lang="en"
# A power $T^p$ is a straight line on two logarithmic axes, and $p$ is its slope.
#
# **Question for the picture: which two slopes do you read off?**

# %%
slopes = [np.polyfit(np.log2(lengths), np.log2(y), 1)[0] for y in (mega, millis)]
_, axes = plt.subplots(1, 2, figsize=(10.5, 3.8), layout="constrained")
for ax, y, name in zip(axes, (mega, millis), ("weights, in megabytes", "time, in milliseconds")):
    square = y[-1] * (lengths / lengths[-1]) ** 2  # slope 2 through the last point
    lines = {"measured": y, "slope 2": square}
    curves(lengths, lines, xlabel="T, in tokens", ylabel=name, ax=ax, log="xy")
figure(
    axes,
    alt=f"Memory and time against T on logarithmic axes, slopes {slopes[0]:.2f} and {slopes[1]:.2f}.",
    caption=f"Memory: slope {slopes[0]:.2f}, so twice the text takes {2 ** slopes[0]:.1f} times the "
    f"memory. Time: slope {slopes[1]:.2f}, {2 ** slopes[1]:.1f} times, here and today.",
)

# %% [markdown] lang="en"
# Memory grows as $O(T^2)$, time as $O(T^2 d)$: every pair is a dot product of $d$ features. The time line
# bends: starting a call costs the same for any $T$, and a large table no longer fits into the fast
# memory near the processor. We keep the square **on purpose**: first the plain way. Others have names:
#
# | name | idea |
# |---|---|
# | flash attention | the same result, block by block, the table never whole |
# | sliding window | each token sees only its neighbours |
# | sparse attention | only some pairs are worked out |
# | linear attention | another formula instead of softmax, without the table |
#
# **Cross-attention** is the same equation with queries from one sequence, keys and values from another.

# %% [markdown] lang="en"
# ## What the square buys
#
# A recurrent network (RNN) reads from left to right and keeps one state: $h_t = f(h_{t-1}, x_t)$. What
# token $j$ said reaches place $t$ through $t - j$ applications of $f$, and in training the gradient
# takes the same way back: a product of as many factors.
#
# | for a text of $T$ tokens | RNN | attention |
# |---|---|---|
# | steps that must wait for each other | $T$ | $1$ |
# | steps between two places | up to $T$ | $1$ |
# | work | $T\, d^2$ | $T^2 d$ |
#
# **Question for the picture: what is left of a signal if each step keeps a fixed part of it?**

# %%
steps = np.arange(0, 101, 10)
kept_parts = {f"each step keeps {part:g}": part**steps for part in (0.9, 0.99)}
figure(
    curves(
        steps,
        {"attention: one step": np.ones(len(steps)), **kept_parts},
        xlabel="distance between the two places, in tokens",
        ylabel="part of the signal that is left",
        log="y",
    ),
    alt="A flat line at 1 for attention and two falling lines for an RNN.",
    caption=f"100 tokens back, a step that keeps 0.9 leaves {0.9**100:.1e} of a signal, one that keeps "
    f"0.99 leaves {0.99**100:.2f}. Attention reaches every place in one step; how much of it gets "
    "through is up to the weight.",
)

# %% [markdown] lang="en"
# ## Written question
#
# **Why exactly did attention replace recurrence?** Two reasons belong in the answer: one about how an
# error finds its way back to the token that caused it, one about time. Say for each what a recurrent
# network does, what attention does instead, and what training gains by it. What role does the causal
# mask play, and what is the price? · 3 points · 10 minutes

# %% [markdown] manual="why_attention" points=3
# **Model answer.** *One direct path for the gradient.* In an RNN it passes from $t$ to $j$ through
# $t - j$ factors and vanishes or explodes, so distant tokens are hard to learn from. In attention
# $y_t = \sum_j \alpha_{t,j} v_j$ joins any two places in one step.
#
# *No serial axis.* $h_t$ must wait for $h_{t-1}$; attention works out all places at once in a few matrix
# products. The causal mask makes each place an honest prediction from its past, so one pass trains $T$
# predictions in parallel. The price is $O(T^2)$ pairs.
#
# **Rubric.** 1 point: one step between two places, so the gradient survives. 1 point: no place waits for
# another, so training is parallel. 0.5 points: the mask allows that without looking ahead. 0.5 points:
# the price $T^2$.

# %% [markdown] lang="en"
# ## What you built
#
# `causal_mask` and `padding_mask` say who may see whom; `additive_mask` and `masked_softmax` carry it
# into the shares; `masked_attention` and `Attention` are the formula and the layer that respect it; and
# `influence` tests it, for any layer. With labs 00 to 02 that is attention, whole, with no step hidden.
# It still knows of places only *before me or not*, and nothing here was trained. Both come in later
# parts of the course.
#
# First all of it at once: two sentences in one batch, padded to eight places, causal.
#
# **Question for the picture: which zeros come from the causal mask, and which from the padding?**

# %%
words = [*TOKENS], ["I", "work", ",", "he", "___", "·", "·", "·"]
rows = {**dict(zip(TOKENS, X)), "·": np.zeros(7)}
batch = np.array([[rows[word] for word in sentence] for sentence in words])  # (B, T, d_model)
real = padding_mask(np.array([8, 5]), 8)  # (B, 1, S)
_, weights = by_hand.forward(batch, real)  # (B, T, T)
_, axes = plt.subplots(1, 2, figsize=(12.5, 4.6), layout="constrained")
for ax, sentence, each in zip(axes, words, weights):
    heatmap(each, sentence, ax=ax, title=" ".join(sentence))
held = np.array_equal(influence(Attention(d_model=7, causal=True), X), causal_mask(8))
ahead, padded = np.max(np.triu(weights, 1)), np.max(weights[1][:, 5:])
said = f"Left: {reading(weights[0], 7, words[0])} Right: {reading(weights[1], 4, words[1])}"
figure(
    axes,
    alt=f"Two heat maps of a causal layer. {said}",
    caption=f"{said} Largest weight above the diagonals, where the causal mask forbids: {ahead:.2g}; in "
    f"the last three columns on the right, where the padding mask does: {padded:.2g}. "
    f"`influence` of your causal layer equals `causal_mask`: {held}.",
)

# %% [markdown] lang="en"
# ### Take it with you
#
# Later parts of the course do not start from nothing: they import what **you** wrote. One command reads
# your four labs and puts your functions and classes into one file, `attention.py`:
#
# ```
# attnlab export
# ```
#
# Save the labs, open a terminal (*File › New › Terminal*), go to the folder that holds them, and run it.
# If an answer that others build on is missing or unfinished, it says which and in which cell, and writes
# nothing; an experiment not written is left out.
#
# Your `MultiHeadAttention` of lab 02 knew no masks. In `attention.py` it has the `forward` you saw in
# this lab, so that it obeys them. Then run the last cell. Which two numbers do you expect?

# %%
from attnlab import own

try:
    mine = own.load("attention.py")
except FileNotFoundError as not_yet:
    print(not_yet)
else:
    model = mine.MultiHeadAttention(d_model=64, n_heads=4, seed=0)
    tokens_64 = np.random.default_rng(5).normal(size=(8, 64))  # (T, d_model), made up
    _, weights = model.forward(tokens_64, mask=mine.causal_mask(8))  # (H, T, T)
    print("parameters in a layer of width 64:", model.n_parameters)
    print("largest weight on the future:", np.max(np.triu(weights, 1)))
