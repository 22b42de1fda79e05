# ---
# jupyter:
#   reading:
#     title: Motivation
#     minutes: 10-15
# ---

# %% [markdown] lang="en"
# # Theory 00 · Motivation
#
# **What problem does attention solve?**
#
# *El animal no cruzó la calle porque estaba demasiado cansado*: the animal did not cross the street
# because it was too tired. Who was? Spanish does not even write the *it*: there is only `estaba`.
# Yet you went back to `animal`, not to the nearer `calle`: you chose by meaning, not by distance.
#
# Attention is that going back, as arithmetic. It is no magic. It routes information from where it
# is to where it is needed, and every step has a slope, so that the routing can be learned.
# 10–15 minutes, before lab 00.

# %%
import time

import matplotlib.pyplot as plt
import numpy as np

from attnlab.example import BLANK, TOKENS, X, shares
from attnlab.plots import curves, figure, heatmap, reading

# %% [markdown] lang="en"
# ## What recurrence left open
#
# A recurrent network reads **tokens**, words and signs, from left to right. Token $x_t$ is a row of
# $d_{model}$ **features**, numbers that describe it. What was read, the network keeps in one state
# $h_t$, a row of $d$ features. Its matrices $W$ are learned:
#
# $$ h_t = \tanh(h_{t-1} W_{hh} + x_t W_{xh}), \qquad
#    (1,d)\cdot(d,d) + (1,d_{model})\cdot(d_{model},d) \to (1,d) . $$
#
# What comes later sees the past through $h_t$ only. So the state is a **bottleneck**, a context of
# fixed size: 100 tokens of 7 features are 700 numbers, and a state of 7 features keeps 7. Going
# through it step by step has two faults besides, one in learning and one in time.

# %% [markdown] lang="en"
# ## First fault: the gradient
#
# To learn is to nudge matrices so that results get better. That takes slopes: if the state at
# place $t$ changes a little, by how much does the one at place $T$?
#
# Write $a_i = h_{i-1} W_{hh} + x_i W_{xh}$, so that $h_i = \tanh(a_i)$. Change $h_{i-1}$ by a
# small row $\delta$. Then $a_i$ changes by $\delta W_{hh}$. The slope of $\tanh(a)$ is
# $1 - \tanh^2(a)$, so $h_i$ changes by $\delta\, W_{hh} D_i$, with $D_i$ the diagonal matrix of
# $1 - h_i^2$. Each step multiplies the change by one such matrix, its **Jacobian**:
#
# $$ \frac{\partial h_T}{\partial h_t} = \prod_{i=t+1}^{T} W_{hh} D_i,
#    \qquad T - t \text{ factors of shape } (d,d) . $$
#
# The gradient passes back through the same product.

# %% [markdown] lang="en"
# **By hand.** Let $d = 1$ and leave $\tanh$ out: $h_t = w\,h_{t-1} + x_t$. The product is
# $w^{T-t}$. After ten steps
#
# $$ \left(\tfrac12\right)^{10} = \tfrac{1}{1024}, \qquad 1^{10} = 1, \qquad 2^{10} = 1024 . $$
#
# For a matrix, the largest size of an eigenvalue, its **spectral radius** $\rho$, plays the part of
# $w$: along its eigenvector each step multiplies by a number of size $\rho$. And $\tanh$, with a
# slope of at most 1, makes factors smaller.
#
# **Question for the picture: how much of a change is left after 100 steps?** One random matrix with
# $d = 32$, scaled to the radius named. Drawn is the most that the product stretches any $\delta$.

# %%
rng = np.random.default_rng(0)
drawn = rng.normal(size=(32, 32))
unit = drawn / np.abs(np.linalg.eigvals(drawn)).max()  # spectral radius 1
inputs = 0.3 * rng.normal(size=(100, 32))  # x_t W_xh, one row a step
steps = np.arange(0, 101, 10)


def stretches(radius, with_tanh):
    """Return how much 0, 10, ..., 100 steps of a recurrence stretch a change at most."""
    product, h, sizes = np.eye(32), np.zeros(32), [1.0]
    for x in inputs:
        h = np.tanh(h @ (radius * unit) + x)
        slope = 1 - h**2 if with_tanh else np.ones(32)
        product = product @ (radius * unit) * slope  # times W_hh D_i
        sizes.append(np.linalg.norm(product, 2))
    return np.array(sizes)[steps]


