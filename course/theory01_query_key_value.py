# ---
# jupyter:
#   reading:
#     title: Query, key, value
#     minutes: 10-15
# ---

# %% [markdown] lang="en"
# # Theory 01 · Query, key, value
#
# **Why three matrices and not one?**
#
# Theory 00 had a wish: the blank of `I work , you work , he ___` should look at `he` and at `work`,
# because of *what they are*. So there must be something that compares two tokens and says how well
# they fit. Here it is built, from a dictionary to three matrices, with a small case worked to the
# last fraction. 10–15 minutes, before lab 00, in which you build it for any size.

# %%
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

from attnlab.example import FEATURES, TABLE, TOKENS, X, shares
from attnlab.plots import figure, heatmap, reading

# %% [markdown] lang="en"
# ## From a dictionary to three roles
#
# `{"cat": "gato"}["cat"]` compares what you ask for with each key, and hands over the value of the
# key that is equal. Three things take part, and in attention every token plays all three:
#
# | role | letter | says | as in a search |
# |---|---|---|---|
# | query | $q$ | what the token looks for | what you type |
# | key | $k$ | what it offers to be found by | the entries of the index |
# | value | $v$ | the content it hands over | the documents |
#
# Two things change. "Equal" becomes a number, so that a fit can be good or less good: the dot
# product $q \cdot k$, the **score**. And instead of the winner's value alone, all values count, by
# their share.

# %% [markdown] lang="en"
# ## Three matrices
#
# A sentence is a matrix $X$ with a row of $d_{model}$ features for each of its $T$ tokens. One
# matrix for each role turns features into queries, keys and values:
#
# $$ Q = X W_Q, \qquad K = X W_K, \qquad V = X W_V $$
#
# $$ (T, d_{model}) \cdot (d_{model}, d_k) \to (T, d_k), \qquad
#    (T, d_{model}) \cdot (d_{model}, d_v) \to (T, d_v) . $$
#
# Query and key meet in a dot product, so they need the same length $d_k$. Values are only added up,
# so $d_v$ is free.
#
# **Read such a matrix by rows.** Token $x$ has the query $x W_Q = \sum_f x_f\, W_Q[f]$: each
# feature brings its row along. So row $f$ of $W_Q$ is *what a token with feature $f$ asks for*, row
# $f$ of $W_K$ *what it is found by*, row $f$ of $W_V$ *what it hands over*.

# %% [markdown] lang="en"
# ## By hand
#
# `small cat sleeps`: three tokens, four features, $d_k = 2$, $d_v = 1$. An adjective asks for a
# noun, a verb asks for something alive that can do it, and a noun asks for nothing.
#
# | feature | row of $W_Q$ | row of $W_K / \ln 2$ | row of $W_V$ |
# |---|---|---|---|
# | adjective | 2 0 | 0 0 | 6 |
# | noun | 0 0 | 1 0 | 2 |
# | verb | 0 1 | 0 0 | 1 |
# | alive | 0 0 | 0 1 | 1 |
#
# $W_K$ is $\ln 2$ times what stands in its column, for our comfort: shares are proportional to
# $e^{s}$ (theory 00), and so each $e^{s}$ is a power of 2. `cat` is a noun and alive, so its rows
# are added: $k_{cat} = \ln 2\,[1, 1]$ and $v_{cat} = 2 + 1 = 3$.

