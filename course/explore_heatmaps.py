# ---
# jupyter:
#   reading:
#     title: Explore heat maps
#     minutes: 20-30
# ---

# %% [markdown] lang="en"
# # Explore · Heat maps
#
# **Who attends to whom?**
#
# 20–30 minutes. Nothing here is graded and nothing can break. Run all cells (menu *Run*, *Run All
# Cells*), then look, push sliders, and write a sentence of your own. The grey boxes are code; skip
# whatever you do not care to read.
#
# Two kinds of layer appear. In one, every number was **set by hand** to make a pattern we wish for. In
# the other, the numbers are **untrained: drawn at random**, and so is what they show. Nothing on this
# page was learned from data.

# %%
import re
import unicodedata
import zlib
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
from ipywidgets import Checkbox, FloatLogSlider, IntSlider, SelectionSlider, interact

from attnlab import own
from attnlab.entropy import entropy
from attnlab.example import BLANK
from attnlab.head_view import HeadView
from attnlab.plots import entropy_bars, figure, heatmap, panels, reading, save
from attnlab.style import MOST_NUMBERED
from attnlab.tables import weights_table

# %% [markdown] lang="en"
# ## How to read a map
#
# To fill the blank in *I work, you work, he ___*, look back at the subject, `he`, and at the verb,
# `work`. Here is that wish as a table of **weights**, written down by hand: a row is a token that looks
# (a *query*), a column a token that is looked at (a *key*). Read along a row: it sums to 1. (Here every
# token but the blank looks most at itself.)
#
# **Question for the picture: whom does the blank look at, and whom hardly at all?** Its row is the
# last.

# %%
tokens = ["I", "work", ",", "you", "work", ",", "he", "___"]
wish = np.full((8, 8), 0.08) + 0.36 * np.eye(8)
wish[BLANK] = [0.03, 0.2, 0.03, 0.03, 0.2, 0.03, 0.45, 0.03]
panels(
    ("set by hand", wish, tokens, BLANK),
    note=f"Each `work` gets {wish[BLANK, 1]:.2f}, every other token {wish[BLANK, 0]:.2f}.",
)

# %% [markdown] lang="en"
# ## The functions behind it
#
# The maps below are worked out by the functions you build in labs 02 and 03. Here are right versions,
# short. You need not understand them to enjoy the pictures. In every mask **True means: may attend**.

# %%
def causal_mask(T):
    return np.tril(np.ones((T, T), dtype=bool))  # (T, T)


def padding_mask(lengths, S):
    return np.arange(S) < np.asarray(lengths)[:, None, None]  # (B, 1, S)


# %%
def masked_attention(q, k, v, mask=None):
    """Return out (..., T, d_v) and weights (..., T, S); a row with nothing allowed is all zeros."""
    scores = q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1])  # (..., T, S)
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    top = np.max(scores, axis=-1, keepdims=True, where=allowed, initial=-1e300)
    e = np.where(allowed, np.exp(np.minimum(scores - top, 0)), 0)
    total = e.sum(axis=-1, keepdims=True)
    weights = e / np.where(total == 0, 1, total)
    return weights @ v, weights


# %%
class MultiHeadAttention:
    def __init__(self, d_model=8, n_heads=1, seed=0):
        drawn = np.random.default_rng(seed).normal(size=(4, d_model, d_model)) / np.sqrt(d_model)
        self.w_q, self.w_k, self.w_v, self.w_o = drawn
        self.n_heads = n_heads

    def forward(self, x, mask=None):
        """Return out (T, d_model) and weights (H, T, T)."""
        T, d_model = x.shape
        cut = [
            (x @ w).reshape(T, self.n_heads, -1).swapaxes(0, 1)  # (H, T, d_head)
            for w in (self.w_q, self.w_k, self.w_v)
        ]
        found, weights = masked_attention(*cut, mask)
        return found.swapaxes(0, 1).reshape(T, d_model) @ self.w_o, weights


# %% [markdown] lang="en"
# **Your own, if you have them.** `attnlab export` writes one `attention.py` from your four labs. When it
# lies beside this notebook, or in one of the two folders above, everything below is worked out with
# *your* functions. They are all called through one name, `labs`; to go back, write `labs = given`.

# %%
given = SimpleNamespace(
    causal_mask=causal_mask,
    padding_mask=padding_mask,
    masked_attention=masked_attention,
    MultiHeadAttention=MultiHeadAttention,
)

