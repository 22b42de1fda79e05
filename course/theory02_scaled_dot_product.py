# ---
# jupyter:
#   reading:
#     title: Scaled dot-product attention
#     minutes: 10-15
# ---

# %% [markdown] lang="en"
# # Theory 02 · Scaled dot-product attention
#
# **Why is there a square root in attention?**
#
# Lab 00 made queries, keys and values, and mixed values by shares. This text derives the whole
# formula: why dot products, why exponentials, why $\sqrt{d_k}$, and what a computer makes of it.
# Read it with paper at hand, before lab 01, in 10–15 minutes, and leave *When an assumption fails*
# and *The way back* for a second reading. You need matrix products and a little probability.
#
# Letters as in the labs: `T` queries, `S` keys, `d_k` features of a query or key, `d_v` features of
# a value. Nothing here is trained: what is drawn at random means nothing, and only its *size* is
# looked at.

# %%
import warnings
from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import Markdown

from attnlab.plots import curves, figure, heatmap

# %% [markdown] lang="en"
# ## The formula is a sentence
#
# $$ \text{out} = \underbrace{\text{softmax}\!\left(\frac{QK^\top}{\sqrt{d_k}}\right)}_{A} V $$
#
# *Compare every query with every key, turn each row of comparisons into shares, and use the shares
# as weights for the values.* Each piece does one job:
#
# | step | job | shapes |
# |---|---|---|
# | $QK^\top$ | similarity of every pair | $(T,d_k)\cdot(d_k,S)\to(T,S)$ |
# | $Z = QK^\top/\sqrt{d_k}$ | a common size, whatever $d_k$ | $(T,S)\to(T,S)$ |
# | $A = \text{softmax}(Z)$ | shares: each row is positive and sums to 1 | $(T,S)\to(T,S)$ |
# | $AV$ | weighted sums of values | $(T,S)\cdot(S,d_v)\to(T,d_v)$ |
#
# Softmax works on each row $z$ of $Z$ alone: with $p$ for that row of $A$,
#
# $$ p_j = \frac{e^{z_j}}{\sum_i e^{z_i}} . $$
#
# No row waits for another: all of it is two large matrix products with a little work between.

# %% [markdown] lang="en"
# ## A case by hand
#
# Three queries, three keys, $d_k = 4$, so $\sqrt{d_k} = 2$, and $d_v = 2$:
#
# $$ Q = \begin{bmatrix} 2&0&0&0\\0&2&0&0\\0&0&2&0 \end{bmatrix},\quad
#    K = \begin{bmatrix} \ln 1&\ln 4&\ln 2&1\\ \ln 2&\ln 1&\ln 6&-1\\ \ln 3&\ln 3&\ln 1&2
#    \end{bmatrix},\quad V = \begin{bmatrix} 6&0\\0&24\\18&9 \end{bmatrix} . $$
#
# **Step 1.** Query 0 meets key 1: $2\cdot\ln 2 + 0 + 0 + 0 = 2\ln 2$. Nobody asks for the last
# feature, so it never counts. All nine:
#
# $$ QK^\top = \begin{bmatrix} 2\ln 1&2\ln 2&2\ln 3\\ 2\ln 4&2\ln 1&2\ln 3\\ 2\ln 2&2\ln 6&2\ln 1
#    \end{bmatrix} . $$
#
# **Step 2.** Halved, these are plain logarithms: row 0 of $Z$ is $[\ln 1, \ln 2, \ln 3]$.
#
# **Step 3.** $e^{\ln n} = n$, so softmax divides whole numbers by the sum of their row:
#
# $$ A = \begin{bmatrix} \tfrac16&\tfrac13&\tfrac12\\[2pt] \tfrac12&\tfrac18&\tfrac38\\[2pt]
#    \tfrac29&\tfrac23&\tfrac19 \end{bmatrix} . $$
#
# **Step 4.** Row 0 mixes the rows of $V$:
#
# $$ \tfrac16\,[6, 0] + \tfrac13\,[0, 24] + \tfrac12\,[18, 9]
#    = [1 + 0 + 9,\; 0 + 8 + \tfrac92] = [10, \tfrac{25}{2}] . $$
#
# The cell below does it all in exact fractions and in floats.
#
# **Question for the picture: is a row's largest score always its largest weight?**

