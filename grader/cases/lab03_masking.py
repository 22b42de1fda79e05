"""Cases of lab 03: 30 points, 3 of them for the written question.

In every mask True means: may attend.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attnlab.exercise import Case, Exercise, Layer
from grader.catalogue import cases_of, clue, kept, shown
from grader.draw import tidy, whole
from grader.reference.lab03_masking import ALLOWED, E, causal_mask, padding_mask

LAB = "lab03_masking"

Array = np.ndarray

SQUARE = np.array([[True, True, False], [False, True, True], [True, True, True]])

SHORT = np.tri(3, 4, 1, dtype=bool)


def _mask(rng: np.random.Generator, *leading: int, T: int, S: int) -> Array:
    """Draw a mask in which a row allows two keys at least, not all; neighbouring rows differ."""
    while True:
        mask: Array = rng.random((*leading, T, S)) < 0.6
        counts = mask.sum(-1)
        rows = mask.reshape(-1, S)
        if counts.min() >= 2 and counts.max() < S and (rows[1:] != rows[:-1]).any(-1).all():
            return mask


def _scores(rng: np.random.Generator, *shape: int) -> Array:
    """Draw scores so close together that no two of a row share worse than 0.8 to 0.2."""
    return rng.uniform(-0.65, 0.65, shape)


def _qkv(
    rng: np.random.Generator, *leading: int, T: int, S: int, d_k: int, d_v: int
) -> dict[str, Array]:
    """Draw q, k, v whose scaled scores are as close together as those of `_scores`."""
    while True:
        q, k = rng.uniform(-1, 1, (*leading, T, d_k)), rng.uniform(-1, 1, (*leading, S, d_k))
        if np.abs(q @ np.swapaxes(k, -1, -2)).max() < 0.65 * np.sqrt(d_k):
            return {"q": q, "k": k, "v": rng.normal(size=(*leading, S, d_v))}


def _tokens(rng: np.random.Generator, T: int, d_model: int) -> Array:
    """Draw tokens of modest size, none close to zero in any feature and no two alike."""
    tokens: Array = rng.uniform(0.2, 1.0, (T, d_model)) * rng.choice([-1.0, 1.0], (T, d_model))
    return tokens


@cases_of(Exercise("causal_mask", LAB, 3, "causal_mask(T)", ("mask",)))
def causal(rng: np.random.Generator) -> Iterator[Case]:
    yield shown("written out by hand: three tokens", 0.75, {"T": 3})
    yield shown("five tokens", 0.5, {"T": 5})
    yield shown("True and False, not 0 and 1", 0.25, {"T": 4}, boolean=True)
    yield kept("a longer sentence", 1, {"T": int(rng.integers(6, 10))})
    yield kept("a text of many tokens", 0.5, {"T": int(rng.integers(33, 40))})


@cases_of(Exercise("padding_mask", LAB, 4, "padding_mask(lengths, S)", ("mask",)))
def padding(rng: np.random.Generator) -> Iterator[Case]:
    yield shown("written out by hand: two sentences", 1, {"lengths": np.array([3, 1]), "S": 4})
    yield shown("three sentences, one of them full", 0.75, {"lengths": np.array([2, 5, 4]), "S": 5})
    yield shown(
        "True and False, not 0 and 1", 0.25, {"lengths": np.array([1, 2]), "S": 3}, boolean=True
    )
    S = int(rng.integers(7, 10))
    yield kept("more sentences", 1, {"lengths": rng.permutation(np.arange(1, S))[:5], "S": S})
    yield kept(
        "room beyond the longest sentence", 0.5, {"lengths": rng.permutation([1, 3, 4]), "S": 8}
    )
    yield kept("an empty sentence", 0.5, {"lengths": rng.permutation([0, 2, 6, 5]), "S": 6})


@cases_of(Exercise("additive_mask", LAB, 3, "additive_mask(mask)", ("bias",)))
def additive(rng: np.random.Generator) -> Iterator[Case]:
    by_hand = np.array([[True, False, True], [False, True, True]])
    yield shown("written out by hand: two queries, three keys", 0.75, {"mask": by_hand})
    yield shown("a causal mask of four tokens", 0.25, {"mask": causal_mask(4)})
    yield shown("a padding mask of two sentences", 0.5, {"mask": padding_mask(np.array([2, 4]), 5)})
    yield kept("other sizes", 0.5, {"mask": _mask(rng, T=4, S=6)})
    yield kept("two leading axes", 0.5, {"mask": _mask(rng, 2, 3, T=4, S=5)})
    yield kept(
        "the caller's mask stays as it was", 0.5, {"mask": _mask(rng, T=5, S=4)}, untouched=True
    )


def _shown_softmax() -> Iterator[Case]:
    drawn = np.random.default_rng(31)
    yield shown(
        "worked by hand: scores are logarithms of whole numbers",
        1,
        {"scores": np.log(E), "mask": np.array(ALLOWED)},
    )
    yield shown(
        "a causal mask", 0.5, {"scores": _scores(drawn, 4, 4).round(2), "mask": causal_mask(4)}
    )
    yield shown(
        "a batch of two sentences with padding",
        0.5,
        {"scores": _scores(drawn, 2, 3, 5).round(2), "mask": padding_mask(np.array([4, 2]), 5)},
        topic="batch",
    )
    nobody = _mask(drawn, T=3, S=4)
    nobody[1] = False
    yield shown(
        "one query may attend to nothing",
        0.75,
        {"scores": _scores(drawn, 3, 4).round(2), "mask": nobody},
        topic="masked row",
    )
    far = [[60_000, 1, 0.5, 0.25], [-20_000, 3, -20_000.5, -20_001], [3000, 800.5, 800, 801]]
    blocked = [[False, True, True, True], [True, False, True, True], [False, True, True, True]]
    yield shown(
        "forbidden scores far above the allowed ones",
        0.5,
        {"scores": np.array(far), "mask": np.array(blocked)},
        topic="large",
    )
    yield shown(
        "your arguments stay as they were",
        0.25,
        {"scores": _scores(drawn, 3, 5).round(2), "mask": _mask(drawn, T=3, S=5)},
        untouched=True,
    )


@cases_of(Exercise("masked_softmax", LAB, 6, "masked_softmax(scores, mask)", ("weights",)))
def softmax(rng: np.random.Generator) -> Iterator[Case]:
    yield from _shown_softmax()
    yield kept("other sizes", 0.75, {"scores": _scores(rng, 4, 6), "mask": _mask(rng, T=4, S=6)})
    yield kept(
        "whole numbers", 0.5, {"scores": rng.integers(0, 2, (5, 4)), "mask": _mask(rng, T=5, S=4)}
    )
    yield kept(
        "two leading axes",
        0.25,
        {"scores": _scores(rng, 2, 3, 4, 5), "mask": _mask(rng, 2, 1, T=4, S=5)},
        topic="batch",
    )
    nobody = _mask(rng, T=4, S=5)
    nobody[int(rng.integers(4))] = False
    yield kept(
        "a query that may attend to nothing, elsewhere",
        0.5,
        {"scores": _scores(rng, 4, 5), "mask": nobody},
        topic="masked row",
    )
    levels = rng.permutation([1000.0, -1000.0, 0.0])[:, None]
    yield kept(
        "scores of 1000 and of -1000",
        0.5,
        {"scores": levels + rng.integers(-2, 3, (3, 5)) / 4, "mask": _mask(rng, T=3, S=5)},
        topic="large",
    )
    yield clue(  # not every copy of the scores can hold −inf
        "whole numbers to write into", {"scores": np.arange(12).reshape(3, 4) % 5, "mask": SHORT}
    )
    yield clue(  # what takes no maximum fails here, what takes one over too many keys does not
        "large scores close together",
        {"scores": 900.0 + np.arange(12).reshape(3, 4) % 5 / 8, "mask": SHORT},
        topic="large",
    )


def _shown_attention() -> Iterator[Case]:
    drawn = np.random.default_rng(32)
    scaled = np.log(E)
    by_hand = {
        "q": np.hstack([2 * np.eye(2), np.zeros((2, 2))]),
        "k": np.hstack([scaled.T, np.array([[1.0, 3.0], [-1.0, 0.0], [2.0, 1.0]])]),
        "v": np.array(
            [[8.0, 0.0, 4.0, 0.0, 16.0], [0.0, 4.0, 8.0, 12.0, 4.0], [4.0] * 2 + [0.0] * 3]
        ),
    }
    yield shown(
        "worked by hand: two queries, three keys", 1, {**by_hand, "mask": np.array(ALLOWED)}
    )
    yield shown("without a mask", 0.5, _rounded(_qkv(drawn, T=4, S=3, d_k=5, d_v=2)))
    yield shown(
        "a causal mask",
        0.25,
        {**_rounded(_qkv(drawn, T=5, S=5, d_k=3, d_v=2)), "mask": causal_mask(5)},
    )
    yield shown(
        "a batch of two sentences with padding",
        0.5,
        {
            **_rounded(_qkv(drawn, 2, T=3, S=5, d_k=4, d_v=6)),
            "mask": padding_mask(np.array([4, 2]), 5),
        },
        topic="batch",
    )
    nobody = _mask(drawn, T=3, S=4)
    nobody[2] = False
    yield shown(
        "one query may attend to nothing",
        0.5,
        {**_rounded(_qkv(drawn, T=3, S=4, d_k=5, d_v=2)), "mask": nobody},
        topic="masked row",
    )


def _rounded(arrays: dict[str, Array]) -> dict[str, Array]:
    return {name: array.round(2) for name, array in arrays.items()}


@cases_of(
    Exercise("masked_attention", LAB, 5, "masked_attention(q, k, v, mask=None)", ("out", "weights"))
)
def attention(rng: np.random.Generator) -> Iterator[Case]:
    yield from _shown_attention()
    yield kept(
        "other sizes", 0.5, {**_qkv(rng, T=4, S=6, d_k=3, d_v=5), "mask": _mask(rng, T=4, S=6)}
    )
    yield kept(
        "whole numbers",
        0.25,
        {
            "q": whole(rng, 3, 5) // 2,
            "k": np.eye(4, 5, dtype=int)[rng.permutation(4)],
            "v": whole(rng, 4, 2),
            "mask": _mask(rng, T=3, S=4),
        },
    )
    yield kept(
        "the caller's arrays stay as they were",
        0.25,
        {**_qkv(rng, T=3, S=5, d_k=4, d_v=2), "mask": _mask(rng, T=3, S=5)},
        untouched=True,
    )
    yield kept(
        "one mask for a whole batch",
        0.25,
        {**_qkv(rng, 2, T=4, S=5, d_k=3, d_v=6), "mask": _mask(rng, T=4, S=5)},
        topic="batch",
    )
    yield kept(
        "two leading axes",
        0.25,
        {**_qkv(rng, 2, 3, T=4, S=5, d_k=6, d_v=7), "mask": _mask(rng, 2, 1, T=1, S=5)},
        topic="batch",
    )
    nobody = _mask(rng, T=4, S=5)
    nobody[int(rng.integers(4))] = False
    yield kept(
        "a query that may attend to nothing, elsewhere",
        0.25,
        {**_qkv(rng, T=4, S=5, d_k=3, d_v=2), "mask": nobody},
        topic="masked row",
    )
    yield kept(
        "scores of 1000 and of -1000",
        0.5,
        _large(rng) | {"mask": _mask(rng, T=3, S=5)},
        topic="large",
    )
    yield clue(
        "square", {**_qkv(np.random.default_rng(33), T=3, S=3, d_k=3, d_v=3), "mask": SQUARE}
    )


def _large(rng: np.random.Generator) -> dict[str, Array]:
    """Draw q, k, v whose scaled scores are at 1000, -1000 and 0, and close within a row."""
    q = np.zeros((3, 4))
    q[:, 0] = 2000 * rng.permutation([1, -1, 0])
    q[:, 1:] = rng.integers(-2, 3, (3, 3)) / 4
    k = np.hstack([np.ones((5, 1)), rng.integers(-2, 3, (5, 3)) / 2])
    return {"q": q, "k": k, "v": rng.normal(size=(5, 2))}


@cases_of(Exercise("influence", LAB, 4, "influence(layer, x)", ("influence",)))
def influence(rng: np.random.Generator) -> Iterator[Case]:
    window, first = Layer("window"), Layer("first")
    forth, back = Layer("first to last"), Layer("last to first")
    yield shown(
        "by hand: each token takes the mean of itself and the one before",
        0.5,
        {
            "layer": window,
            "x": np.array([[1.0, 2.0, 0.5], [0.5, -1.0, 1.0], [2.0, 1.0, -0.5], [-1.0, 0.5, 1.5]]),
        },
    )
    yield shown(
        "every token copies the first, and your x stays as it was",
        0.25,
        {"layer": first, "x": _steady(34, 5, 2)},
        untouched=True,
    )
    yield shown(
        "whole numbers",
        0.25,
        {"layer": window, "x": np.array([[2, 1], [-1, 3], [4, -2], [1, 2], [-3, 1]])},
    )
    yield shown(
        "True and False, not 0 and 1",
        0.25,
        {"layer": window, "x": _steady(35, 3, 4)},
        boolean=True,
    )
    yield shown(
        "two layers with zeros in the same places of their weights",
        0.25,
        {"causal": Layer("causal"), "leaking": Layer("leaking"), "x": _steady(49, 4, 3)},
        probe="call_with_layers",
    )
    yield shown(
        "the first feature of each token is added to the last feature of the next token",
        0.25,
        {"layer": forth, "x": _steady(41, 4, 3)},
    )
    yield shown(
        "the last feature of each token is added to the first feature of the next token",
        0.25,
        {"layer": back, "x": _steady(42, 5, 3)},
    )
    yield shown(
        "one token is all zeros",
        0.25,
        {"layer": window, "x": _steady(43, 4, 2) * [[1], [1], [0], [1]]},
    )
    yield clue(  # which end was looked at, where only one feature was
        "the first feature or the last is added to the second of the next token",
        {"one": Layer("first to second"), "other": Layer("last to second"), "x": _steady(45, 3, 4)},
        probe="call_with_layers",
    )
    yield kept(
        "one layer looks back, one ahead",
        0.5,
        {"back": Layer("causal"), "ahead": Layer("ahead"), "x": _tokens(rng, 6, 3)},
        probe="call_with_layers",
    )
    yield kept(
        "tokens that stay alone, and tokens that all meet",
        0.25,
        {"alone": Layer("alone"), "meeting": Layer("content"), "x": _tokens(rng, 4, 2)},
        probe="call_with_layers",
    )
    numbers = np.stack([rng.permutation(5) + 1, rng.integers(2, 4, 5), rng.integers(1, 4, 5)], -1)
    signs = rng.choice([-1, 1], (5, 3))
    yield kept("other whole numbers", 0.25, {"layer": window, "x": signs * numbers})
    yield kept(
        "every token copies the first, elsewhere", 0.25, {"layer": first, "x": _tokens(rng, 4, 5)}
    )
    yield kept(
        "zeros in the same places of the weights, elsewhere",
        0.25,
        {"causal": Layer("causal"), "leaking": Layer("leaking"), "x": _tokens(rng, 5, 4)},
        probe="call_with_layers",
    )
    yield kept(
        "single features are handed on, elsewhere",
        0.25,
        {"forth": forth, "back": back, "x": _tokens(rng, 6, 4)},
        probe="call_with_layers",
    )


def _steady(seed: int, T: int, d_model: int) -> Array:
    return _tokens(np.random.default_rng(seed), T, d_model).round(2)


DRAWN = (
    "w_q_shape",
    "w_k_shape",
    "w_v_shape",
    "w_o_shape",
    "all_differ",
    "seed_repeats",
    "seed_matters",
    "stream_left_alone",
)


def _layer(
    rng: np.random.Generator, d_model: int, d_k: int, d_v: int, causal: bool
) -> dict[str, Array | int | bool]:
    """Draw the four matrices of a layer, and give its sizes."""
    shapes = {"w_q": (d_model, d_k), "w_k": (d_model, d_k), "w_v": (d_model, d_v)}
    shapes["w_o"] = (d_v, d_model)
    drawn = {name: rng.uniform(-0.6, 0.6, shape).round(2) for name, shape in shapes.items()}
    return {**drawn, "d_model": d_model, "d_k": d_k, "d_v": d_v, "causal": causal}


ATTENTION = "Attention(d_model, d_k=None, d_v=None, causal=False, seed=0)"


@cases_of(Exercise("Attention", LAB, 2, ATTENTION, ("out", "weights")))
def layer(rng: np.random.Generator) -> Iterator[Case]:
    def new(d_model: int, **sizes: int) -> dict[str, int]:
        return {"d_model": d_model, **sizes, "seed": 3}

    drawn = {"probe": "draw_layer", "measure": "drawn_layer"}
    fixed = np.random.default_rng(37)
    yield shown("its four matrices, d_k left out", 0.25, new(5, d_v=4), compare=DRAWN, **drawn)
    yield shown("its four matrices, d_v left out", 0.25, new(6, d_k=4), compare=DRAWN[:4], **drawn)
    # With d_v = d_model the rows of all four are alike, so w_o may be drawn by either.
    yield shown(
        "the spread of the draws times √d_model is about 1",
        0.25,
        new(24, d_k=8, d_v=24),
        compare=("spread",),
        bounds={"spread": _spread_bounds(2 * 24 * 8 + 2 * 24 * 24)},
        **drawn,
    )
    yield shown(
        "causal",
        0.25,
        {"x": tidy(38, 4, 5), **_layer(fixed, 5, 3, 2, causal=True)},
        probe="use_layer",
    )
    padded = padding_mask(np.array([3]), 6)[0]
    yield shown(
        "not causal, with padding",
        0.25,
        {"x": tidy(39, 6, 5), "mask": padded, **_layer(fixed, 5, 2, 3, causal=False)},
        probe="use_layer",
    )
    yield shown(
        "a batch of two sentences with padding, causal",
        0.25,
        {
            "x": tidy(40, 2, 5, 4),
            "mask": padding_mask(np.array([2, 4]), 5),
            **_layer(fixed, 4, 3, 6, causal=True),
        },
        topic="batch",
        probe="use_layer",
    )
    yield clue(
        "causal, with padding as well",
        {"x": tidy(44, 6, 4), "mask": padded, **_layer(fixed, 4, 3, 2, causal=True)},
        probe="use_layer",
    )
    yield kept(
        "neither mask",
        0.25,
        {"x": rng.uniform(-1, 1, (5, 4)), **_layer(rng, 4, 2, 3, causal=False)},
        probe="use_layer",
    )
    both = {"x": rng.uniform(-1, 1, (5, 3)), "mask": _mask(rng, T=5, S=5) | np.eye(5, dtype=bool)}
    yield kept(
        "causal, with another mask as well",
        0.25,
        {**both, **_layer(rng, 3, 4, 2, causal=True)},
        probe="use_layer",
    )


def _spread_bounds(n: int) -> tuple[float, float]:
    """Give five standard deviations of the spread of n numbers, to either side of 1."""
    sigma = 1 / np.sqrt(2 * n)
    return float(1 - 5 * sigma), float(1 + 5 * sigma)