# %%
panels = [
    {f"radius {radius:g}": stretches(radius, with_tanh) for radius in radii}
    for with_tanh, radii in ((False, (0.9, 1.0, 1.1)), (True, (0.9, 1.1, 2.0)))
]
_, axes = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
left = []
for ax, lines, title in zip(axes, panels, ("without tanh", "with tanh")):
    curves(steps, lines, ax=ax, xlabel="steps", ylabel="largest stretch", log="y", title=title)
    left.append(", ".join(f"{line[-1]:.2g} ({name})" for name, line in lines.items()))
figure(
    axes,
    alt="Size of the product of Jacobians against steps, on a log axis. Lines fall for a small radius "
    "and rise for a large one; with tanh, the line of the same radius lies lower.",
    caption=f"After {steps[-1]} steps without tanh: {left[0]}. With tanh: {left[1]}.",
)

# %% [markdown] lang="en"
# A straight line on a log axis is *geometric*: the product vanishes or explodes. A radius of 1
# nearly keeps the size. With $\tanh$, even radius $1.1$ makes the product vanish. So after 100
# tokens a network hardly learns from the first, or blows up.
#
# ## Second fault: time
#
# $h_t$ needs $h_{t-1}$. So $T$ tokens take $T$ steps in a row, in training too, however many
# processors stand idle.
#
# **Gates mend the first fault, not the second.** LSTM and GRU networks keep a state and add to it,
# $c_t = f_t \circ c_{t-1} + \dots$ (feature by feature). Along that path each factor is a gate
# $f_t$, which can learn to stay near 1. But $c_t$ still waits for $c_{t-1}$.

# %% [markdown] lang="en"
# ## Routing instead of recurrence
#
# Recurrence says: squeeze the past into one state, and go on from there. Attention says: to make
# the output at place $t$, **look at every token and decide how much it counts**,
#
# $$ y_t = \sum_{j} \alpha_{t,j}\, v_j, \qquad \alpha_{t,j} > 0, \quad \sum_j \alpha_{t,j} = 1 . $$
#
# The row $v_j$, with $d_v$ features, is what token $j$ hands over: its **value**. The number
# $\alpha_{t,j}$ is its share of the output at $t$: a **weight** of attention. (A model that writes
# from left to right lets $j$ run up to $t$ only; theory 04 does that with a mask.) Nothing is
# squeezed: the past stays there to be looked at.

# %% [markdown] lang="en"
# The shares are no fixed table. A small network works them out on the spot, from what the tokens
# *are*: it gives each pair a **score** $s_{t,j}$, and the shares are proportional to $e^{s}$,
#
# $$ \alpha_{t,j} = \frac{e^{s_{t,j}}}{\sum_i e^{s_{t,i}}} . $$
#
# A higher score gets more. (Theory 02 says why $e$.) That network is a few learnable matrices;
# theory 01 builds it. The matrices stay, the shares change with content. Here one matrix,
# untrained and so random, shares out the attention of the comma in `I work ,` and in `you work ,`.
# (`X` has a row of seven features for each token of our example.)

# %%
form = np.random.default_rng(1).normal(size=(7, 7))  # a number for each pair of features


def look(x):
    """Return the shares of each token of x (T, 7) in each other, (T, T)."""
    return np.array([row / row.sum() for row in np.exp(x @ form @ x.T)])


for prefix in (slice(0, 3), slice(3, 6)):
    print(TOKENS[prefix], look(X[prefix])[-1].round(2))

# %% [markdown] lang="en"
# ## One direct path
#
# Change $v_j$ by a small row $\delta$. Only one term of the sum changes, so $y_t$ changes by
# $\alpha_{t,j}\,\delta$:
#
# $$ \frac{\partial y_t}{\partial v_j} = \alpha_{t,j}\, I . $$
#
# **One** factor, whether $j$ is next door or a hundred places away. (Token $j$ acts through its
# scores too: as short a way.) A share can be small, $1/T$ among $T$ tokens alike; but content
# decides that, not distance.
#
# **Question for the picture: how strong is the path to a token 10, 50, 100 places back?** For
# attention, nudge one value and *measure* how far the output moves: once with equal scores, once
# with a score higher by 8 for that token. Beside it, the recurrence and gates of $f = 0.99$.

# %%
values = rng.normal(size=(101, 4))  # (S, d_v), the last token stands at place 100