# %%
try:
    labs = own.load()
    print("In use: your own functions, from", labs.__file__)
except FileNotFoundError as missing:
    labs = given
    print("In use: the right versions given above.", missing, sep="\n")

# %% [markdown] lang="en"
# ## Tokens as numbers one can read
#
# Each token becomes a row of features that a person can check: `first`, `second` and `third` are the
# persons of grammar, `small` is a word like *the*, every sign is a `separator`, and `place` is 0 for
# now. A word that is not in the table has none of them: only three numbers drawn from its **spelling**,
# always the same for the same word. They tell words apart and say nothing of their meaning.

# %%
FEATURES = [
    *("pronoun", "verb", "noun", "adjective", "animate", "first", "second", "third"),
    *("small", "separator", "blank", "spanish", "place", "spelling 0", "spelling 1", "spelling 2"),
]
D_MODEL = len(FEATURES)

# %%
WORDS = {
    "I": "pronoun animate first", "you": "pronoun animate second", "he": "pronoun animate third",
    "work": "verb", "the": "small", "cat": "noun animate third", "sat": "verb",
    "yo": "pronoun animate first spanish", "trabajo": "verb spanish", "el": "small spanish",
    "animal": "noun animate third spanish", "no": "small spanish", "cruzó": "verb spanish",
    "la": "small spanish", "calle": "noun third spanish", "porque": "small spanish",
    "estaba": "verb spanish", "demasiado": "small spanish", "cansado": "adjective spanish",
    "___": "blank", "·": "",
}  # fmt: skip

# %%
def kinds(token):
    """Return the names of a token's features, or None for an unknown word."""
    for known in (token, token.lower(), token.capitalize()):
        if known in WORDS:
            return WORDS[known].split()
    return None if re.search(r"\w", token) else ["separator"]


# %%
def sentence(text):
    """Return the tokens of a text and their features, (T, d_model)."""
    text = re.sub(r"__+", " ___ ", unicodedata.normalize("NFC", text))  # a blank of any length
    tokens = re.findall(r"\w+(?:['’]\w+)*|[^\w\s]", text)
    x = np.zeros((len(tokens), D_MODEL))
    for t, token in enumerate(tokens):
        if kinds(token) is None:
            drawn = np.random.default_rng(zlib.crc32(token.lower().encode())).normal(size=3)
            x[t, -3:] = drawn / np.linalg.norm(drawn)
        for name in kinds(token) or []:
            x[t, FEATURES.index(name)] = 1.0
    return tokens, x


# %% [markdown] lang="en"
# **Question for the picture: which tokens of the example are the same row, number for number?**

# %%
tokens, x = sentence("I work , you work , he ___")
same = [(tokens[t], t, s) for t in range(8) for s in range(t) if np.array_equal(x[t], x[s])]
used = [f for f in range(D_MODEL) if x[:, f].any()]
names = [FEATURES[f] for f in used]
figure(
    heatmap(x[:, used], tokens, names, title="features", fmt="g", labels=("feature", "token")),
    alt="Table of features: one row a token of the example.",
    caption="The same row: " + "; ".join(f"`{word}` at places {s} and {t}" for word, t, s in same) + ".",
)

# %% [markdown] lang="en"
# ## Untrained layers
#
# First what comes out when nobody has chosen anything: four matrices drawn at random, by a **seed**:
# the same seed draws the same layer again. (The tokens are stretched to the same length first, so that
# the random scores are large enough to differ.)
#
# **Question for the picture: does the blank have a favourite?** Three seeds chosen to disagree, and the
# mean over two hundred.

# %%
def stretch(x):
    """Give each token the length that a layer of this width expects."""
    return x * np.sqrt(D_MODEL) / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1)


def untrained(x, seed, mask=None):
    layer = labs.MultiHeadAttention(d_model=D_MODEL, n_heads=1, seed=seed)
    return layer.forward(stretch(x), mask)[1][0]  # (T, T)


# %%
maps = np.array([untrained(x, seed) for seed in range(200)])  # (seeds, T, T)
favourites = Counter(tokens[s] for s in maps[:, BLANK].argmax(axis=-1))
counted = ", ".join(f"`{token}` {n}" for token, n in favourites.most_common())
mean = maps.mean(axis=0)

# %%
panels(
    *[(f"untrained, seed {seed}", maps[seed], tokens, BLANK) for seed in (11, 12, 13)],
    (f"mean over {len(maps)} seeds", mean, tokens, None),
    note=f"In the mean the blank's row lies between {mean[BLANK].min():.2f} and "
    f"{mean[BLANK].max():.2f}. Its favourite, by number of seeds: {counted}.",
)