# %% [markdown] lang="en"
# **Scores.** `small` asks with $[2, 0]$, `cat` with $[0, 0]$, `sleeps` with $[0, 1]$. The keys are
# $\ln 2$ times $[0, 0]$, $[1, 1]$, $[0, 0]$. Row $t$, column $j$ holds $q_t \cdot k_j$:
#
# $$ \text{scores} = \ln 2 \begin{bmatrix} 0 & 2 & 0 \\ 0 & 0 & 0 \\ 0 & 1 & 0 \end{bmatrix},
#    \qquad e^{\text{scores}} = \begin{bmatrix} 1 & 4 & 1 \\ 1 & 1 & 1 \\ 1 & 2 & 1 \end{bmatrix} . $$
#
# **Shares**: divide each row by its sum, 6, 3 or 4. **Output**: mix the values 6, 3 and 1 by them.
#
# $$ \text{weights} = \begin{bmatrix} \tfrac16 & \tfrac23 & \tfrac16 \\ \tfrac13 & \tfrac13 & \tfrac13 \\
#    \tfrac14 & \tfrac12 & \tfrac14 \end{bmatrix}, \qquad
#    \text{out} = \begin{bmatrix} 1 + 2 + \tfrac16 \\ 2 + 1 + \tfrac13 \\
#    \tfrac32 + \tfrac32 + \tfrac14 \end{bmatrix}
#    = \begin{bmatrix} \tfrac{19}{6} \\ \tfrac{10}{3} \\ \tfrac{13}{4} \end{bmatrix} . $$
#
# `small` and `sleeps` found `cat`. `cat`, which asks for nothing, spreads its attention evenly. The
# same in code, with exact fractions:

# %%
x = np.array([[1, 0, 0, 0], [0, 1, 0, 1], [0, 0, 1, 0]])  # (T, d_model)
asks = np.array([[2, 0], [0, 0], [0, 1], [0, 0]])  # W_Q, (d_model, d_k)
offers = np.array([[0, 0], [1, 0], [0, 0], [0, 1]])  # W_K / ln 2, (d_model, d_k)
hands = np.array([6, 2, 1, 1])  # W_V, with d_v = 1

# %%
# Features are 0 or 1, so a token's query, key and value are sums of the rows of its features.
values = [int(sum(hands[token == 1])) for token in x]
for token in x:
    query = sum(asks[token == 1])
    powers = [2 ** int(sum(query * sum(offers[other == 1]))) for other in x]
    row = [Fraction(power, sum(powers)) for power in powers]
    print(*row, " out:", sum(share * value for share, value in zip(row, values)))

# %% [markdown] lang="en"
# ## Why not one matrix for queries and keys?
#
# **With no matrix at all**, a score is $x_t \cdot x_j$, and all scores are $X X^\top$. What is
# found is what is *similar*. If all rows are equally long, nothing is more similar to a token than
# itself.
#
# **With one matrix** $W = W_Q = W_K$, scores are $s_{t,j} = (x_t W)\cdot(x_j W)$. Swap $t$ and $j$:
# nothing changes. The scores are **symmetric**: `small` asks for `cat` exactly as much as `cat` for
# `small`. And, with $a = x_t W$ and $b = x_j W$,
#
# $$ 0 \le |a - b|^2 = s_{t,t} - 2 s_{t,j} + s_{j,j} \quad\Longrightarrow\quad
#    s_{t,j} \le \tfrac12 (s_{t,t} + s_{j,j}) . $$
#
# So $s_{t,j}$ cannot be above both $s_{t,t}$ and $s_{j,j}$: of any two tokens, at least one likes
# itself at least as well as the other.

# %% [markdown] lang="en"
# **Question for the picture: does `small` find `cat` with none, one, or two matrices?** For one,
# we add the two above, so that it holds both what a token asks for and what it offers.

# %%
kinds = {
    "no matrix": np.eye(4),
    "one matrix": (asks + offers) @ (asks + offers).T,
    "two matrices": asks @ offers.T,
}
small = {name: x @ form @ x.T for name, form in kinds.items()}  # (T, T) each
words = ["small", "cat", "sleeps"]
best = {name: [words[s] for s in np.flatnonzero(m[0] == m[0].max())] for name, m in small.items()}

# %%
_, axes = plt.subplots(1, 3, figsize=(11, 2.7), layout="constrained")
for ax, (name, match) in zip(axes, small.items()):
    heatmap(match, words, ax=ax, title=name, limits=(0, 4), fmt="g")