# %%
E = [[1, 2, 3], [4, 1, 3], [2, 6, 1]]  # e to the scaled scores
v = np.array([[6, 0], [0, 24], [18, 9]])  # (S, d_v)
exact = [[Fraction(n, sum(row)) for n in row] for row in E]
out = np.array(exact) @ v  # (T, d_v), still fractions
print(*("out: " + ", ".join(map(str, row)) for row in out), sep="\n")
q = np.hstack([2 * np.eye(3), np.zeros((3, 1))])  # (T, d_k)
k = np.hstack([np.log(E).T, [[1], [-1], [2]]])  # (S, d_k)
z = q @ k.T / 2  # (T, S)
a = np.array([np.exp(row) / sum(np.exp(row)) for row in z])
assert np.allclose(a, np.array(exact, float)) and np.allclose(a @ v, out.astype(float))

# %%
_, axes = plt.subplots(1, 2, figsize=(8, 2.9), layout="constrained")
names = ["query 0", "query 1", "query 2"], ["key 0", "key 1", "key 2"]
heatmap(z, *names, ax=axes[0], title="scaled scores", limits=(0, 2))
heatmap(a, *names, ax=axes[1], title="weights")
same = np.sum(z.argmax(axis=1) == a.argmax(axis=1))
figure(
    axes,
    alt=f"Scaled scores and weights of three queries. In {same} of 3 rows both peak at one key.",
    caption=f"Yes, in {same} of 3 rows: softmax keeps the order. But equal scores need not be "
    f"equal weights: key 2 scores {z[0, 2]:.2f} with queries 0 and 1, and weighs {a[0, 2]:.2f} and "
    f"{a[1, 2]:.2f}. A row is shared out among its own keys.",
)

# %% [markdown] lang="en"
# ## Why a dot product?
#
# $$ q\cdot k = \sum_{i=1}^{d_k} q_i k_i = |q|\,|k|\cos\theta $$
#
# * **It asks feature by feature.** $q_i$ says how much feature $i$ is wanted, $k_i$ how much is on
#   offer. Nothing wanted or nothing offered: nothing counted.
# * **All pairs are one matrix product.** A small network for each pair, used first, costs more.
# * **Its slopes are simple**: $k$ with respect to $q$, and $q$ with respect to $k$.
#
# Length counts as well as angle: twice the key, twice the score.

# %% [markdown] lang="en"
# ## Why exponentials?
#
# Shares $p_j=f(z_j)/\sum_i f(z_i)$ need a positive $f$, which should rise smoothly. And if all keys
# have something in common, all scores of a query rise by the same $c$. That says nothing about which
# key is better, so the ratio of two weights should depend only on the **difference** of their
# scores. Scores $a+c$ and $c$ differ as $a$ and $0$ do:
#
# $$ \frac{f(a + c)}{f(c)} = \frac{f(a)}{f(0)} \quad\text{for all } a, c . $$
#
# Write $h(a) = f(a)/f(0)$ and multiply both sides by $h(c)$:
#
# $$ h(a + c) = h(a)\,h(c) . $$
#
# So $h(2) = h(1)^2$, $h(\tfrac12)^2 = h(1)$, and in this way $h(a) = h(1)^a$ for every fraction
# $a$; being continuous, for every number. With $\beta = \ln h(1)$, positive because $h$ rises,
# $f(a) = f(0)\,e^{\beta a}$. **Nothing but an exponential will do.**

