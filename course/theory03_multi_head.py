# ---
# jupyter:
#   reading:
#     title: Multi-head attention
#     minutes: 10-15
# ---

# %% [markdown] lang="en"
# # Theory 03 · Multi-head attention
#
# **What can several heads do that one cannot, and what is not promised?**
#
# Attention gives each token one row of shares that sum to 1. This text shows what one row cannot do,
# adds more rows, counts their price, and says how far you may trust the word *specialist*. Read it
# before lab 02, in 10–15 minutes, and run each cell as you come to it.
#
# Letters as in the labs: `T` tokens (here they are queries and keys alike), `H` heads, `d_model`
# features of a token, `d_head` features in one head. Tokens are the rows of `X`, $(T, d_{model})$.

# %% [markdown] lang="en"
# Carried over from lab 01: softmax, and scaled dot-product attention.

# %%
import matplotlib.pyplot as plt
import numpy as np

from attnlab.plots import figure, heatmap, reading


def softmax(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention(q, k, v):
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])  # (T, S)
    return softmax(scores) @ v, softmax(scores)


# %% [markdown] lang="en"
# ## One row, one pattern
#
# In *I work , you work , he ___* the blank has two wishes. **Who?** All on `he`. **Which verb?** All on
# `work`, half on each. Each wish is a row, $p$ and $r$, that sums to 1, and no token is in both. One
# head has one row, so the most it can do is share,
#
# $$ \alpha = \lambda\, p + (1 - \lambda)\, r, \qquad 0 \le \lambda \le 1, $$
#
# and of the first wish $\lambda$ is fulfilled, of the second $1 - \lambda$: together always 1, never 2.
#
# **Question for the picture: what is left of the two wishes in the row halfway between them?**

# %%
tokens = "I work , you work , he ___".split()
who = np.array([0, 0, 0, 0, 0, 0, 1, 0])  # (T,)
verb = np.array([0, 1, 0, 0, 1, 0, 0, 0]) / 2
rows = np.array([who, verb, (who + verb) / 2])
names = ["who?", "which verb?", "halfway"]
figure(
    heatmap(rows, names, tokens, title="rows of the blank, set by hand", labels=("key", "row")),
    alt=f"Three rows of shares, set by hand. {reading(rows, 2, names, tokens)}",
    caption=f"{reading(rows, 2, names, tokens)} Each `work` keeps {rows[2, 1]:.2f}. Row sums: "
    f"{', '.join(f'{s:g}' for s in rows.sum(axis=1))}.",
)

# %% [markdown] lang="en"
# ### A sum cannot be taken apart
#
# Sharing would do no harm if the parts could be told apart afterwards. They cannot. Say a value is
# one number, and the row gives half to each of two tokens:
#
# | first value | second value | one row: $\tfrac12 a + \tfrac12 b$ | two rows: $[\,a,\ b\,]$ |
# |---|---|---|---|
# | $8$ | $2$ | $5$ | $[8, 2]$ |
# | $6$ | $4$ | $5$ | $[6, 4]$ |
#
# Two different sentences, the same 5. Wider values help only a little: two facts may travel in two
# features of their own, but **the same shares weigh every feature** of $v$. If the first
# wants the whole of one token and the second the whole of another, the row would have to sum to 2.

# %% [markdown] lang="en"
# ## Several rows side by side
#
# So take $H$ rows, worked out in parallel. A **head** $h$ is attention with three matrices of its own,
# $W_Q^h, W_K^h, W_V^h$, each $(d_{model}, d_{head})$. What the heads find is laid side by side
# (*concatenated*) and mixed by one more matrix:
#
# $$ \underbrace{\text{head}_h}_{(T,\,d_{head})} = \underbrace{A^h}_{(T,\,T)}\
#    \underbrace{X W_V^h}_{(T,\,d_{head})}, \qquad
#    A^h = \text{softmax}\!\left(\tfrac{1}{\sqrt{d_{head}}}\, X W_Q^h (X W_K^h)^\top\right), $$
#
# $$ \underbrace{\text{out}}_{(T,\,d_{model})}
#    = \underbrace{[\,\text{head}_0 \,|\, \dots \,|\, \text{head}_{H-1}\,]}_{(T,\; H\, d_{head})}\;
#      \underbrace{W_O}_{(H\, d_{head},\; d_{model})} . $$
#
# The usual choice is $d_{head} = d_{model} / H$. Each head has its own scores, its own softmax, its own
# row that sums to 1. Two whole wishes need two heads, and then both fit.