def path(back, extra):
    """Nudge the value `back` places before the last; return by how much of it the output moves."""
    scores = np.zeros(101)
    scores[100 - back] += extra
    share = np.exp(scores) / np.exp(scores).sum()
    nudged = values.copy()
    nudged[100 - back] += 0.001
    before, after = (np.average(v, axis=0, weights=share) for v in (values, nudged))
    return (after - before)[0] / 0.001


# %%
lines = {
    "attention, asked for": np.array([path(back, 8) for back in steps]),
    "attention, all alike": np.array([path(back, 0) for back in steps]),
    "gated, f = 0.99": 0.99**steps,
    "tanh, radius 1.1": stretches(1.1, with_tanh=True),
}
ends = ", ".join(f"{line[-1]:.2g} ({name})" for name, line in lines.items())
figure(
    curves(steps, lines, xlabel="places back", ylabel="slope of the path", log="y"),
    alt="Slope of the path against distance. Attention gives two level lines, the gated path falls "
    "slowly, the recurrence falls fast.",
    caption=f"{steps[-1]} places back: {ends}. Distance does not enter into attention's.",
)

# %% [markdown] lang="en"
# Attention made a new kind of model possible, the **Transformer**: layers of it, no recurrence. It can
# use thousands of tokens of context: from token 1000 to token 1, the gradient passes a single weight.
#
# ## All places at once
#
# All scores are one product; all outputs are one more, weights by values,
# $(T,S)\cdot(S,d_v) \to (T,d_v)$. (Here tokens look at each other, so $S = T$.) No place waits for
# another. Instead of a loop over $T$ there are two large products, which cores, GPUs and TPUs can
# share out.
#
# **Question for the picture: what does waiting cost?** The same multiplications, once in a loop in
# which each step needs the one before, once in a single product.

# %%
w = rng.normal(size=(16, 16)) / 4


def loop(x):
    """Step through x (T, 16), each step waiting for the one before."""
    h = np.zeros(16)
    for row in x:
        h = np.tanh(h @ w + row)


def together(x):
    """Do the multiplications of `loop` in one product: no row needs another."""
    np.tanh(x @ w + x)


# %%
def quickest(run, x):
    """Time run(x) a few times, in milliseconds; the quickest is the one least disturbed."""
    times = []
    for _ in range(15):
        start = time.perf_counter()
        run(x)
        times.append(1000 * (time.perf_counter() - start))
    return min(times)


# %%
lengths = 2 ** np.arange(5, 11)
texts = [rng.normal(size=(length, 16)) for length in lengths]
names = {"a loop over T": loop, "one product": together}
times = {name: np.array([quickest(run, x) for x in texts]) for name, run in names.items()}
slow, fast = (line[-1] for line in times.values())

# %%
figure(
    curves(lengths, times, xlabel="T, tokens", ylabel="milliseconds", log="xy"),
    alt="Time against the number of tokens, on log axes, for a loop and for one product.",
    caption=f"On this machine, just now: {lengths[-1]} tokens took {slow:.2g} ms in a loop and "
    f"{fast:.2g} ms in one product, a ratio of {slow / fast:.2g}.",
)

# %% [markdown] lang="en"
# Part of the gap is Python's own slowness in loops. The rest is the point: ten thousand cores can
# share one product; steps that wait cannot be shared. Attention is not free, though. It scores
# $T^2$ pairs, so over a long text it multiplies *more* than a recurrence, and on few cores may even
# take longer. Theory 04 counts that.

# %% [markdown] lang="en"
# ## A dictionary with slopes
#
# A Python dictionary takes a key and returns its value; the key is there or it is not. Attention is
# a soft dictionary. A **query** says what is looked for, a **key** what a token can be found by;
# the score says how well they match (a dot product, as theory 01 shows). It returns a mixture of
# all values.
#
# One share of 1 and the rest 0 is the hard lookup again. Equal shares give the mean. In between it
# moves smoothly.

# %% [markdown] lang="en"
# **Why softness makes it learnable.** Take one query, and differentiate
# $y = \sum_i e^{s_i} v_i \,/ \sum_i e^{s_i}$ by one score (quotient rule):
#
# $$ \frac{\partial y}{\partial s_j}
#    = \frac{e^{s_j} v_j}{\sum_i e^{s_i}} - \frac{e^{s_j}}{\sum_i e^{s_i}}\, y
#    = \alpha_j\,(v_j - y), \qquad \frac{\partial y}{\partial v_j} = \alpha_j . $$
#
# A better match with $j$ moves the output towards $v_j$. So keys can learn to match the right
# queries, and values to carry the right content.
#
# **By hand.** Let $e^{s} = 1, 2, 1$ and the values be $8, 0, 4$. The shares are
# $\tfrac14, \tfrac12, \tfrac14$, so $y = 2 + 0 + 1 = 3$, and the first score's slope is
# $\tfrac14 (8 - 3) = \tfrac54$.

