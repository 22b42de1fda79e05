# ---
# jupyter:
#   reading:
#     title: Masking
#     minutes: 10-15
# ---

# %% [markdown] lang="en"
# # Theory 04 · Masking
#
# **What must a token not see, and how is it kept from seeing it?**
#
# So far every token looks at every other. Two things it must not look at: the **future**, when the
# model learns to predict it, and the **padding** behind short sentences. This text derives how a mask
# gets into the softmax, which ways of writing it leak, and what the whole table of pairs costs. Read it
# before lab 03, in 10–15 minutes.
#
# Letters: `B` sentences, `T` queries, `S` keys, `d_k` features. In masks, as everywhere in this course,
# **True (or 1) means: may attend.**

# %% [markdown] lang="en"
# Carried over from lab 01.

# %%
import time

import numpy as np
from IPython.display import Markdown

from attnlab.example import FEATURES, TOKENS, shares
from attnlab.plots import curves, figure, head_maps, heatmap, reading


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(q, k, v):
    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))  # (..., T, S)
    return weights @ v, weights


# %% [markdown] lang="en"
# ## Why the future is hidden
#
# A language model learns to say the next token (it is *autoregressive*). One text of $T$ tokens asks $T$
# questions:
#
# | place | may see | must say |
# |---|---|---|
# | 0 | `I` | `work` |
# | 1 | `I work` | `,` |
# | 2 | `I work ,` | `you` |
# | 3 | `I work , you` | `work` |
#
# In training the whole text lies there, and the answer stands one place on: a token that saw it would
# copy it and learn nothing. When the model writes, that place does not exist yet. So place $t$ mixes only
# what is there in both cases, itself and its past, $y_t = \sum_{j \le t} \alpha_{t,j}\, v_j$.
#
# One masked pass then asks all $T$ questions at once. Does each place really get what it would get if the
# text had ended there?

# %%
rng = np.random.default_rng(0)
x = rng.normal(size=(4, 4))  # (T, d_model), made-up tokens
w_q, w_k, w_v = rng.normal(size=(3, 4, 4)) / 2
past = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0], [1, 1, 1, 1]])  # (T, T)

e = np.exp((x @ w_q) @ (x @ w_k).T / 2) * past  # 2 = √d_k; the future struck out
at_once = e / e.sum(axis=-1, keepdims=True) @ (x @ w_v)  # (T, d_v), one pass
cut_off = [attention(*(x[:n] @ w for w in (w_q, w_k, w_v)))[0][-1] for n in (1, 2, 3, 4)]
print(f"largest difference: {np.abs(at_once - cut_off).max():.1g}")

# %% [markdown] lang="en"
# ### What the mask does to shares
#
# With only the past in numerator and denominator,
#
# $$ \alpha^{\text{causal}}_{t,j} = \frac{e^{s_{t,j}}}{\sum_{i \le t} e^{s_{t,i}}}
#    = \frac{\alpha_{t,j}}{\sum_{i \le t} \alpha_{t,i}} \qquad (j \le t). $$
#
# What the future held goes to the allowed keys, in proportion. **By hand:** every token asks for verbs,
# eight times as loudly as for anything else. Unmasked, each `work` gets $\tfrac{8}{22}$ in every row. Under
# the mask `I` sees itself alone, $1$; the first `work` gives itself $\tfrac89$; `you` gives the `work`
# before it $\tfrac{8}{11}$.
#
# **Question for the picture: who loses most by the mask, and who loses nothing?**

# %%
asks, offers = np.zeros((2, 7, 1))
asks[:4] = 1  # pronoun, verb, comma, blank: everyone asks
offers[FEATURES.index("verb")] = np.log(8)
full = shares(asks, offers)  # (T, T)
causal = np.zeros((8, 8))
for t in range(8):
    causal[t, : t + 1] = full[t, : t + 1] / full[t, : t + 1].sum()
freed = [full[t, t + 1 :].sum() for t in range(8)]
figure(
    head_maps(np.array([full, causal]), TOKENS, titles=["without a mask", "causal"]),
    alt=f"Two maps set by hand. Causal: {reading(causal, 0, TOKENS)} {reading(causal, 3, TOKENS)}",
    caption=f"`{TOKENS[np.argmax(freed)]}` had most of its attention in the future, {max(freed):.2f}, "
    f"`{TOKENS[np.argmin(freed)]}` least, {min(freed):.2f}. Causal: {reading(causal, 0, TOKENS)} "
    f"{reading(causal, 3, TOKENS)}",
)