# %% [markdown] lang="en"
# The factor $f(0)$ cancels in the shares. One choice is left, $\beta$, usually written $1/\tau$
# with the **temperature** $\tau > 0$. Three consequences, for
# $p_j = e^{z_j/\tau}/\sum_i e^{z_i/\tau}$:
#
# $$ \frac{p_j}{p_i} = e^{(z_j - z_i)/\tau}, \qquad
#    \frac{e^{(z_j+c)/\tau}}{\sum_i e^{(z_i+c)/\tau}}
#    = \frac{e^{c/\tau}\,e^{z_j/\tau}}{e^{c/\tau}\sum_i e^{z_i/\tau}} = p_j, $$
#
# and, for $\tau = 1$, with $\ell(z) = \ln\sum_i e^{z_i}$ for short, $\ln p_j = z_j - \ell(z)$.
#
# In attention $\sqrt{d_k}$ stands where $\tau$ stands: **it is a temperature, fixed in advance.**

# %% [markdown] lang="en"
# ## The two ends of the temperature
#
# Let $z_m$ be the only largest score. For any other key $p_j/p_m=e^{-(z_m-z_j)/\tau}$.
#
# * $\tau\to0$: this goes to 0, so $p_m\to1$: the **hard lookup**.
# * $\tau\to\infty$: this goes to 1, so each weight to $1/S$: the **plain mean**.
#
# Between them the lookup moves smoothly, so it can be learned. By hand, query 1: at
# $\tau=\tfrac12$ each $e^{z_j}$ is squared, $[4,1,3]/8\to[16,1,9]/26$.
#
# The **entropy** $-\sum_j p_j\log_2 p_j$, in bits, says how undecided a row is: 0 for one weight of
# 1 (with $0\log_2 0=0$), and $\log_2 S$, the most, for equal weights. In natural logarithms, by
# $\ln x\le x-1$ at $x=1/(S\,p_j)$:
#
# $$ \Big(-\sum_j p_j\ln p_j\Big) - \ln S = \sum_j p_j\ln\frac{1}{S\,p_j}
#    \le \sum_j\Big(\frac1S - p_j\Big) = 0 . $$
#
# **Question for the picture: where is query 1 nearly decided, and where nearly indifferent?**

# %%
temperatures = 2.0 ** np.arange(-4, 6)
powers = [np.array([4.0, 1.0, 3.0]) ** (1 / tau) for tau in temperatures]
rows = np.array([power / sum(power) for power in powers])  # (n, S)
entropy = -np.sum(rows * np.log2(rows), axis=1)  # (n,)
decided = temperatures[rows.max(axis=1) > 0.9].max()
even = temperatures[entropy > 0.99 * np.log2(3)].min()
_, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
lines = {f"key {j}": rows[:, j] for j in range(3)}
curves(temperatures, lines, xlabel="temperature", ylabel="weight", log="x", ax=axes[0])
bits = {"entropy": entropy}
curves(temperatures, bits, xlabel="temperature", ylabel="entropy, bits", log="x", ax=axes[1])
axes[1].set_ylim(bottom=0)
words = (
    f"At temperature {decided:g} and below, key 0 has more than 0.9; from {even:g} on, the entropy "
    f"is within 1 % of its most, {np.log2(3):.3f} bits."
)
figure(axes, alt=f"Three weights and their entropy against the temperature. {words}", caption=words)

# %% [markdown] lang="en"
# ## How large is a score?
#
# Before training we know nothing of a query and a key but how they are drawn. Assume:
#
# * **mean 0**: $E[q_i] = E[k_i] = 0$;
# * **variance 1**: $E[q_i^2] = E[k_i^2] = 1$, given mean 0;
# * **strangers**: $q$ is independent of $k$;
# * **no echo**: different entries of $q$ are independent of each other, and those of $k$ too.
#
# **1. Mean.** A mean of a sum is the sum of the means, always. Then *strangers*, then *mean 0*:
#
# $$ E[q\cdot k] = \sum_i E[q_i k_i] = \sum_i E[q_i]\,E[k_i] = 0 . $$
#
# **2. One product.** Its mean is 0 by line 1; then *strangers*; then *variance 1*:
#
# $$ \text{Var}(q_i k_i) = E[q_i^2 k_i^2] = E[q_i^2]\,E[k_i^2] = 1 . $$