# %% [markdown] lang="en"
# **Question for the picture: which way should a query turn to find more?** Keys at 0°, 90° and
# 180° have the values 1, 3 and 2. All have length 1, so a score is the cosine of an angle. Divided
# by a small **temperature**, scores lie further apart: a harder choice.

# %%
angles = np.arange(0, 181, 5.0)  # of the query, in degrees
match = np.cos(np.deg2rad(angles[:, None] - [0, 90, 180]))  # (n, 3)
hard = np.select([angles < 45, angles < 135], [1.0, 3.0], 2.0)
hard[np.isin(angles, [45, 135])] = np.nan  # two keys match alike
found = {"hard": hard}
for temperature in (1, 0.2):
    sizes = np.exp(match / temperature)
    mixed = (sizes * [1, 3, 2]).sum(axis=1)
    found[f"soft, temperature {temperature:g}"] = mixed / sizes.sum(axis=1)
rise = [(line[5] - line[3]) / 10 for line in found.values()]  # from 15° to 25°

# %%
figure(
    curves(angles, found, xlabel="direction of the query, degrees", ylabel="value found"),
    alt="Value found against the direction of the query. The hard lookup makes three level steps, "
    "the soft ones are smooth curves.",
    caption=f"At 20° the slopes are {rise[0]:g} (hard), {rise[1]:.3f} and {rise[2]:.3f} a degree. "
    "Above 0 means: turn on, towards 90°. The hard lookup is level until it jumps, and never tells.",
)

# %% [markdown] lang="en"
# ## The worked example
#
# | place | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
# |---|---|---|---|---|---|---|---|---|
# | token | `I` | `work` | `,` | `you` | `work` | `,` | `he` | `___` |
#
# At place 7 belongs *works*. What would an ideal **head** (one set of shares) look at from there?
#
# * The **subject**, for the person: `he`, at 6.
# * The **stem**: `work`, at 4 or at 1. Either will do as a template; 4 is nearer.
# * The **tense**: no *will*, no *going to*, only bare verbs after pronouns. That is the present.
#
# So: most on 6 and 4, some on 1, little on 2, 3 and 5, the commas and the `you` that is done with.

# %% [markdown] lang="en"
# **Question for the picture: does an untrained head look there?** The top row is set by hand: a
# wish, not a result. Below it, the blank's row for four draws of random matrices. **Untrained
# attention is random.** Whether training finds the wish is for a later part.

# %%
wish = np.array([3, 14, 3, 3, 25, 3, 46, 3]) / 100
drawn = [np.random.default_rng(seed).normal(size=(2, 7, 4)) for seed in range(1, 5)]
rows = np.array([wish, *(shares(w_q, w_k)[BLANK] for w_q, w_k in drawn)])  # (5, S)
most = [f"`{TOKENS[row.argmax()]}`" for row in rows[1:]]

# %%
names = ["a wish", *(f"untrained, seed {seed}" for seed in range(1, 5))]
places = [f"{token} {s}" for s, token in enumerate(TOKENS)]
said = reading(rows[:1], 0, ["___"], TOKENS)
figure(
    heatmap(rows, names, places, title="the blank's row"),
    alt=f"Five rows of shares for the blank. The one by hand: {said} The other four are random.",
    caption=f"As wished: {said} Untrained, the most goes to {', '.join(most)}: "
    f"{len(set(most))} different tokens in {len(most)} draws.",
)

# %% [markdown] lang="en"
# ## Several patterns side by side
#
# One row of shares is one average: one pattern. So a layer has several heads, each with matrices of
# its own, and lays their outputs side by side. One may look for the subject, one for the auxiliary
# (`will`), one across languages: after `I work / yo` comes *trabajo*, and `work` says so.
#
# That is *room* for specialists, not a promise that training uses it so. The small GPT (a network
# that writes) of a later part has four heads; at that size they specialise in part only, and
# reading heads one by one is a subject of research. Theory 03 has more.

# %% [markdown] lang="en"
# ## Order is not seen
#
# A score depends on *what* stands at $t$ and at $j$, never on *where*. Shuffle the tokens, and the
# outputs are shuffled alike; nothing else changes. Attention is **equivariant** under
# permutations. For grammar that is a disaster. Below are three orders of the same tokens. In the
# second the right word is *work*; the third is no sentence. Each token hands over its own row:
# pronoun, verb, comma, blank; first, second, third person. Guess what the blank receives in each.