# %% [markdown] lang="en"
# Another seed, another favourite. A single map looks as if it meant something; the mean shows that it
# does not. One thing holds in every map: both `work` get the same, and so do both commas, for they are
# the same rows of numbers.
#
# **Play.** Move the seed. The arrow keys work too.

# %%
WIDE = {"style": {"description_width": "9em"}, "layout": {"width": "32em"}}


def untrained_map(seed):
    return panels((f"untrained, seed {seed}", untrained(x, seed), tokens, BLANK))


interact(untrained_map, seed=IntSlider(0, 0, 50, description="seed", **WIDE));

# %% [markdown] lang="en"
# ## Specialists, set by hand
#
# Now be the training. One layer, four **heads**; each head holds a few wishes. A wish says who asks, for
# what, and how loudly: a number in $W_Q$ and one in $W_K$. A score of 3 weighs $e^3 \approx 20$ times as
# much as a score of 0, and with $d_{head} = 4$ a loudness of 6 gives the score $6/\sqrt 4 = 3$.

# %%
WISHES = {
    "subject": [("verb", "animate", 6), ("adjective", "animate", 6), ("blank", "third", 6)],
    "verb": [("pronoun", "verb", 6), ("blank", "verb", 6)],
    "subject and verb": [("blank", "third", 6), ("blank", "verb", 4.6), ("blank", "place", 4)],
    "counterpart": [
        *[(kind, kind, 8) for kind in ("pronoun", "verb", "noun")],
        ("spanish", "spanish", -8),  # not in one's own language
    ],
}

# %%
def by_hand(x, mask=None, temperature=1.0):
    """Return the weights (H, T, T) of the four specialists."""
    layer = labs.MultiHeadAttention(d_model=D_MODEL, n_heads=4)
    w_q, w_k = np.zeros((2, 4, 4, D_MODEL))  # (H, d_head, d_model)
    for head, wishes in enumerate(WISHES.values()):
        for column, (asking, wanted, loudness) in enumerate(wishes):
            w_q[head, column, FEATURES.index(asking)] = loudness / temperature
            w_k[head, column, FEATURES.index(wanted)] = 1.0
    layer.w_q, layer.w_k = (w.reshape(D_MODEL, D_MODEL).T for w in (w_q, w_k))
    return layer.forward(x, mask)[1]


# %% [markdown] lang="en"
# **Question for the picture: which head puts the blank on `he`, `work` and `work`?** A token that asks
# for nothing spreads its attention evenly. (`counterpart` waits for a sentence in Spanish, below.)

# %%
weights = by_hand(x)  # (H, T, T)
both = list(WISHES).index("subject and verb")
row = weights[both, BLANK]
panels(
    *[(f"head {h}, {name}", weights[h], tokens, BLANK) for h, name in enumerate(WISHES)],
    note=f"In head {both} the blank gives `he` {row[6]:.2f}, the two `work` together "
    f"{row[1] + row[4]:.2f}, each comma {row[2]:.2f} and `you` {row[3]:.2f}.",
)

# %% [markdown] lang="en"
# ## Why the two `work` tie
#
# A score is $x_t W_Q W_K^\top x_j^\top$: it knows of key $j$ nothing but its features $x_j$. The two
# `work` have the same features, so whatever the matrices, they get the same score. To prefer the later
# one, nearer to the blank, a token must carry its **place**. One feature will do:
# $\text{place}_j = j/8$. Head 2 already has a wish for it: the later a token, the higher its score.
#
# **Question for the picture: what changes in the blank's row when places are filled in?**

# %%
def with_places(x):
    placed = x.copy()
    placed[:, FEATURES.index("place")] = np.arange(len(x)) / 8
    return placed


# %%
near = by_hand(with_places(x))[both]
panels(
    ("without places", weights[both], tokens, BLANK),
    ("with places", near, tokens, BLANK),
    note=f"The two `work` get {row[1]:.2f} and {row[4]:.2f} without places, {near[BLANK, 1]:.2f} and "
    f"{near[BLANK, 4]:.2f} with them: the later one gets {near[BLANK, 4] / near[BLANK, 1]:.1f} times "
    "as much.",
)

# %% [markdown] lang="en"
# ## Other sentences
#
# **Question for the picture: in *The cat sat*, who sat?** Left: the head that looks for subjects, set
# by hand. Right: an untrained layer.