# %% [markdown] lang="en"
# **3. Two products**, $i\ne j$. Their means are 0 by line 1, so this is their covariance.
# *Strangers* parts $q$ from $k$; *no echo* parts $i$ from $j$; then *mean 0*:
#
# $$ E[q_i k_i\,q_j k_j] = E[q_i q_j]\,E[k_i k_j] = E[q_i]E[q_j]\,E[k_i]E[k_j] = 0 . $$
#
# **4. The sum.** Square it out: line 2 for the squares, line 3 for the cross terms:
#
# $$ \text{Var}(q\cdot k) = \sum_i\text{Var}(q_i k_i) + \sum_{i\ne j} E[q_i k_i\,q_j k_j] = d_k . $$
#
# **5. The root.** $\text{Var}(s/c) = \text{Var}(s)/c^2$, which is 1 for $c = \sqrt{d_k}$. Variances
# add, and a variance is a square: that is where the root comes from. Normal distributions were not
# needed.

# %% [markdown] lang="en"
# **By hand.** One query $q = [2, 1]$; a key of two fair coins $\pm1$. Four keys, four scores:
#
# | key | $[1,1]$ | $[1,-1]$ | $[-1,1]$ | $[-1,-1]$ |
# |---|---|---|---|---|
# | score | $3$ | $1$ | $-1$ | $-3$ |
#
# The variance is $(9+1+1+9)/4 = 5 = 2^2 + 1^2$: for a *given* query line 2 reads $q_i^2\cdot1$, so
# the sum is $|q|^2$, whose mean is $d_k$ by *variance 1*. Now let the second coin repeat the first:
# scores $3$ and $-3$, variance $9 = 5 + 4$. The $4$ is the cross terms, which *no echo* made 0:
# $2\,q_1q_2\,E[k_1k_2] = 2\cdot2\cdot1\cdot1$.
#
# On logarithmic axes a power $d_k^{\,a}$ is a line of slope $a$. **Question for the picture: which
# divisor makes the line level?** Predict three slopes first.

# %%
sizes = 2 ** np.arange(11)  # d_k = 1, 2, 4, ..., 1024
asks, offers = np.random.default_rng(0).standard_normal((2, 4000, 1024))  # 4000 pairs
sums = np.cumsum(asks * offers, axis=1)[:, sizes - 1]  # (pairs, 11): the first d_k products
divisors = {"not divided": 0.0, "divided by √d_k": 0.5, "divided by d_k": 1.0}  # powers of d_k
spread = {name: sums.std(axis=0) / sizes**power for name, power in divisors.items()}


def slope(y, x=sizes):
    """Fit a line on logarithmic axes and write its slope down."""
    return f"{np.polyfit(np.log(x), np.log(y), 1)[0].round(2) + 0.0:.2f}"


# %%
text = ", ".join(f"{name} {slope(y)}" for name, y in spread.items())
figure(
    curves(sizes, spread, xlabel="d_k", ylabel="standard deviation of the scores", log="xy"),
    alt=f"Standard deviation of scores against d_k for three divisors. Fitted slopes: {text}.",
    caption=f"Fitted slopes: {text}. At d_k = 1024 the standard deviations are "
    f"{', '.join(f'{y[-1]:.3g}' for y in spread.values())}.",
)