# %% [markdown] lang="en"
# ## One product, then cut
#
# Programs do not multiply $H$ small matrices. They lay the $W_Q^h$ side by side as one matrix
# $W_Q = [\,W_Q^0 \,|\, \dots \,|\, W_Q^{H-1}\,]$, multiply once, and cut the *columns* of the result.
# That is the same, because column $c$ of a product is $X$ times column $c$ of the right factor:
#
# $$ X\,[\,W_Q^0 \,|\, W_Q^1 \,|\, \dots\,] = [\,X W_Q^0 \,|\, X W_Q^1 \,|\, \dots\,] . $$
#
# And what if you forgot to cut? A dot product over all columns is a sum over the blocks,
# $QK^\top = \sum_h Q^h (K^h)^\top$: the wishes' scores would be **added** before a single softmax. The
# cut is what makes several rows out of one.

# %%
rng = np.random.default_rng(0)
x = rng.normal(size=(8, 12))  # (T, d_model), made-up tokens
w_q, w_k, w_v, w_o = rng.normal(size=(4, 12, 12)) / np.sqrt(12)
blocks = [slice(3 * h, 3 * h + 3) for h in range(4)]  # H = 4, d_head = 3
q, k = x @ w_q, x @ w_k
cut = max(np.abs(q[:, b] - x @ w_q[:, b]).max() for b in blocks)
added = np.abs(q @ k.T - sum(q[:, b] @ k[:, b].T for b in blocks)).max()
print(f"largest differences: cut {cut:.1g}, scores added up {added:.1g}")

# %% [markdown] lang="en"
# ## What the last matrix does
#
# Cut $W_O$ into blocks of rows, $W_O^h$ of shape $(d_{head}, d_{model})$. Entry by entry a product with
# laid-together rows is a sum over the blocks, so
#
# $$ \text{out} = \sum_h \text{head}_h\, W_O^h = \sum_h A^h X\, W_V^h W_O^h . $$
#
# **By hand.** Two heads of width 1 find $7$ and $5$; the rows of $W_O$ are $[1, 0]$ and $[2, -1]$:
# $[7, 5]\,W_O = 7\,[1, 0] + 5\,[2, -1] = [17, -5]$.
#
# Read the sum: each head decides **where to look** ($A^h$) and **what to carry from there to which
# features** ($W_V^h W_O^h$). Without $W_O$ head $h$ could only write to its own $d_{head}$ columns.

# %%
heads = [(w_q[:, b], w_k[:, b], w_v[:, b], w_o[b]) for b in blocks]
found = [attention(x @ a, x @ b, x @ c)[0] for a, b, c, _ in heads]  # H arrays (T, d_head)
out = sum(each @ o for each, (*_, o) in zip(found, heads))  # (T, d_model)
print(f"side by side or added: {np.abs(np.concatenate(found, axis=-1) @ w_o - out).max():.1g}")

# %% [markdown] lang="en"
# ## What heads cost
#
# Count the **parameters**, the numbers to be trained, with $d_{head} = d_{model}/H$:
#
# $$ \underbrace{H \cdot 3 \cdot d_{model} \cdot \tfrac{d_{model}}{H}}_{W_Q^h,\, W_K^h,\, W_V^h}
#    + \underbrace{H \cdot \tfrac{d_{model}}{H} \cdot d_{model}}_{W_O^h} = 4\, d_{model}^2 . $$
#
# $H$ cancels. So it does when we count the multiplications for the scores:
# $H \cdot T^2 \cdot d_{head} = T^2\, d_{model}$. Only the weights grow, $H\,T^2$ numbers.
#
# The true price is **width**. A head's scores are $X\, W_Q^h (W_K^h)^\top X^\top$, and that
# $(d_{model}, d_{model})$ matrix in the middle is a product through $d_{head}$ columns: its rank is at
# most $d_{head}$.