found = "; ".join(f"with {name}, `{' and '.join(most)}`" for name, most in best.items())
mirrored = " and ".join(name for name, match in small.items() if np.array_equal(match, match.T))
figure(
    axes,
    alt="Scores of three tokens with each other, for no matrix, one matrix and two.",
    caption=f"What `small` matches best: {found}. Maps that mirror along their diagonal: {mirrored}.",
)

# %% [markdown] lang="en"
# That is no accident of these numbers. Draw the matrices at random, 500 times, for the six
# different tokens of `I work , you work , he ___` (`TABLE`, seven features each). How often is a
# token its own best match? By chance it would be one time in six.

# %%
rng = np.random.default_rng(0)
own = {"one matrix": [], "two matrices": []}
for _ in range(500):
    a, b = rng.normal(size=(2, 7, 4))
    for name, form in zip(own, (a @ a.T, a @ b.T)):
        own[name].append(((TABLE @ form @ TABLE.T).argmax(axis=1) == np.arange(6)).mean())
{name: round(float(np.mean(often)), 2) for name, often in own.items()}

# %% [markdown] lang="en"
# For language, symmetry is wrong. `he` asks for a verb, since someone has to *do* something; a verb
# need not ask for `he`. "Asks for" has a direction. Two matrices give it one.
#
# ## Two matrices, one form
#
# Put the definitions into a score, with rows $x_t$ and $x_j$:
#
# $$ s_{t,j} = q_t \cdot k_j = (x_t W_Q)(x_j W_K)^\top = x_t \underbrace{W_Q W_K^\top}_{M}\, x_j^\top
#    = \sum_f \sum_g x_{t,f}\, M_{f,g}\, x_{j,g} . $$
#
# So in the scores the two matrices act as **one**, $M$, of shape $(d_{model}, d_{model})$. Its
# entry $M_{f,g}$ says *how much a token with feature $f$ asks for one with feature $g$*. The score
# is a **bilinear form**: linear in each of the two tokens.

# %% [markdown] lang="en"
# **By hand.** Above, $M / \ln 2$ has two entries that are not 0: adjective → noun is
# $[2, 0]\cdot[1, 0] = 2$, and verb → alive is $[0, 1]\cdot[0, 1] = 1$. So `sleeps` scores
# $\ln 2\,(0 + 1)$ with `cat`, which is a noun and alive, as before.
#
# **Why not learn $M$ itself?** Written by columns, $M = \sum_{c} W_Q[:, c]\; W_K[:, c]^\top$ is a
# sum of $d_k$ products of a column and a row. So its rank is at most $d_k$: a head has $d_k$
# *questions*, and compares tokens in nothing else. This costs $2\,d_{model} d_k$ numbers instead of
# $d_{model}^2$: for $d_{model} = 512$ and $d_k = 64$, $65\,536$ instead of $262\,144$.

# %% [markdown] lang="en"
# **What too few questions cost.** With $d_k = 1$ a query is one number and so is a key:
# $s_{t,j} = q_t\, k_j$. Then all tokens with $q_t > 0$ rank the keys alike, and those with
# $q_t < 0$ rank them in reverse. Six different tokens have at most two different favourites. Random
# matrices, 500 draws for each $d_k$: how many favourites are there on average? (Six blind picks
# among six tokens would name about four.)

# %%
for d_k in (1, 2, 4, 7):
    favourites = []
    for _ in range(500):
        a, b = rng.normal(size=(2, 7, d_k))
        favourites.append(len(set((TABLE @ a @ b.T @ TABLE.T).argmax(axis=1))))
    print(
        f"d_k = {d_k}: rank {np.linalg.matrix_rank(a @ b.T)}, {np.mean(favourites):.1f} favourites"
    )