# %% [markdown] lang="en"
# ## Why padding is forbidden as a key
#
# An array has no ragged edge, so short sentences are filled up. A padded place plays two parts. As a
# **query** it makes an output that nobody reads: harmless. As a **key** it takes shares
# of every real token's attention, even if it is all zeros, since $e^0 = 1$. So keys are masked, queries
# need not be.
#
# Every query of a sentence is told the same, so one row of the mask does for the sentence: an axis of
# length 1 stretches over the queries. (Shapes line up from the right, so a mask $(B, S)$ would put $B$
# against $T$.)
#
# ```
# scores   B  T  S
# mask     B  1  S
# ```

# %%
alone = attention(x[:3] @ w_q, x[:3] @ w_k, x[:3] @ w_v)[0]  # a sentence of three tokens
filled = np.vstack([x[:3], np.zeros((2, 4))])  # (5, d_model), two places of padding
real = np.array([1, 1, 1, 0, 0])
e = np.exp((filled @ w_q) @ (filled @ w_k).T / 2)[:3]  # (3, 5), the rows of the real tokens

# %%
# masked queries are whole rows: those of the real tokens, all we look at, keep every key
tried = {"no mask": np.ones(5), "queries masked": real[:3, None], "keys masked": real}
for name, seen in tried.items():
    part = e * seen
    out = part / part.sum(axis=-1, keepdims=True) @ (filled @ w_v)  # (3, d_v)
    print(f"{name:14} off by {np.abs(out - alone).max():.1g}")
print("scores (2, 5, 5) and mask (2, 1, 5) give", np.broadcast_shapes((2, 5, 5), (2, 1, 5)))

# %% [markdown] lang="en"
# ## Add before, or multiply after
#
# Add a bias $b$ to a score before the exponential, and the power is multiplied behind it:
#
# $$ e^{s + b} = e^s \cdot e^b = e^s \cdot m, \qquad m = e^b,\quad b = \ln m . $$
#
# So $m = 1$ is $b = 0$, and $m = 0$ is $b = -\infty$, since $e^{-\infty} = 0$. The **additive** form (0 and
# $-\infty$) and the **multiplicative** form (1 and 0) are one mask, as long as $m$ stands in the
# denominator too:
#
# $$ \frac{e^{s_j + b_j}}{\sum_i e^{s_i + b_i}} = \frac{m_j\, e^{s_j}}{\sum_i m_i\, e^{s_i}} . $$
#
# **By hand.** Powers $2, 3, 5$, the middle key forbidden: $\tfrac27, 0, \tfrac57$. (Nothing forces all or
# nothing: $m = \tfrac12$, that is $b = -\ln 2$, lets a key count half.)

# %% [markdown] lang="en"
# Three near misses, with the same numbers:
#
# * Mask the **weights**: $\tfrac{2}{10}, 0, \tfrac{5}{10}$, sum $\tfrac{7}{10}$. The forbidden key is gone
#   above the line, not below it.
# * Multiply the **scores** by 0: $e^0 = 1$, so $\tfrac28, \tfrac18, \tfrac58$. A score of 0 is an ordinary
#   score.
# * **Add** 1 and 0 to the scores: every allowed power is $e$ times as large, and nothing is forbidden.
#
# **Question for the picture: which of the five give the forbidden key nothing and sum to 1?**

# %%
s, m, b = np.log([2.0, 3.0, 5.0]), np.array([1.0, 0.0, 1.0]), np.array([0.0, -np.inf, 0.0])
ways = {
    "scores + bias": softmax(s + b),
    "powers × mask": np.exp(s) * m / np.sum(np.exp(s) * m),
    "weights × mask": softmax(s) * m,
    "scores × mask": softmax(s * m),
    "scores + mask": softmax(s + m),
}
rows = np.array(list(ways.values()))  # (5, S)
good = [name for name, row in ways.items() if row[1] == 0 and np.isclose(row.sum(), 1)]
labels = [f"{name}, sum {row.sum():.1f}" for name, row in ways.items()]
figure(
    heatmap(rows, labels, ["key 0", "key 1", "key 2"], labels=("key 1 is forbidden", "")),
    alt=f"Five ways to mask, shares of three keys. Right: {' and '.join(good)}.",
    caption=f"Right: `{'` and `'.join(good)}`. `weights × mask` loses {1 - rows[2].sum():.2f} of its row; "
    f"`scores × mask` and `scores + mask` leave the forbidden key {rows[3, 1]:.2f} and {rows[4, 1]:.2f}.",
)