# %% [markdown] lang="en"
# Divided by $d_k$, scores fade like $1/\sqrt{d_k}$, and all weights go to $1/S$: the plain mean,
# whatever the keys offer.
#
# ### When an assumption fails
#
# * **Mean $\mu$ instead of 0**, in both: $E[q_i^2] = 1+\mu^2$. Line 2 becomes
#   $(1+\mu^2)^2 - \mu^4 = 1 + 2\mu^2$; the covariances of line 3 stay 0. So
#   $\text{Var} = (1 + 2\mu^2)\,d_k$.
# * **Echo**, with mean 0: $E[q_i q_j] = E[k_i k_j] = \rho$ for $i\ne j$. Line 3 gives $\rho^2$ for
#   each of $d_k(d_k-1)$ pairs: $\text{Var} = d_k + \rho^2 d_k(d_k-1)$.
# * **Not strangers**: let $k = q$. Then the score is $|q|^2$, with mean $d_k$, not 0.
#
# **Question for the picture: which failure changes the slope?** Drawn with $\mu=1$ and $\rho=\tfrac12$.

# %%
part = np.random.default_rng(1).standard_normal((2, 4000, 1))  # shared by all entries
worlds = {
    "all hold": (asks, offers),
    "mean 1": (asks + 1, offers + 1),
    "echo ½": np.sqrt(0.5) * (part + np.array([asks, offers])),
}
variance = {
    name: np.cumsum(a * b, axis=1)[:, sizes - 1].var(axis=0) for name, (a, b) in worlds.items()
}
own = np.mean(np.cumsum(asks**2, axis=1)[:, sizes - 1], axis=0)  # k = q
derived = dict(zip(worlds, (64, 3 * 64, 64 + 64 * 63 / 4)))  # at d_k = 64

# %%
text = ", ".join(f"{name} {slope(y[4:], sizes[4:])}" for name, y in variance.items())
at = "; ".join(f"{name} {variance[name][6]:.0f} ({derived[name]:.0f})" for name in worlds)
figure(
    curves(sizes, variance, xlabel="d_k", ylabel="variance of q·k", log="xy"),
    alt=f"Variance of scores against d_k in three worlds. Slopes from d_k = 16 on: {text}.",
    caption=f"Slopes from d_k = 16 on: {text}. Measured (derived) at d_k = 64: {at}; the "
    f"rest is chance. With k = q the mean, not 0, grows: {own[6]:.1f} there, slope {slope(own)}.",
)

# %% [markdown] lang="en"
# With echo, or keys that match their queries, the right divisor would grow as $d_k$. The root is
# the answer for **strangers**.
#
# ## What large scores do to a computer
#
# $e^{z}$ outgrows every float. But by the second consequence above any $c$ may be taken off a
# row. Take $m$, the row's largest score:
#
# $$ p_j = \frac{e^{z_j - m}}{\sum_i e^{z_i - m}} . $$
#
# All exponents are at most 0, and one *is* 0. So no power exceeds 1, and the sum lies between 1 and
# $S$: no overflow, no division by 0. A power that **underflows** becomes 0. That is harmless:
# divided by at least 1, its true share is smaller than the smallest positive float.

# %%
table = ["| float | largest | $e^z$ overflows above | is 0 below about |", "|---|---|---|---|"]
for kind in (np.float16, np.float32, np.float64):
    info = np.finfo(kind)
    top, bottom = np.log(float(info.max)), np.log(float(info.smallest_subnormal))
    table.append(f"| {info.dtype} | {info.max:.3g} | {top:.2f} | {bottom:.1f} |")
over = np.mean(sums[:, 6] > np.log(float(np.finfo(np.float16).max)))
table.append(f"\nAt d_k = 64, $e^z$ of {over:.1%} of the undivided scores would overflow float16.")
Markdown("\n".join(table))

# %% [markdown] lang="en"
# The same $m$ makes $\ell$, the **log-sum-exp**, safe:
#
# $$ \ell(z) = \ln\sum_i e^{z_i} = m + \ln\sum_i e^{z_i - m}, \qquad m\le\ell(z)\le m + \ln S . $$
#
# A smooth maximum; and $p_j = e^{z_j - \ell(z)}$. NumPy has it as `np.logaddexp.reduce`. Here
# is query 2, $z = [\ln 2, \ln 6, \ln 1]$, raised by 1000: the weights must stay
# $\tfrac29, \tfrac23, \tfrac19$.