# %% [markdown] lang="en"
# Only $M$ shows in the scores. For any $A$ with an inverse, $W_Q A$ and $W_K (A^{-1})^\top$ give
# the same: $W_Q A A^{-1} W_K^\top = M$. So neither matrix has a meaning alone; readable rows are
# one choice of many.
#
# ## The worked example
#
# Now `I work , you work , he ___`, with seven features: `he` is a pronoun and a third person. A
# **pronoun** asks for a verb: who is named, does something. A **comma** asks for a pronoun: a
# clause ends, whom was it about? So $d_k = 2$. Verbs ask for nothing, nor does the blank: its
# question is yours to find in lab 00.
#
# **Question for the picture: which feature asks for which?**

# %%
w_q, w_k = np.zeros((2, 7, 2))
w_q[FEATURES.index("pronoun"), 0] = 3  # question 0: a verb
w_k[FEATURES.index("verb"), 0] = 1
w_q[FEATURES.index("comma"), 1] = 2  # question 1: a pronoun
w_k[FEATURES.index("pronoun"), 1] = 1

# %%
form = w_q @ w_k.T  # M, (d_model, d_model)
asked = "; ".join(f"{FEATURES[f]} → {FEATURES[g]}, {form[f, g]:g}" for f, g in np.argwhere(form))
figure(
    heatmap(form, FEATURES, title="M", limits=(0, 4), fmt="g", labels=("found by", "asks")),
    alt=f"A grid of seven by seven features. Not 0: {asked}.",
    caption=f"Two questions: {asked}. Rank {np.linalg.matrix_rank(form)}. The map does not mirror.",
)

# %% [markdown] lang="en"
# **Question for the picture: whom does each token attend to?** `shares` gives each score's $e^{s}$,
# divided by its row's sum. These matrices are set by hand. Nothing is trained; untrained ones would
# show random rows.

# %%
weights = shares(w_q, w_k)
said = " ".join(reading(weights, t, TOKENS) for t in (6, 2, 1))
figure(
    heatmap(weights, TOKENS, title="shares, set by hand"),
    alt=f"Shares of eight tokens in each other, set by hand. {said}",
    caption=f"{said} Both `work` get the same in every row.",
)

# %% [markdown] lang="en"
# ### The two `work` must tie
#
# Tokens 1 and 4 are the same word, so their rows of $X$ are equal. Then, for every $W_K$ and every
# query,
#
# $$ x_1 = x_4 \;\Rightarrow\; k_1 = x_1 W_K = x_4 W_K = k_4 \;\Rightarrow\;
#    q_t \cdot k_1 = q_t \cdot k_4 \;\Rightarrow\; \alpha_{t,1} = \alpha_{t,4} . $$
#
# **No choice of matrices can prefer the nearer one**, for the matrices get to see $x_1$ and $x_4$
# only. Equal in, equal out. (By the same argument, rows 1 and 4 of the map are equal.) What helps
# is to make the two rows of $X$ differ: a feature that says *where*. Positions are for a later
# part.

# %%
gaps = []
for _ in range(100):
    drawn = shares(*rng.normal(size=(2, 7, 3)))
    gaps.append(np.abs(drawn[:, 1] - drawn[:, 4]).max())
print(f"100 random draws: the two columns differ by at most {max(gaps):g}")

# %% [markdown] lang="en"
# ## Why values are a third thing
#
# Shares are made of $W_Q$ and $W_K$. $W_V$ comes in after that and changes none of them. So *what
# is matched* and *what is handed over* can be different things, of different sizes.
#
# They had better be. A comma finds `I`, `you` and `he` by what they have in **common**: they are
# pronouns. What it wants of them is what tells them **apart**: the person.
#
# **Question for the picture: with the same shares, what does a comma receive if all hand over what
# keys read (pronoun, verb), everything, or only the person?** $W_V$ then picks $d_v = 2$, 7 or 3
# features.

# %%
mixed = sum(share * token for share, token in zip(weights[2], X))  # of all features, (7,)
handed = {"what keys read": FEATURES[:2], "everything": FEATURES, "the person": FEATURES[4:]}
received = np.array([mixed * np.isin(FEATURES, picked) for picked in handed.values()])