# %%
orders = [range(8), [6, 1, 2, 3, 4, 5, 0, 7], [2, 6, 5, 3, 1, 0, 4, 7]]
for order in map(list, orders):
    received = np.average(X[order], axis=0, weights=look(X[order])[-1])  # (7,)
    print(" ".join(TOKENS[s] for s in order), "->", received.round(3))

# %% [markdown] lang="en"
# **Question for the picture: what happens to the map when `I` and `he` change places?**

# %%
swapped = orders[1]
pair = {TOKENS: look(X), tuple(TOKENS[s] for s in swapped): look(X[swapped])}
plain, moved = pair.values()
apart = np.abs(moved - plain[np.ix_(swapped, swapped)]).max()
said = [reading(weights, BLANK, order) for order, weights in pair.items()]

# %%
_, axes = plt.subplots(1, 2, figsize=(12.5, 4.6), layout="constrained")
for ax, (order, weights) in zip(axes, pair.items()):
    heatmap(weights, order, ax=ax, title=" ".join(order))
figure(
    axes,
    alt=f"Two maps of an untrained, random layer. Left: {said[0]} Right: {said[1]}",
    caption="Untrained, so random: only the change counts. The rows and the columns of `I` and `he` "
    f"have changed places. Apart from that, no entry differs by more than {apart:.0e}.",
)

# %% [markdown] lang="en"
# So positions must be added, in a later part; this part builds the core that does not see them.
# Both are needed. Not even the wish above can be had without: its two equal `work` get different
# shares.
#
# ## What is not here
#
# | what | where |
# |---|---|
# | training, and whether the wish comes true | a later part: training |
# | positions | a later part: positions |
# | the small GPT | a later part |
# | flash, paged and sparse attention | a later part; here the plain $O(T^2)$ form, on purpose, so that they have something to beat |
# | comparison with PyTorch | `make peers`, for instructors; here we check against cases worked by hand |
# | cross-attention: same equation, queries from one sequence, keys and values from another | in this line only: the small GPT does not need it |
#
# ## The path
#
# | read | then build |
# |---|---|
# | theory 00, why; theory 01, why three matrices | lab 00, query, key, value |
# | theory 02, the whole equation and its $\sqrt{d_k}$ | lab 01, scaled dot-product |
# | theory 03, several heads | lab 02, multi-head |
# | theory 04, masks | lab 03, masking |
#
# In the end you should feel three things. The **equation** $\text{softmax}(QK^\top/\sqrt{d_k})\,V$
# reads as a sentence: compare all pairs, turn that into shares, mix the values. The **square root**
# has a reason, and you can derive it. **Heads** are room to specialise.
#
# Do not skim: later parts import the code you write and lean on these derivations.

# %% [markdown] lang="en"
# ## Questions
#
# **1. Why exactly did attention replace recurrence?** (If your answer has one reason only, go
# back.)
#
# <details><summary>Answer</summary>
#
# *The gradient.* Over $T - t$ places a recurrence multiplies $T - t$ Jacobians, and the product
# vanishes or explodes. In attention $\partial y_t/\partial v_j = \alpha_{t,j} I$: one factor at any
# distance.
#
# *Time.* $h_t$ waits for $h_{t-1}$: $T$ steps in a row. Attention works out all places at once, in
# a few matrix products. Gates mend the first fault, not the second.
#
# And nothing has to fit into one state of fixed size.
#
# </details>

# %% [markdown] lang="en"
# **2. Can the direct path be weak?**
#
# <details><summary>Answer</summary>
#
# Yes: it is as strong as the share, and a bad match gets a small one. But a model can learn to
# match better. In a recurrence, distance decides.
#
# </details>
#
# **3. Why not simply take the value with the best match?**
#
# <details><summary>Answer</summary>
#
# Nudge a key: the winner stays, nothing moves. A slope of 0 teaches nothing. The soft one is
# $\alpha_j (v_j - y)$.
#
# </details>

# %% [markdown] lang="en"
# **4. What does the blank of `he work , you work , I ___` receive, compared with the worked
# example?**
#
# <details><summary>Answer</summary>
#
# The same: scores do not depend on places. So nothing built on it can answer *work* here and
# *works* there.
#
# </details>
#
# **Next:** theory 01, then lab 00.