# %%
def two_maps(text, query, head="subject"):
    words, x = sentence(text)
    return panels(
        (f"{head}, set by hand", by_hand(x)[list(WISHES).index(head)], words, words.index(query)),
        ("untrained: random", untrained(x, seed=1), words, words.index(query)),
    )


# %%
two_maps("The cat sat", "sat")

# %% [markdown] lang="en"
# *The animal did not cross the street because it was too tired.* In Spanish the subject of *estaba*,
# "was", is not even said. A street does not tire; an animal may. We told the head so: verbs and
# adjectives ask for something `animate`, and of the two nouns only `animal` has that feature. A trained
# model would have to find such a thing out. Ours did not; it was **set by hand**.
#
# **Question for the picture: whom does `estaba` look at, in a head that was told who can tire?**

# %%
two_maps("El animal no cruzó la calle porque estaba demasiado cansado", "estaba")

# %% [markdown] lang="en"
# **Question for the picture: where do the Spanish words of *I work / yo trabajo* find their
# counterparts?** The head asks for the same kind of word, but not in Spanish. In a translator one would
# wish for rows like these.

# %%
words, pair = sentence("I work / yo trabajo")
aligned = by_hand(pair)[list(WISHES).index("counterpart")]
panels(
    ("counterpart, set by hand", aligned, words, 3),
    note=f"And {reading(aligned, 4, words)}",
)

# %% [markdown] lang="en"
# ## A sentence of your own
#
# Write anything between the quotes and run the cell. The map before the random one is a **match of
# features**: each token asks for its like, `q = k = x`, with no matrix at all. Words outside the table
# have only their spelling: they match themselves best, and others by chance.
#
# **Question for the picture: which of your words find another one like them?** To give a word features,
# add it to `WORDS` and run all cells again. To see what a specialist makes of your sentence, call
# `two_maps` as above.

# %%
def explore(text):
    """Draw a sentence's maps, or say in a sentence why there is nothing to draw."""
    words, x = sentence(text)
    if len(words) < 2:
        return print("Attention needs someone to look at: please write two words or more.")
    if len(words) > MOST_NUMBERED:
        print(f"You wrote {len(words)} tokens; the first {MOST_NUMBERED} are drawn.")
    words, x = words[:MOST_NUMBERED], stretch(x[:MOST_NUMBERED])
    unknown = list(dict.fromkeys(f"`{word}`" for word in words if kinds(word) is None))
    named = [word if len(word) <= 12 else word[:11] + "…" for word in words]
    like = labs.masked_attention(x, x, x)[1]
    return panels(
        ("each looks for its like", like, named, 0),
        ("untrained: random", untrained(x, seed=0), named, 0),
        note=f"Known by their spelling only: {', '.join(unknown) or 'none'}.",
    )


# %%
explore("I work , you work , and my grandmother works too")

# %% [markdown] lang="en"
# ## Heads, temperature and masks
#
# Three settings. A **temperature** divides all scores: near 0 it makes a hard choice, far above 1 a
# plain mean. A **causal mask** hides what comes later. **Padding** `·` fills a sentence up to a common
# length and should be hidden from everyone.
#
# **Question for the picture: which setting touches which rows or columns?** Compare the upper two maps
# with the head `verb` of *Specialists*.

# %%
def setting(head, temperature=1.0, padding=0, hidden=True, causal=False, places=False, title=""):
    """Return a panel of a specialist under some settings."""
    longer, x = sentence(" ".join(tokens + ["·"] * padding))
    T = len(longer)
    mask = labs.padding_mask(np.array([T - padding if hidden else T]), T)[0]  # (1, S)
    if causal:
        mask = mask & labs.causal_mask(T)  # (T, S)
    found = by_hand(with_places(x) if places else x, mask, temperature)[list(WISHES).index(head)]
    return title or f"{head}, set by hand", found, longer, BLANK


# %%
panels(
    setting("verb", temperature=4, title="verb, temperature 4"),
    setting("verb", causal=True, title="verb, causal mask"),
    setting("subject and verb", padding=2, hidden=False, title="padding in sight"),
    setting("subject and verb", padding=2, title="padding hidden"),
    note=f"At temperature 1 each `work` gets {weights[1, BLANK, 1]:.2f} in the head `verb`.",
)