# %% [markdown] lang="en"
# ## How large is minus infinity?
#
# One trap first: $0 \cdot (-\infty)$ is `nan`, not a number. So do not compute $(1 - m) \cdot (-\infty)$;
# *choose* 0 or $-\infty$. Many programs take a large finite fill $-c$ instead, often $-10^9$. Let the
# forbidden score $s_f$ lie $g$ above the best allowed one, whose power is then $e^{s_f - g}$. The
# forbidden key keeps
#
# $$ \frac{e^{s_f - c}}{\sum_{\text{allowed}} e^{s_j} + e^{s_f - c}} \;\le\; \frac{e^{s_f - c}}{e^{s_f - g}}
#    = e^{\,g - c} . $$
#
# So $c$ must exceed $g$ by far.
#
# **Question for the table: from which fill on is the leak exactly 0?** Two keys, one forbidden by $-c$;
# scores equal ($g = 0$) or the forbidden one 20 higher; numbers of 16, 32, 64 bits.

# %%
types, gaps = (np.float16, np.float32, np.float64), (0, 20)
heads = ["c", *(f"{t.__name__}, g = {g}" for g in gaps for t in types)]
lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
for c in (10, 20, 50, 100, 200, 500, 1000):
    leaks = [softmax(np.array([0, g - c], t))[1] for g in gaps for t in types]
    lines.append(f"| {c} | {' | '.join(f'{leak:.0e}' if leak else '**0**' for leak in leaks)} |")
Markdown("\n".join(lines))

# %% [markdown] lang="en"
# It depends on the type. What the three can hold, from `np.finfo` (a power is rounded to 0 about where it
# falls below the smallest number there is):

# %%
heads = "type", "largest", "smallest", "e^−c is 0 from c ≈", "−1e9 becomes", "gap between numbers there"
lines = [f"| {' | '.join(heads)} |", "|---" * 6 + "|"]
for t in types:
    info = np.finfo(t)
    with np.errstate(over="ignore"):  # too large for float16
        fill = t(-1e9)
    gap = f"{abs(np.spacing(fill)):.3g}" if np.isfinite(fill) else "none"
    small, reach = info.smallest_subnormal, -np.log(np.float64(info.smallest_subnormal))
    cells = t.__name__, f"{info.max:.2g}", f"{small:.1g}", f"{reach:.0f}", f"{fill:.0g}", gap
    lines.append(f"| {' | '.join(cells)} |")
Markdown("\n".join(lines))

# %% [markdown] lang="en"
# ## A row with nothing allowed
#
# It happens: an empty sentence in a batch, or two masks with nothing in common. The formula says $0/0$,
# and what comes out is a matter of convention, or of accident.
#
# And `nan` spreads. The gradient of the values is $A^\top\, d\text{out}$, with the weights $A$ and the
# gradient of the output $d\text{out}$ (theory 02). A row of `nan` in $A$ meets a row of zeros in
# $d\text{out}$ (nobody asked that place for anything), and $0 \cdot \text{nan} = \text{nan}$:
# one empty row spoils the gradient of **every** value.

# %%
s = np.log([2.0, 3.0, 5.0])
with np.errstate(invalid="ignore"):  # −inf − (−inf) is nan
    empty = softmax(s - np.inf)
print("−inf added          ", empty)
print("−1e9 added, float64 ", softmax(s - 1e9).round(2))
print("−1e9 added, float32 ", softmax((s - 1e9).astype("float32")).round(2))
weights = np.array([[0.2, 0.3, 0.5], empty])  # (T, S)
print("gradient of values  ", weights.T @ np.array([1.0, 0.0]))  # only row 0 was asked for

# %% [markdown] lang="en"
# Three accidents: `nan`; the softmax **without** the mask, a silent leak, since the same number added
# everywhere cancels; an even share of what is forbidden, because near 1e9 the numbers of float32 lie too
# far apart to hold the scores. In this course such a row gives **zeros**, in weights and output: nothing
# allowed, nothing received.

# %% [markdown] lang="en"
# ## Several masks at once
#
# A key is seen if **every** mask allows it: *and*. Booleans are joined by *and*, biases added
# ($-\infty + 0 = -\infty$), factors multiplied ($0 \cdot 1 = 0$). A causal mask $(T, T)$ and a padding mask
# $(B, 1, S)$ stretch to $(B, T, S)$.
#
# Conventions differ. In PyTorch `scaled_dot_product_attention` reads True as *may attend*, and
# `nn.MultiheadAttention` as *may not*. Forbid one key and look at the weights: then you know.