# %%
print("heads  d_head  parameters  rank of W_Q W_K^T in a head")
for n_heads in (1, 2, 4, 8, 16):
    made = rng.normal(size=(n_heads, 3, 64, 64 // n_heads))  # d_model = 64
    rank = np.linalg.matrix_rank(made[0, 0] @ made[0, 1].T)
    print(f"{n_heads:5} {made.shape[-1]:7} {made.size + 64 * 64:11} {rank:7}")

# %% [markdown] lang="en"
# ### What too narrow a head cannot say
#
# Take $d_{head} = 1$. A query is one number $a_t$, a key one number $b_j$, the score $a_t b_j$. If $a_t$ is
# positive, the key with the largest $b$ wins; if negative, the one with the smallest; if 0, all tie.
# Whatever is learned: **ties aside, at most two keys are ever anybody's favourite**.

# %% [markdown] lang="en"
# Let eight kinds of tokens each look for their own kind. Width 1 cannot. Width 2 can put the kinds on a
# circle: each is closest to itself, but neighbours crowd in. Width 8 gives each a direction of its own.
#
# **Question for the picture: how much of its own kind does each head see, with the same largest score in
# all three?**

# %%
turn = 2 * np.pi * np.arange(8) / 8
arranged = (
    np.linspace(-1, 1, 8)[:, None],  # width 1: on a line
    np.stack([np.cos(turn), np.sin(turn)], axis=1),  # width 2: on a circle
    np.eye(8),  # width 8: a direction each
)
maps = [softmax(3 * places @ places.T) for places in arranged]  # scores of at most 3
_, axes = plt.subplots(1, 3, figsize=(13, 4.3), layout="constrained")
for ax, weights, width in zip(axes, maps, (1, 2, 8)):
    heatmap(weights, "abcdefgh", ax=ax, title=f"d_head = {width}")
own = [np.diag(weights).mean() for weights in maps]
liked = [len(set(weights.argmax(axis=1))) for weights in maps]
figure(
    axes,
    alt=f"Three maps. Different favourite keys: {liked}. Mean share of the own kind: {np.round(own, 2)}.",
    caption=f"Mean share of the own kind: {own[0]:.2f}, {own[1]:.2f}, {own[2]:.2f}. Different favourites: "
    f"{liked[0]}, {liked[1]}, {liked[2]}.",
)

# %% [markdown] lang="en"
# ## Specialists, by hand
#
# We choose the matrices ourselves. Twelve words, each a feature of its own: a row of $W_Q^h$ says what a
# word asks in head $h$, a row of $W_K^h$ what it answers to. **One column is one question.** Four heads of
# width 3:
#
# * **subject**, for the agreement: the blank asks for a pronoun, the third person above all;
# * **verb**: the blank asks for the stem;
# * **tense**: it asks for an auxiliary (`will`, `going`), more softly for the present: pronouns, bare verbs;
# * **alignment**: Spanish asks for English, `yo` for `I`, the blank for the verb to translate (*trabajo*).
#
# The sizes below are $e^{\text{score}}$; a word that is not named has $e^0 = 1$.

# %%
words = "I you he yo él work will going trabajo , / ___".split()
questions = {  # head: (who asks, what answers and how loudly), a column each
    "subject": [("___", {"he": 8, "él": 8, "I": 2, "you": 2, "yo": 2})],
    "verb": [("___", {"work": 8, "trabajo": 8})],
    "tense": [("___", {"will": 30, "going": 30, "work": 3, "I": 3, "you": 3, "he": 3})],
    "alignment": [("___ trabajo", {"work": 8}), ("yo", {"I": 8}), ("él", {"he": 8})],
}

# %%
by_hand = {name: np.zeros((2, 12, 3)) for name in questions}  # W_Q and W_K of each head
for name, columns in questions.items():
    for column, (askers, answers) in enumerate(columns):
        for asker in askers.split():
            by_hand[name][0, words.index(asker), column] = np.sqrt(3)  # meets 1/√d_head
        for word, size in answers.items():
            by_hand[name][1, words.index(word), column] = np.log(size)

# %% [markdown] lang="en"
# **By hand.** In the subject head the blank of the worked example gives the eight tokens the sizes
# $2, 1, 1, 2, 1, 1, 8, 1$. They sum to 17, so `he` gets $\tfrac{8}{17}$. In the verb head the sizes are
# $1, 8, 1, 1, 8, 1, 1, 1$, and each `work` gets $\tfrac{8}{22} = \tfrac{4}{11}$. The two
# `work` tie: same word, same features.
#
# **Question for the picture: where does the tense head look when there is no auxiliary?** In the first
# two panels a row is what the blank sees in one head; the third is the whole alignment head, where a
# token that asks nothing shares evenly.

# %%
sentences = [text.split() for text in (" ".join(tokens), "I will work , he ___", "I work / yo ___")]
maps = []
for sentence in sentences:
    x_one = np.eye(12)[[words.index(word) for word in sentence]]  # (T, d_model)
    maps.append({n: attention(x_one @ a, x_one @ b, x_one)[1] for n, (a, b) in by_hand.items()})

# %%
three = ["subject", "verb", "tense"]
blank = [np.array([found[name][-1] for name in three]) for found in maps[:2]]  # (3, T)
sizes = {"width_ratios": [8, 6, 5]}
_, axes = plt.subplots(1, 3, figsize=(14, 3.4), layout="constrained", gridspec_kw=sizes)
for ax, weights, sentence in zip(axes, blank, sentences):
    heatmap(weights, three, sentence, ax=ax, title="the blank, in three heads", labels=("key", "head"))
heatmap(maps[2]["alignment"], sentences[2], ax=axes[2], title="alignment head")
said = [reading(w, 2, three, s) for w, s in zip(blank, sentences)]
pair = " ".join(reading(maps[2]["alignment"], t, sentences[2]) for t in (3, 4))
figure(
    axes,
    alt=f"Four heads set by hand. {reading(blank[0], 0, three, tokens)} {said[0]} {said[1]} {pair}",
    caption=f"Set by hand. Without an auxiliary: {said[0]} With one: {said[1]} On the pair: {pair}",
)

# %% [markdown] lang="en"
# Three whole rows: person, verb and tense at once. And two remarks. That no `will` stands there is an
# absence, and an absence cannot be looked at: shares must go somewhere, so the tense head falls back on
# what speaks for the present. Alignment is two pairs, `yo` with `I` and the blank with `work`: two
# questions, two columns.

# %% [markdown] lang="en"
# ## Room, not a promise
#
# **Guaranteed:** $H$ rows for each token, each free to be any pattern its width allows. **Not
# guaranteed:** that training uses them so. Two heads may learn the same, one nothing, a wish may be spread
# over three. In a later part of the course a small GPT with four heads is trained and looked into; at that
# scale heads specialise in part only. Reading a trained model head by head is research, not a result that
# comes with the equation.
#
# And before training, matrices are random.
#
# **Question for the picture: what does head 2 of an untrained layer look for?** The blank's row
# for five seeds of 500, chosen to differ.

# %%
x_one = np.eye(12)[[words.index(word) for word in tokens]]  # (T, d_model)
drawn = []
for seed in range(500):
    a, b = np.random.default_rng(seed).normal(size=(2, 4, 12, 3))[:, 2]  # head 2 of 4, spread 1
    drawn.append(attention(x_one @ a, x_one @ b, x_one)[1][-1])
shown = [drawn[seed] for seed in range(16, 21)]
seeds = [f"seed {seed}" for seed in range(16, 21)]
mean = np.mean(drawn, axis=0)  # (T,)
figure(
    heatmap(shown, seeds, tokens, title="head 2, untrained: random", labels=("key", "")),
    alt="The blank's row in head 2 of five untrained layers. All of it is random.",
    caption=" ".join(reading(shown, s, seeds, tokens) for s in range(3))
    + f" Random, all of it: over {len(drawn)} seeds the mean shares lie between {mean.min():.3f} and "
    f"{mean.max():.3f}, and an even share is {1 / 8:.3f}.",
)

# %% [markdown] lang="en"
# ## Which head is head 2?
#
# Even in a trained layer the number means nothing. Two symmetries:
#
# * **Reorder the heads**, and the row blocks of $W_O$ with them: the sum over $h$ has the same terms in
#   another order.
# * **Change the basis inside a head.** For any invertible $M$ of shape $(d_{head}, d_{head})$ put
#   $W_Q^h M$ and $W_K^h M^{-\top}$ in place of the two ($M^{-\top}$ is $M^{-1}$ transposed). Then
#   $X W_Q^h M\,(X W_K^h M^{-\top})^\top = X W_Q^h\, M M^{-1} (W_K^h)^\top X^\top$: the same scores.
#   Likewise $W_V^h N$ and $N^{-1} W_O^h$ have the old product.
#
# What a head *is* stands in the products $W_Q^h (W_K^h)^\top$ and $W_V^h W_O^h$, not in its place.

# %%
m, n = rng.normal(size=(2, 3, 3))  # invertible, as almost all are
changed = [
    (a @ m, b @ np.linalg.inv(m).T, c @ n, np.linalg.inv(n) @ o)
    for a, b, c, o in (heads[h] for h in (2, 0, 3, 1))
]
same = sum(attention(x @ a, x @ b, x @ c)[0] @ o for a, b, c, o in changed)
moved = np.abs(np.concatenate([a for a, *_ in changed], axis=1) - w_q).max()
print(f"w_q changed by up to {moved:.2g}, the output by {np.abs(same - out).max():.1g}")

# %% [markdown] lang="en"
# ### One head, and the old attention
#
# For $H = 1$ the layer is $A\, X W_V W_O$, and attention on $XW_Q, XW_K, XW_V$ is $A\, X W_V$. With
# $W_O = I$ they agree. Must it be $I$? Take one token: then $A = [1]$, and agreement for every $x$ means
# $x\, W_V (W_O - I) = 0$, so $W_V (W_O - I) = 0$. If $W_V$ is square and invertible, then $W_O = I$: only
# that one. With any other $W_O$, the layer is attention with value matrix $W_V W_O$.

# %% [markdown] lang="en"
# ## What no head can see
#
# Shuffle the tokens. Let $P$ be the $(T, T)$ matrix that puts token $p(t)$ at place $t$; $P^\top P = I$.
# Follow one head:
#
# 1. $(PX)W = P(XW)$: queries, keys and values are shuffled.
# 2. Scores $S = QK^\top$ become $PQ (PK)^\top = P S P^\top$, whose entry $(t, j)$ is $S_{p(t),\, p(j)}$.
# 3. Softmax divides row $t$ by $\sum_j e^{S_{p(t),p(j)}}$, the old sum of row $p(t)$ in another order. So
#    the weights are $P A P^\top$.
# 4. $P A P^\top\, P V = P A V$: the output is shuffled too.
#
# A sum of heads inherits it. Write $f$ for the whole layer: $f(PX) = P f(X)$. It is
# **permutation-equivariant**.

# %%
order = [6, 1, 2, 3, 4, 5, 0, 7]
print(" ".join(tokens), "  |  ", " ".join(tokens[t] for t in order))
x_one = np.eye(12)[[words.index(word) for word in tokens]]  # (T, d_model)
first, second = (
    sum(attention(s @ a, s @ b, s @ c)[0] @ o for a, b, c, o in heads) for s in (x_one, x_one[order])
)
print(f"largest |f(PX) - P f(X)|: {np.abs(second - first[order]).max():.1g}")
print(f"largest change for the blank: {np.abs(second[7] - first[7]).max():.1g}")

# %% [markdown] lang="en"
# In the second sentence the blank should agree with `I` (*work*, not *works*), and it gets the very same
# numbers, for any matrices and any number of heads. The equation knows *what* a token is, never *where*.
# For grammar that is a disaster. Positions mend it, in a later part of the course.

# %% [markdown] lang="en"
# ## Questions
#
# **1. What can several heads do that one cannot, and what is not promised?**
#
# <details><summary>Answer</summary>
#
# One head has one row with sum 1 for each token: two wishes must share it, and their values arrive as one
# sum. $H$ heads have $H$ rows, each whole, and hand over $H$ results side by side, mixed only by $W_O$. Not
# promised: that training gives each head a pattern one could name. The room is built; its use is up to
# training, and before training all is random.
#
# </details>

# %% [markdown] lang="en"
# **2. $d_{model} = 6$. How many parameters with 2 heads, how many with 6? What differs?**
#
# <details><summary>Answer</summary>
#
# $4 \cdot 6^2 = 144$ both times. With 6 heads $d_{head} = 1$: each head's scores have rank 1, and at most
# two keys of a sentence can be anybody's favourite there.
#
# </details>
#
# **3. A program multiplies by $W_Q$ and $W_K$ and forgets to cut. What does it compute?**
#
# <details><summary>Answer</summary>
#
# $QK^\top = \sum_h Q^h (K^h)^\top$: the heads' scores added up, one softmax, one row. That is one head of
# width $d_{model}$.
#
# </details>

# %% [markdown] lang="en"
# **4. You and I train the same model from different seeds. Do our heads 2 look for the same?**
#
# <details><summary>Answer</summary>
#
# There is no reason why. Heads can be reordered without changing the output, so training prefers no
# order. Perhaps your head 2 is my head 0, perhaps neither of us has that pattern in a single head.
#
# </details>
#
# **Where next:** build it in `lab02_multi_head`; then `theory04_masking`: what must a token not see?