# %% [markdown] lang="en"
# The temperature evens out the rows that ask for something; the causal mask empties all that lies above
# the diagonal; the padding mask empties the last columns. (The rows of the padding stay: nobody reads
# them.)
#
# **Play.** Six controls, one picture. Can you give the blank a hard choice? Make `I` look at nobody but
# itself? See padding steal attention?

# %%
def specialist(**settings):
    return panels(setting(**settings))


interact(
    specialist,
    head=SelectionSlider(
        options=list(WISHES), value="subject and verb", description="head", **WIDE
    ),
    temperature=FloatLogSlider(1.0, base=2, min=-4, max=6, description="temperature", **WIDE),
    padding=IntSlider(2, 0, 4, description="padding tokens", **WIDE),
    hidden=Checkbox(True, description="padding mask: hide the padding", **WIDE),
    causal=Checkbox(False, description="causal mask: hide what comes later", **WIDE),
    places=Checkbox(False, description="fill in places", **WIDE),
);

# %% [markdown] lang="en"
# ## Width and scale
#
# An untrained layer again, now of any width $d_k$, and with its scores divided by 1, by $\sqrt{d_k}$
# (as in the formula) or by $d_k$. A dot product of $d_k$ pairs of random numbers, each of spread 1, has
# spread $\sqrt{d_k}$.
#
# **Question for the picture: which divisor leaves the largest weights as they were when the layer
# gets wider?**

# %%
def random_map(d_k, divisor, seed=10, title=""):
    """Return a panel of an untrained layer of width d_k."""
    w_q, w_k = np.random.default_rng(seed).normal(size=(2, D_MODEL, d_k)) / np.sqrt(D_MODEL)
    size = {"1": 1.0, "√d_k": np.sqrt(d_k), "d_k": d_k}[divisor]
    q = stretch(x) @ w_q * np.sqrt(d_k) / size  # masked_attention itself divides by √d_k
    found = labs.masked_attention(q, stretch(x) @ w_k, x)[1]
    return title or "untrained: random", found, tokens, BLANK


# %%
widths, largest = [], []
for d_k, divisor in [(4, "√d_k"), (256, "1"), (256, "√d_k"), (256, "d_k")]:
    title = f"d_k = {d_k}, divided by {divisor}"
    found = [random_map(d_k, divisor, seed)[1] for seed in range(100)]  # 100 of (T, T)
    widths.append((title, found[10], tokens, None))
    largest.append(f"{np.max(found, axis=-1).mean():.2f} ({title})")
panels(*widths, note=f"The largest weight of a row, mean over 100 random layers: {', '.join(largest)}.")

# %% [markdown] lang="en"
# **Play.** Does $\sqrt{d_k}$ still do at the largest width?

# %%
def untrained_width(d_k, divisor, seed):
    return panels(random_map(d_k, divisor, seed))


interact(
    untrained_width,
    d_k=SelectionSlider(options=[1, 4, 16, 64, 256, 1024], value=16, description="d_k", **WIDE),
    divisor=SelectionSlider(
        options=["1", "√d_k", "d_k"], value="√d_k", description="scores divided by", **WIDE
    ),
    seed=IntSlider(10, 0, 50, description="seed", **WIDE),
);

# %% [markdown] lang="en"
# ## Shuffle the tokens
#
# Attention goes by content. Shuffle the tokens, and each weight should travel with its pair: row with
# its query, column with its key.
#
# **Question for the picture: is the shuffled map the old one, shuffled?** Above without places, below
# with them: there a shuffled token gets the place it now stands at.

# %%
def shuffled(seed, places=False, title=""):
    """Return a panel of shuffled tokens (seed 0: as they were), and the order they stand in."""
    order = np.random.default_rng(seed).permutation(8) if seed else np.arange(8)
    moved = with_places(x[order]) if places else x[order]
    title = title or ("in order" if seed == 0 else "shuffled")
    return (title, by_hand(moved)[both], [tokens[t] for t in order], order.tolist().index(7)), order


# %%
pairs, gaps = [], []
for places, name in ((False, "without places"), (True, "with places")):
    (first, _), (second, order) = (
        shuffled(seed, places, f"{word}, {name}") for seed, word in ((0, "in order"), (4, "shuffled"))
    )
    pairs += [first, second]
    gaps.append(f"{np.abs(second[1] - first[1][np.ix_(order, order)]).max():.2f} {name}")
panels(*pairs, note=f"Shuffling changes the weight of a pair by at most {', '.join(gaps)}.")