# %% [markdown] lang="en"
# ## Order leaks in
#
# Theory 03 showed $f(PX) = P f(X)$ without a mask. A mask $M$ does not move with the tokens: after the
# shuffle token $p(t)$ stands at place $t$ and obeys row $t$. All see the same tokens as before only if
#
# $$ M_{t,\,j} = M_{p(t),\,p(j)} \qquad \text{for all } t, j . $$
#
# The rows of the causal mask hold $1, 2, \dots, T$ ones. Row $t$ and row $p(t)$ must hold equally many, so
# $p(t) = t$: no shuffle is left, and **equivariance is broken**.

# %% [markdown] lang="en"
# How much of the order does a token learn? Output $t$ is a sum over its past, and a sum does not know in
# which order it was added: swap two tokens of the past, and it stays. But *their* outputs change, so a
# second layer sees more.

# %%
def each_past(x):
    """Give every token attention over its own past, cut out by hand."""
    pasts = [x[:n] for n in (1, 2, 3, 4)]
    return np.array([attention(*(p @ w for w in (w_q, w_k, w_v)))[0][-1] for p in pasts])  # (T, d_v)


swapped = x[[1, 0, 2, 3]]
one = np.abs(each_past(swapped) - each_past(x))[3].max()
two = np.abs(each_past(each_past(swapped)) - each_past(each_past(x)))[3].max()
print(f"tokens 0 and 1 swapped: output 3 moves by {one:.1g} in one layer, by {two:.1g} after two")

# %% [markdown] lang="en"
# ## Does anything leak? Ask the outputs
#
# Weights of 0 above the diagonal are no proof. Mask after the softmax: $\alpha_{t,j}$ still has the future
# in its denominator, $\alpha_{t,j} = e^{s_{t,j}} / \sum_u e^{s_{t,u}}$. By the quotient rule, for a later
# token $i > t$,
#
# $$ \frac{\partial \alpha_{t,j}}{\partial s_{t,i}}
#    = -\,\frac{e^{s_{t,j}}\, e^{s_{t,i}}}{\big(\sum_u e^{s_{t,u}}\big)^2} = -\,\alpha_{t,j}\, \alpha_{t,i}
#    \ne 0 . $$
#
# The sure test is **influence**: change a token, see which outputs move, and do so for every token. Here
# for one: change the last token and watch output 0.

# %%
changed = x + np.array([[0], [0], [0], [1.0]])
inside, after = [], []
for tokens in (x, changed):
    e, v = np.exp((tokens @ w_q) @ (tokens @ w_k).T / 2), tokens @ w_v
    inside.append(e * past / (e * past).sum(axis=-1, keepdims=True) @ v)
    after.append(e / e.sum(axis=-1, keepdims=True) * past @ v)
for name, (y, moved) in {"in the softmax": inside, "after it": after}.items():
    print(f"masked {name:15} output 0 moves by {np.abs(moved - y)[0].max():.2g}")

# %% [markdown] lang="en"
# ## What the square costs
#
# Let $n = T = S$, and $d$ the features. Count multiplications:
#
# $$ \underbrace{n^2 d}_{QK^\top} + \underbrace{n^2 d}_{\text{weights}\cdot V} + \underbrace{4\, n\, d^2}_{W_Q, W_K, W_V, W_O}
#    \quad\Rightarrow\quad \text{time } O(n^2 d), $$
#
# for long texts: the square rules once $n > 2d$. The weights are $n^2$ numbers for each head: memory
# $O(n^2)$. That is why long texts are hard.
#
# **Question for the picture: does time grow with the square, here and today?** On these axes a square is a
# line of slope 2. Bytes are exact, and the cell insists on it; times vary with the machine and what else
# it does, and small tables, which fit into fast memory, may lie far below the line.