# %%
row = 1000 + np.log([2.0, 6.0, 1.0])
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    plain = np.exp(row) / sum(np.exp(row))
print("plain: ", plain, *sorted({str(warning.message) for warning in said}), sep="  ")
print("safe:  ", np.exp(row - np.logaddexp.reduce(row)).round(4))
print("exact: ", *exact[2])

# %% [markdown] lang="en"
# ## Saturation: what no trick can mend
#
# Now the arithmetic is safe, and large scores still do harm: softmax **saturates**, one weight is
# nearly 1 and hardly anything moves it. How does weight $i$ answer to score $j$? First
#
# $$ \frac{\partial\ell}{\partial z_j} = \frac{e^{z_j}}{\sum_i e^{z_i}} = p_j . $$
#
# From $\ln p_i = z_i - \ell$ follows, with $\delta_{ij} = 1$ if $i = j$ and else 0, and all slopes
# collected in the matrix $J_{ij} = \partial p_i/\partial z_j$,
#
# $$ \frac1{p_i}\frac{\partial p_i}{\partial z_j} = \delta_{ij} - p_j
#    \quad\Longrightarrow\quad J = \text{diag}(p) - p\,p^\top, \qquad (S,S) . $$
#
# By hand, query 1, $p = [\tfrac12,\tfrac18,\tfrac38]$:
#
# $$ J = \frac1{64}\begin{bmatrix} 16&-4&-12\\-4&7&-3\\-12&-3&15 \end{bmatrix} . $$
#
# Rows sum to 0: raising all scores alike changes nothing.

# %% [markdown] lang="en"
# **A decided softmax has no slope.** The size $\|J\|$ (root of the sum of the squared entries) is
# at most the sum of all $|J_{ij}|$. In each row only the diagonal, $p_i(1-p_i)$, is positive, and
# the rest makes up for it. So that sum is twice the trace:
#
# $$ \|J\|\le2\,\text{tr}\,J = 2\Big(1 - \sum_j p_j^2\Big)\le 2\,(1 - p_m^2)\le 4\,(1 - p_m) . $$
#
# As the largest weight $p_m\to 1$, all of $J$ goes to 0, and every gradient (the slopes a model
# learns from) that must pass through $J$ **vanishes**. To measure $\|J\|$, square its entries out:
#
# $$ \|J\|^2 = \sum_j p_j^2 - 2\sum_j p_j^3 + \Big(\sum_j p_j^2\Big)^2 . $$
#
# **Question for the picture: which divisor keeps the largest weight, the entropy and $\|J\|$
# level?**

# %%
rng = np.random.default_rng(2)
queries = rng.standard_normal((300, 1, 1024))  # 300 queries, each with 8 keys of its own
keys = rng.standard_normal((300, 8, 1024))
scores = np.cumsum(queries * keys, axis=2)[..., sizes - 1]  # (queries, S, 11)
weights, largest, entropy, norm = {}, {}, {}, {}
for name, power in divisors.items():
    scaled = np.moveaxis(scores / sizes**power, 2, 0)  # (11, queries, S)
    p = np.array([[np.exp(z - np.logaddexp.reduce(z)) for z in rows] for rows in scaled])
    squares, cubes = np.sum(p**2, axis=2), np.sum(p**3, axis=2)
    weights[name] = p
    largest[name] = p.max(axis=2).mean(axis=1)  # (11,)
    entropy[name] = -np.sum(p * np.log2(p + 1e-300), axis=2).mean(axis=1)
    norm[name] = np.sqrt(np.maximum(squares - 2 * cubes + squares**2, 0)).mean(axis=1)

# %%
_, axes = plt.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
shown = {"largest of 8 weights": largest, "entropy, bits": entropy, "size of J": norm}
for ax, (label, lines) in zip(axes, shown.items()):
    curves(sizes, lines, xlabel="d_k", ylabel=f"mean {label}", log="x", ax=ax)
    ax.set_ylim(bottom=0)