# %% [markdown] lang="en"
# **Play.** Follow the row of the blank through some shuffles. Where does it look once places are filled
# in?

# %%
def shuffled_map(seed, places):
    return panels(shuffled(seed, places)[0])


interact(
    shuffled_map,
    seed=IntSlider(4, 0, 30, description="shuffle", **WIDE),
    places=Checkbox(False, description="fill in places", **WIDE),
);

# %% [markdown] lang="en"
# ## The same numbers, drawn as lines
#
# A **head view** joins each query to the keys it looks at: the heavier the weight, the heavier the
# line. Point at a query, or walk through them with the Tab key, and its row lights up.
#
# **Question for the picture: which line is the heaviest, and where does it lead?** The fans of thin
# lines are tokens that ask for nothing.

# %%
HeadView(
    weights[both],
    tokens,
    title="subject and verb, set by hand",
    alt=f"Head view of a specialist set by hand. {reading(weights[both], BLANK, tokens)}",
)

# %% [markdown] lang="en"
# ## … and as a table
#
# The plainest form, and the one a screen reader likes best.

# %%
weights_table(
    weights[both], tokens, caption=f"Set by hand. {reading(weights[both], BLANK, tokens)}"
)

# %% [markdown] lang="en"
# ## How wide a row looks
#
# One number for a whole row: the **entropy** of its weights $\alpha_j$, which is
# $-\sum_j \alpha_j \log_2 \alpha_j$, in bits. It is 0 when all attention goes to one key, and $\log_2 S$ when $S$ keys
# get the same.
#
# **Question for the picture: which rows of the head `subject` ask for nothing?** Their bars are full.

# %%
_, axes = plt.subplots(1, 2, figsize=(11.5, 4), layout="constrained")
heatmap(weights[0], tokens, ax=axes[0], title="subject, set by hand")
entropy_bars(weights[0], tokens, ax=axes[1], title="entropy of each row")
bits = entropy(weights[0])  # (T,)
said = "; ".join(f"`{token}` {each:.2f}" for token, each in zip(tokens, bits))
figure(axes, alt=f"Heat map with the entropy of each row: {said}.", caption=f"Bits: {said}.")

# %% [markdown] lang="en"
# ## Keep a picture
#
# As PNG for a text document, as SVG for anything that is printed large. Both go into the folder
# `pictures`, beside this notebook, and carry their words with them.
#
# **Question for the picture: which sentence would a reader need who cannot see it?** It is the one below,
# read off the numbers.

# %%
axes = heatmap(weights[both], tokens, title="subject and verb, set by hand")
shown = figure(axes, alt=f"Heat map set by hand. {reading(weights[both], BLANK, tokens)}")
lines = HeadView(weights[both], tokens, title="subject and verb, set by hand")
paths = [*save(axes, "pictures/specialist"), lines.save("pictures/head_view.svg")]
print(*[Path(path).resolve() for path in paths], sep="\n")
shown

# %% [markdown] lang="en"
# ## Your own `attention.py`
#
# Which functions drew all this: yours, or the given ones? And do the two agree on the worked example?
# To make an `attention.py`, solve the four labs, then type `attnlab export` in a terminal (*File*,
# *New*, *Terminal*) in the folder they are in. Leave the file there or put it beside this notebook, and
# run all cells again.

# %%
def answers(functions):
    """Return what each function of a module gives on the worked example."""
    layer = functions.MultiHeadAttention(d_model=D_MODEL, n_heads=4)
    layer.w_q, layer.w_k, layer.w_v, layer.w_o = np.random.default_rng(0).normal(size=(4, 16, 16))
    mask = functions.causal_mask(8)
    return {
        "causal_mask": mask,
        "padding_mask": functions.padding_mask(np.array([5, 8]), 8),
        "masked_attention": functions.masked_attention(x, x, x, mask)[1],
        "MultiHeadAttention": layer.forward(x, mask)[0],
    }


# %%
if labs is given:
    print("In use: the given functions. With an attention.py of your own, this cell compares the two.")
else:
    print("In use: your own functions, from", labs.__file__)
    for (name, mine), right in zip(answers(labs).items(), answers(given).values()):
        same = np.shape(mine) == right.shape and np.allclose(mine, right)
        print(f"{name}: {'the same as' if same else 'DIFFERENT from'} the given one")

# %% [markdown] lang="en"
# ## Where to go from here
#
# Why these formulas look as they do stands in the notebooks `theory00` to `theory04`, and you build
# them yourself in `lab00` to `lab03`.