# %%
sizes = 2 ** np.arange(7, 12)  # n = 128 to 2048
best = np.full(len(sizes), np.inf)
for i, n in enumerate(sizes):
    q, k, v = rng.normal(size=(3, n, 64))
    for _ in range(4096 // n):  # the best of many tries, more for the short ones
        start = time.perf_counter()
        out, weights = attention(q, k, v)
        best[i] = min(best[i], 1e3 * (time.perf_counter() - start))
    assert weights.nbytes == 8 * n**2

# %%
square = best[-1] * (sizes / n) ** 2
factor = best[-1] / best[-2]
figure(
    curves(sizes, {"measured": best, "slope 2": square}, xlabel="n", ylabel="milliseconds", log="xy"),
    alt=f"Time against n on logarithmic axes beside a line of slope 2. Last step: {factor:.1f} times.",
    caption=f"From {sizes[-2]} to {n} tokens the time grew {factor:.1f} times here; the square alone says 4. "
    f"The weights of {n} tokens take {weights.nbytes / 1e6:.0f} MB, those of 100,000 would take "
    f"{8 * 1e5**2 / 1e9:.0f} GB.",
)

# %% [markdown] lang="en"
# ## Ways around it
#
# This course keeps the square on purpose: first the plain way. By name, for later:
#
# | name | idea | gives up |
# |---|---|---|
# | flash attention | the same sums block by block, the table never whole: memory $O(n)$ | nothing but the weights, which are never written down; still $n^2 d$ time |
# | linear attention | $\phi(q) \cdot \phi(k)$, $\phi$ a fixed function, in place of $e^{q \cdot k}$; sums over keys made once: $O(n\,d^2)$ | the softmax, and its sharpness |
# | sparse attention | only chosen pairs | all other pairs |
# | sliding window with global tokens | neighbours, and a few tokens that all see | direct paths to far tokens |
# | paged attention | keys and values of a growing text kept in small pages of memory | nothing of the result; it saves wasted memory, the square stays |
#
# *Cross-attention* is no way around: the same equation, queries from one sequence, keys and values from
# another.

# %% [markdown] lang="en"
# Why can blocks give the same result? Keep the largest score $\mu$ so far, with sums of $e^{s - \mu}$ and of
# $e^{s - \mu}\, v$. If a block brings a larger $\mu'$, multiply both by $e^{\mu - \mu'}$ and go on.

# %%
top, total, mixed = -np.inf, 0.0, np.zeros(64)  # for query 0 of the last run above
for i in range(0, n, 256):
    s = k[i : i + 256] @ q[0] / 8  # 8 = √64
    rise = max(top, s.max())
    keep, e = np.exp(top - rise), np.exp(s - rise)
    top, total, mixed = rise, total * keep + e.sum(), mixed * keep + e @ v[i : i + 256]
print(f"block by block against whole: {np.abs(mixed / total - out[0]).max():.1g}")

# %% [markdown] lang="en"
# ## Back to recurrence
#
# Why did attention replace recurrent networks? Two reasons, and both are needed. **A direct path:**
# $y_t = \sum_{j \le t} \alpha_{t,j} v_j$ joins any two places in one step, while an error passes
# $t - j$ matrices in a recurrence, and vanishes or explodes. **Parallel over the sequence:** row $t$ waits
# for no other row, while a recurrent state $h_t$ waits for $h_{t-1}$. The causal mask is what makes the
# second honest: all $T$ questions at once, each with its own past, as measured at the beginning. The price
# is the square.

# %% [markdown] lang="en"
# ## The chapter in five points
#
# 1. Attention is a weighted sum of values, the weights computed from how well queries match keys.
# 2. Q, K and V are three projections of the tokens with three roles; several heads have several of each.
# 3. Dividing by $\sqrt{d_k}$ keeps scores at spread 1 at the start of training, so that softmax can learn.
# 4. The causal mask keeps every token from looking ahead; a mask belongs *inside* the softmax.
# 5. Time is $O(n^2 d)$, memory $O(n^2)$.
#
# What comes next, in later parts: self-attention stacked in blocks, positions, a small GPT, training.

# %% [markdown] lang="en"
# ## Questions
#
# **1. What must a token not see, and how is it kept from seeing it?**
#
# <details><summary>Answer</summary>
#
# The future, when the model is to predict it, and padding. A mask says which keys each query may see. It is
# put inside the softmax: $-\infty$ added to forbidden scores, or, the same, their powers multiplied by 0 in
# numerator *and* denominator. The shares go to the allowed keys in proportion, and nothing leaks.
#
# </details>
#
# **2. Why is a mask on weights, after the softmax, not enough?**
#
# <details><summary>Answer</summary>
#
# The forbidden keys still stand in the denominator. Rows sum to less than 1, and every output but the
# last depends on the future through that sum.
#
# </details>

# %% [markdown] lang="en"
# **3. Someone masks with −30. The forbidden score is 40 above the allowed ones. What happens?**
#
# <details><summary>Answer</summary>
#
# $g - c = 10$: after the fill it is still 10 above. The forbidden key gets nearly everything.
#
# </details>
#
# **4. A text grows to three times its length. Time, and memory of the weights?**
#
# <details><summary>Answer</summary>
#
# Nine times each, for long texts. With flash attention the memory grows three times only, the time still
# nine times.
#
# </details>
#
# **Where next:** build it all in `lab03_masking`; then play in `explore_heatmaps`.