ends = "; ".join(
    f"{name}, {', '.join(f'{y[name][2]:.2f} to {y[name][-1]:.2f}' for y in shown.values())}"
    for name in divisors
)
change = {n: max(abs(y[n][-1] / y[n][2] - 1) for y in shown.values()) for n in divisors}
figure(
    axes,
    alt=f"Largest weight, entropy and size of J for three divisors, from d_k = 4 to 1024: {ends}.",
    caption="The most that one of the three measures changes from d_k = 4 to 1024: "
    f"{', '.join(f'{name} {y:.0%}' for name, y in change.items())}.",
)

# %% [markdown] lang="en"
# ## The way back
#
# A **loss** $L$ says how wrong a model's output is. The model learns by small steps against the
# slopes $dX = \partial L/\partial X$. Given $dO$ of shape $(T,d_v)$ for $O = AV$, a small change of
# $L$ is $\sum_{t,c} dO_{tc}\,\Delta O_{tc}$ with $\Delta O = \Delta A\,V + A\,\Delta V$. Collect
# what multiplies each entry of $\Delta A$ and $\Delta V$:
#
# $$ dV = A^\top dO\ \ (S,d_v), \qquad dA = dO\,V^\top\ \ (T,S) . $$
#
# Softmax, row by row: $dZ_{tj} = \sum_i dA_{ti}\,A_{ti}(\delta_{ij} - A_{tj})$, which is, with
# $\circ$ for entry times entry,
#
# $$ dZ = A\circ\big(dA - \text{rowsum}(dA\circ A)\big)\ \ (T,S) . $$
#
# Last, $Z = QK^\top/\sqrt{d_k}$ is a product again:
#
# $$ dQ = \frac{dZ\,K}{\sqrt{d_k}}\ \ (T,d_k), \qquad
#    dK = \frac{dZ^\top Q}{\sqrt{d_k}}\ \ (S,d_k) . $$
#
# The cell below nudges one number at a time and measures the slope.

# %%
T, S, d_k, d_v = 2, 3, 4, 5
q, k, v, d_out = (rng.normal(size=size) for size in [(T, d_k), (S, d_k), (S, d_v), (T, d_v)])
a = np.array([row / sum(row) for row in np.exp(q @ k.T / 2)])
d_a = d_out @ v.T
d_z = a * (d_a - np.sum(d_a * a, axis=1)[:, None])
gradients = {"dQ": (q, d_z @ k / 2), "dK": (k, d_z.T @ q / 2), "dV": (v, a.T @ d_out)}


def loss():
    """Sum up d_out times the output, one query at a time; its slope with the output is d_out."""
    powers = [np.exp(k @ ask / 2) for ask in q]
    return sum(felt @ (power @ v) / sum(power) for felt, power in zip(d_out, powers))


worst = dict.fromkeys(gradients, 0.0)
for name, (x, slopes) in gradients.items():
    for place in np.ndindex(x.shape):
        x[place] += 1e-5
        above = loss()
        x[place] -= 2e-5
        measured = (above - loss()) / 2e-5
        x[place] += 1e-5
        worst[name] = max(worst[name], abs(measured - slopes[place]))
Markdown("Largest errors of a slope: " + ", ".join(f"{n} {e:.0e}" for n, e in worst.items()))

# %% [markdown] lang="en"
# Read $dZ$: $dA_{tj} = dO_t\cdot v_j$, and the row sum is $dO_t\cdot O_t$, the same for the
# mixture. A score should rise if its value helps **more than the mixture does**, in proportion to
# its weight. So keys learn to match the right queries, values to carry the right content, and a key
# with no weight learns nothing.
#
# And sizes: $K$ has $d_k$ columns, so it stretches a row of $dZ$ by about $\sqrt{d_k}$.
# Divided by $c$, a query's gradient is of the order $\|J\|\sqrt{d_k}/c$:
#
# | divisor $c$ | $1$ | $\sqrt{d_k}$ | $d_k$ |
# |---|---|---|---|
# | size | $\lVert J\rVert\sqrt{d_k}$, with $\lVert J\rVert\to0$ | $\lVert J\rVert$ | $\lVert J\rVert/\sqrt{d_k}$ |
#
# **Question for the picture: what does a typical (median) query still feel of the loss?** A mean
# would speak for the few rows still undecided.