# %%
pronoun, first = received[1, [0, 4]]
figure(
    heatmap(received, list(handed), FEATURES, title="", labels=("feature", "handed over")),
    alt="What the comma at place 2 receives of each feature, for three choices of the values.",
    caption=f"The keys tell the comma that it found pronouns ({pronoun:.2f}), which it asked for; "
    f"only the person tells it who: {first:.2f} of each of the three.",
)

# %% [markdown] lang="en"
# The comma received the persons, but all three alike. Which pronoun is the nearest it cannot know.
#
# **Where the tokens come from.** In all of this, queries, keys and values are made from the same
# tokens: **self-attention**, with $S = T$ keys. In **cross-attention** the equation is the same,
# but queries come from one sequence and keys and values from another, so that $S$ may differ from
# $T$.
#
# ## How to read the weights
#
# Here is a matrix of weights for *The cat sat*, set by hand.
#
# **Question for the picture: how is `sat`'s attention shared out, and who gets most attention?**

# %%
cat = np.array([[7, 2, 1], [3, 5, 2], [2, 4, 4]]) / 10  # (T, S)
names = ["The", "cat", "sat"]
gets = cat.sum(axis=0)  # by column
figure(
    heatmap(cat, names, title="weights set by hand"),
    alt=f"Three rows of weights. {reading(cat, 2, names)}",
    caption=f"{' '.join(reading(cat, t, names) for t in range(3))} Most in all goes to "
    f"`{names[gets.argmax()]}`, {gets.max():.1f}.",
)

# %%
print("a row gives   ", *(f"{name} {total:.1f}" for name, total in zip(names, cat.sum(axis=1))))
print("a column gets ", *(f"{name} {total:.1f}" for name, total in zip(names, gets)))

# %% [markdown] lang="en"
# A **row** is one token's attention: how much it gives to each place, itself included. These sum to
# 1, always. A **column** is what one token gets from all, and may sum to anything: attention is
# shared out by those who look, not by those who are looked at. The question "who looks at whom?" is
# answered along rows.
#
# ## Where this leads
#
# $$ \text{Attention}(Q, K, V) = \text{softmax}\!\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V $$
#
# You can read nearly all of it. $QK^\top$ holds all scores, **softmax** turns each row into shares
# as above, and the product with $V$ mixes the values. One thing is new, $\sqrt{d_k}$, and that is
# theory 02.

# %% [markdown] lang="en"
# ## Questions
#
# **1. Why three matrices and not one?**
#
# <details><summary>Answer</summary>
#
# A token plays three roles. *Query and key:* with one matrix for both, scores are symmetric, and
# the largest of all stands on the diagonal. But "asks for" has a direction: an adjective needs a
# noun, not the noun an adjective. *Key and value:* what a token is found by (being a pronoun) is
# not what others want of it (the person).
#
# </details>
#
# **2. In the scores $W_Q$ and $W_K$ act as one matrix $M$. Why keep two?**
#
# <details><summary>Answer</summary>
#
# $M = W_Q W_K^\top$ has rank at most $d_k$: a few questions, for few numbers. And $M$ need not be
# symmetric, which $W W^\top$ always is.
#
# </details>

# %% [markdown] lang="en"
# **3. May $d_v$ differ from $d_k$? May the query's length differ from the key's?**
#
# <details><summary>Answer</summary>
#
# $d_v$ may: values are only added up. Query and key meet in a dot product, so their lengths are
# equal.
#
# </details>
#
# **4. Can training make the blank prefer the `work` at place 4 to the one at place 1?**
#
# <details><summary>Answer</summary>
#
# No. Equal rows of $X$ give equal keys, whatever $W_K$ is, so equal shares. Positions have to make
# the rows differ first.
#
# </details>
#
# **Next:** lab 00, in which you build these parts and find the blank's question. Then theory 02.