# %%
d_a = rng.standard_normal((300, 8))  # a random loss; queries and keys are those of the last picture
felt = {}
for name, power in divisors.items():
    d_z = [p * (d_a - np.sum(p * d_a, axis=1)[:, None]) for p in weights[name]]
    d_q = [(d[:, None] @ keys[..., :n])[:, 0] / n**power for d, n in zip(d_z, sizes)]
    felt[name] = [np.median(np.linalg.norm(d, axis=1)) for d in d_q]

# %%
words = ", ".join(f"{name} {y[2]:.2g} to {y[-1]:.2g}" for name, y in felt.items())
figure(
    curves(sizes, felt, xlabel="d_k", ylabel="median size of a query's gradient", log="xy"),
    alt=f"Median gradient of a query against d_k for three divisors. From 4 to 1024: {words}.",
    caption=f"From d_k = 4 to 1024: {words}. Divided by d_k, the slope from 16 on is "
    f"{slope(felt['divided by d_k'][4:], sizes[4:])}.",
)

# %% [markdown] lang="en"
# ## What the argument does not say
#
# **It holds at the start of training only.** Fresh projections are random, so queries and keys are
# strangers. Training makes them acquainted: keys come to match the queries that need them, and
# scores may grow to the order of $d_k$ and beyond. A trained row may be as decided as its
# task asks; the root only sees to it that the decision is learned and not drawn by lot.
#
# Nor does it say that no other constant works. $1/\sqrt{d_k}$ could be absorbed into $W_Q$,
# which makes the queries. Dividing keeps the start right for every $d_k$ with nothing else to set.

# %% [markdown] lang="en"
# ## Questions
#
# **1. Why is there a square root?**
#
# <details><summary>Answer</summary>
#
# A score sums $d_k$ products. For a query and a key that are independent, with independent entries
# of mean 0 and variance 1, each product has variance 1 and variances add:
# $\text{Var}(q\cdot k) = d_k$. A typical score is the root of that. Dividing by $\sqrt{d_k}$ makes
# it 1 for every $d_k$, so softmax starts neither decided, where its slopes vanish, nor indifferent,
# where keys do not matter.
#
# </details>
#
# **2. All entries have variance $\sigma^2$. What should divide the scores?**
#
# <details><summary>Answer</summary>
#
# Line 2 becomes $\sigma^4$, so $\text{Var} = \sigma^4 d_k$ and the divisor is $\sigma^2\sqrt{d_k}$.
#
# </details>

# %% [markdown] lang="en"
# **3. Subtracting the maximum cures overflow. Why not saturation?**
#
# <details><summary>Answer</summary>
#
# It changes no difference of scores, so it changes no weight, and $J$ depends on the weights alone.
#
# </details>
#
# **4. A number is added to one column of the scores. Do the weights stay?**
#
# <details><summary>Answer</summary>
#
# No. In every row that key's lead changes. Only what is added to a whole row cancels.
#
# </details>
#
# **5. Two keys weigh $\tfrac12$ each. What is the trace of $J$? And at $\tfrac9{10}$ and
# $\tfrac1{10}$?**
#
# <details><summary>Answer</summary>
#
# $1-\tfrac14-\tfrac14=\tfrac12$; then $1-\tfrac{81}{100}-\tfrac1{100}=\tfrac{18}{100}$.
#
# </details>
#
# **Next:** close this page and build it all in lab 01. Then theory 03: one row shares out one
# whole, so how can a layer look for two things at once?
