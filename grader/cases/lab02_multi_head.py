"""Cases of lab 02: 30 points, 3 of them for the written question."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from attnlab.exercise import Case, Exercise, Layer
from grader.catalogue import cases_of, clue, kept, shown
from grader.draw import tidy, whole
from grader.reference.lab02_multi_head import multi_head_attention as reference

LAB = "lab02_multi_head"

# "23" is feature 3 of token 2, so that anyone can see what moved where.
LABELLED = np.array([[10 * token + feature for feature in range(6)] for token in range(1, 5)])


@cases_of(Exercise("split_heads", LAB, 5, "split_heads(x, n_heads)", ("heads",)))
def split_heads(rng: np.random.Generator) -> Iterator[Case]:
    yield shown("by hand: four tokens, six features, two heads", 1, {"x": LABELLED, "n_heads": 2})
    yield shown("other sizes", 0.5, {"x": tidy(1, 3, 8), "n_heads": 4})
    yield shown("a batch of two", 0.5, {"x": tidy(2, 2, 5, 12), "n_heads": 3}, topic="batch")
    yield shown(
        "3 heads cannot share 10 features", 0.5, {"x": tidy(3, 5, 10), "n_heads": 3}, raises=(10, 3)
    )
    yield kept("longer ones", 1, {"x": rng.normal(size=(7, 15)), "n_heads": 3})
    yield kept("one head", 0.25, {"x": rng.normal(size=(5, 4)), "n_heads": 1})
    yield kept(
        "whole numbers, and the caller's array stays as it was",
        0.5,
        {"x": whole(rng, 3, 10), "n_heads": 5},
        untouched=True,
    )
    yield kept(
        "two leading axes", 0.25, {"x": rng.normal(size=(2, 3, 5, 24)), "n_heads": 4}, topic="batch"
    )
    yield kept(
        "another number of heads that does not divide d_model",
        0.5,
        {"x": rng.normal(size=(5, 14)), "n_heads": 4},
        raises=(14, 4),
    )
    yield clue("as many tokens as heads", {"x": tidy(4, 3, 9), "n_heads": 3})
    yield clue("tokens that heads divide", {"x": tidy(5, 4, 6), "n_heads": 2})


@cases_of(Exercise("merge_heads", LAB, 4, "merge_heads(x)", ("merged",)))
def merge_heads(rng: np.random.Generator) -> Iterator[Case]:
    labelled = np.array([LABELLED[:, :3], LABELLED[:, 3:]])
    yield shown("by hand: two heads, four tokens, three features each", 1, {"x": labelled})
    yield shown("other sizes", 0.5, {"x": tidy(6, 3, 5, 2)})
    yield shown("a batch of two", 0.5, {"x": tidy(7, 2, 3, 5, 4)}, topic="batch")
    yield kept("longer ones", 1, {"x": rng.normal(size=(4, 7, 3))})
    yield kept("one head", 0.25, {"x": rng.normal(size=(1, 5, 4))})
    yield kept(
        "whole numbers, and the caller's array stays as it was",
        0.5,
        {"x": whole(rng, 2, 5, 3)},
        untouched=True,
    )
    yield kept("two leading axes", 0.25, {"x": rng.normal(size=(2, 3, 4, 5, 6))}, topic="batch")
    yield clue("a cube", {"x": tidy(8, 3, 3, 3)})


# ---- the layer as a function -------------------------------------------------------------


def _by_hand() -> dict[str, Any]:
    """Two heads of width 4 over three tokens, whose shares are fractions of whole numbers.

    The scaled scores of a head are the logarithms of its whole numbers `sizes`, so each row
    of its weights is a row of `sizes` divided by its sum: [[1/6, 1/3, 1/2], [1/2, 1/8, 3/8],
    [2/9, 2/3, 1/9]] in head 0 and [[1/2, 1/4, 1/4], [1/8, 1/2, 3/8], [1/5, 1/5, 3/5]] in
    head 1. With √d_head = 2, q = 2·[I | 0] and k = [ln(sizes)ᵀ | anything] give these scores.
    The matrices are solved for so that x @ w gives q, k and v.
    """
    sizes = (
        np.array([[1, 2, 3], [4, 1, 3], [2, 6, 1]]),
        np.array([[2, 1, 1], [1, 4, 3], [1, 1, 3]]),
    )
    last = np.array([[1], [-1], [2]])
    q = np.hstack([2 * np.eye(3), 0 * last, 2 * np.eye(3), 0 * last])
    k = np.hstack([np.log(sizes[0]).T, last, np.log(sizes[1]).T, -last])
    v = np.array(
        [[6, 0, 18, 0, 8, 0, 0, 40], [0, 24, 0, 0, 0, 8, 40, 0], [18, 9, 0, 36, 0, 8, 0, 20]]
    )
    first = np.array([[1, 0, 0], [1, 1, 0], [0, 2, 1]])  # its inverse holds whole numbers
    undo = np.array([[1, 0, 0], [-1, 1, 0], [2, -2, 1]])
    rest = np.array([[1, 0, 2, 0, 1], [0, 1, 0, 3, 0], [2, 0, 0, 1, 1]])

    def solve(wanted: np.ndarray, seed: int) -> np.ndarray:
        below = np.random.default_rng(seed).integers(-2, 3, (5, 8))
        return np.vstack([undo @ (wanted - rest @ below), below])

    w_o = np.random.default_rng(4).integers(-1, 2, (8, 8)).astype(float)
    x = np.hstack([first, rest]).astype(float)
    return {"x": x, "w_q": solve(q, 1), "w_k": solve(k, 2), "w_v": solve(v, 3), "w_o": w_o}


def _layer(
    rng: np.random.Generator, *leading: int, T: int, d_model: int, n_heads: int
) -> dict[str, Any]:
    """Draw tokens and matrices so that no weight is close to a single choice."""
    while True:
        spread = 1 / math.sqrt(d_model)
        drawn: dict[str, Any] = {"x": rng.normal(size=(*leading, T, d_model)).round(2)}
        for name in ("w_q", "w_k", "w_v", "w_o"):
            drawn[name] = rng.normal(0, spread, (d_model, d_model)).round(2)
        drawn["n_heads"] = n_heads
        if reference(*drawn.values())[1].max() < 0.8:
            return drawn


def _large(rng: np.random.Generator, **sizes: int) -> dict[str, Any]:
    """Draw a layer with scores in the thousands, none of them close to the largest of its row."""
    while True:
        drawn = _layer(rng, **sizes)
        drawn["x"] = drawn["x"] * 60
        if (np.sort(reference(*drawn.values())[1])[..., -1] > 1 - 1e-9).all():
            return drawn


def _whole_layer(rng: np.random.Generator, T: int, d_model: int, n_heads: int) -> dict[str, Any]:
    """Draw a layer of whole numbers, mostly zeros so that the scores stay small."""
    while True:
        drawn: dict[str, Any] = {"x": rng.integers(-1, 2, (T, d_model))}
        for name, share in (("w_q", 0.2), ("w_k", 0.2), ("w_v", 0.6), ("w_o", 0.6)):
            kept_ones = rng.random((d_model, d_model)) < share
            drawn[name] = whole(rng, d_model, d_model) * kept_ones
        drawn["n_heads"] = n_heads
        if reference(*drawn.values())[1].max() < 0.8:
            return drawn


@cases_of(
    Exercise(
        "multi_head_attention",
        LAB,
        8,
        "multi_head_attention(x, w_q, w_k, w_v, w_o, n_heads)",
        ("out", "weights"),
    )
)
def multi_head_attention(rng: np.random.Generator) -> Iterator[Case]:
    visible = np.random.default_rng(11)
    by_hand = _by_hand() | {"n_heads": 2}
    yield shown("shares like 1/6, 1/3, 1/2: the weights", 1, by_hand, compare=("weights",))
    yield shown("the same: the output", 1, by_hand, compare=("out",))
    yield shown("two heads of width 3", 1, _layer(visible, T=5, d_model=6, n_heads=2))
    yield shown(
        "a batch of two", 0.5, _layer(visible, 2, T=5, d_model=12, n_heads=3), topic="batch"
    )
    refused = _layer(visible, T=5, d_model=12, n_heads=4)
    yield shown("5 heads cannot share 12 features", 0.5, refused | {"n_heads": 5}, raises=(12, 5))
    longer = _layer(rng, T=7, d_model=15, n_heads=3)
    yield kept("longer ones: the weights", 0.75, longer, compare=("weights",))
    yield kept("longer ones: the output", 0.75, longer, compare=("out",))
    yield kept("more heads than tokens", 0.75, _layer(rng, T=3, d_model=10, n_heads=5))
    yield kept("one head still has its W_O", 0.5, _layer(rng, T=4, d_model=6, n_heads=1))
    yield kept(
        "whole numbers, and the caller's arrays stay as they were",
        0.5,
        _whole_layer(rng, T=5, d_model=8, n_heads=2),
        untouched=True,
    )
    yield kept("large scores", 0.25, _large(rng, T=5, d_model=12, n_heads=3), topic="large")
    yield kept(
        "two leading axes", 0.5, _layer(rng, 2, 3, T=5, d_model=24, n_heads=4), topic="batch"
    )
    yield clue("as many tokens as heads", _layer(visible, T=3, d_model=9, n_heads=3))
    yield clue("one head", _layer(visible, T=3, d_model=4, n_heads=1))
    yield clue("one head of one feature a token", _layer(visible, 2, T=2, d_model=2, n_heads=2))


# ---- the layer as a class ----------------------------------------------------------------


def _spread_bounds(d_model: int) -> tuple[float, float]:
    """Five standard deviations of the spread of d_model² draws: one matrix may stand four times."""
    sigma = 1 / math.sqrt(2 * d_model**2)
    return 1 - 5 * sigma, 1 + 5 * sigma


@cases_of(
    Exercise(
        "MultiHeadAttention",
        LAB,
        5,
        "MultiHeadAttention(d_model, n_heads, seed)",
        ("out", "weights"),
    )
)
def multi_head_class(rng: np.random.Generator) -> Iterator[Case]:
    shapes = ("w_q_shape", "w_k_shape", "w_v_shape", "w_o_shape")
    seeds = ("seed_repeats", "seed_matters")

    def draw(d_model: int, n_heads: int, seed: int, *compare: str) -> dict[str, Any]:
        return {
            "inputs": {"d_model": d_model, "n_heads": n_heads, "seed": seed},
            "compare": compare,
            "bounds": {"spread": _spread_bounds(d_model)} if "spread" in compare else {},
            "probe": "draw_layer",
            "measure": "drawn_layer",
        }

    def use(rng: np.random.Generator, *leading: int, **sizes: int) -> dict[str, Any]:
        layer = _layer(rng, *leading, **sizes)
        return {"d_model": sizes["d_model"], "n_heads": layer.pop("n_heads")} | layer

    visible = np.random.default_rng(12)
    yield shown("four d_model × d_model matrices", 0.25, **draw(24, 4, 7, *shapes))
    yield shown("4·d_model² parameters", 0.5, **draw(24, 4, 7, "n_parameters"))
    yield shown("the spread times √d_model is about 1", 0.5, **draw(96, 4, 7, "spread"))
    yield shown("no two matrices are equal", 0.25, **draw(24, 4, 7, "all_differ"))
    yield shown("one seed, one layer; another seed, another", 0.5, **draw(24, 4, 7, *seeds))
    yield shown("NumPy's global stream is left alone", 0.25, **draw(24, 4, 7, "stream_left_alone"))
    yield shown(
        "forward, with weights put in by hand",
        0.5,
        use(visible, T=5, d_model=6, n_heads=2),
        probe="use_layer",
    )
    yield shown(
        "forward(x, None): no mask, said aloud",
        0.25,
        use(visible, T=4, d_model=6, n_heads=3) | {"mask": None},
        probe="use_layer",
    )
    seed = int(rng.integers(100, 1000))
    yield kept("another seed and size", 0.75, **draw(120, 4, seed, *shapes, "spread", "all_differ"))
    yield kept("another seed: parameters", 0.25, **draw(32, 4, seed, "n_parameters"))
    yield kept(
        "forward at other sizes", 0.5, use(rng, T=7, d_model=15, n_heads=3), probe="use_layer"
    )
    yield kept(
        "forward on a batch",
        0.25,
        use(rng, 2, T=5, d_model=12, n_heads=3),
        probe="use_layer",
        topic="batch",
    )
    yield kept(
        "heads that do not divide d_model are refused",
        0.25,
        use(rng, T=5, d_model=12, n_heads=4) | {"n_heads": 5},
        raises=(12, 5),
        probe="use_layer",
    )


# ---- the test the learner writes ---------------------------------------------------------


def _layers(*names: str) -> dict[str, Layer]:
    return {name: Layer(name) for name in names}


def _shuffle(rng: np.random.Generator, T: int, first_stays: bool = False) -> np.ndarray:
    """Draw a permutation that moves every token (or all but the first), and not in pairs."""
    while True:
        permutation = rng.permutation(T)
        stays = permutation == np.arange(T)
        if (
            stays[0] == first_stays
            and not stays[1:].any()
            and not (permutation[permutation] == np.arange(T))[1:].any()
        ):
            return permutation


# A trace of position is off by one ten-millionth a place. Moved like this, one token goes four
# places and four tokens go one: the largest difference is 4e-7, the mean 1.6e-7, the root of the
# mean square 2e-7, the length of all 15 differences together 7.7e-7.
ONE_FAR = np.array([4, 0, 1, 2, 3])


@cases_of(
    Exercise(
        "is_permutation_equivariant",
        LAB,
        5,
        "is_permutation_equivariant(layer, x, permutation, atol)",
        ("verdict",),
    )
)
def is_permutation_equivariant(rng: np.random.Generator) -> Iterator[Case]:
    def tokens(rng: np.random.Generator, *shape: int) -> np.ndarray:
        return rng.uniform(0.5, 1.5, shape).round(3)

    def tried(names: str, x: np.ndarray, permutation: Any, **more: Any) -> dict[str, Any]:
        """Put layers, tokens, permutation and perhaps atol together as the inputs of a case."""
        return {**_layers(*names.split()), "x": x, "permutation": np.array(permutation), **more}

    how: dict[str, Any] = {"probe": "call_with_layers", "boolean": True}
    visible = np.random.default_rng(13)
    shuffled = [2, 0, 4, 1, 3]
    yield shown(
        "by content (True), only backwards (False), the mean (True), with positions (False)",
        0.75,
        tried("content causal mean positions", tokens(visible, 5, 8), shuffled),
        **how,
    )
    yield shown(
        "sorts its tokens (False), looks at the first (False), leaves them alone (True)",
        0.5,
        tried("sorting first alone", tokens(visible, 5, 4), shuffled),
        **how,
    )
    yield shown(
        "a trace of position (False), by content (True)",
        0.25,
        tried("trace content", tokens(visible, 5, 3), shuffled),
        **how,
    )
    small = tokens(visible, 5, 3) / 1000
    yield shown(
        "all its differences are below atol: a trace of position (True), only backwards (False)",
        0.25,
        tried("trace causal", small, ONE_FAR, atol=5e-7),
        **how,
    )
    yield shown(
        "one of its differences is above atol: a trace, up or down (False), left alone (True)",
        0.25,
        tried("trace fading alone", small, ONE_FAR, atol=3e-7),
        **how,
    )
    yield shown(
        "the first token stays: looks at the first (True), looks ahead only (False)",
        0.25,
        tried("first ahead", tokens(visible, 5, 3), [0, 3, 1, 4, 2]),
        untouched=True,
        **how,
    )
    yield shown(
        "a batch of two",
        0.25,
        tried("content window", tokens(visible, 2, 5, 3), shuffled),
        topic="batch",
        **how,
    )
    yield kept(
        "other tokens, another permutation",
        0.75,
        tried("positions content window alone", tokens(rng, 6, 4), _shuffle(rng, 6)),
        **how,
    )
    yield kept(
        "layers that look at places",
        0.5,
        tried("mean first causal sorting", tokens(rng, 7, 9), _shuffle(rng, 7)),
        **how,
    )
    yield kept(
        "a trace of position, both ways",
        0.25,
        tried("content trace", tokens(rng, 6, 3), _shuffle(rng, 6)),
        **how,
    )
    small, one_far = tokens(rng, 5, 3) / 1000, rng.permutation([ONE_FAR, np.argsort(ONE_FAR)])[0]
    yield kept(
        "atol just above the largest difference",
        0.25,
        tried("fading positions trace", small, one_far, atol=4.4e-7),
        **how,
    )
    yield kept(
        "atol just below the largest difference",
        0.25,
        tried("alone fading trace", small, one_far, atol=3.6e-7),
        **how,
    )
    yield kept(
        "the first token stays, and x stays as it was",
        0.25,
        tried("ahead first content", tokens(rng, 6, 4), _shuffle(rng, 6, first_stays=True)),
        untouched=True,
        **how,
    )
    yield kept(
        "two leading axes",
        0.25,
        tried("mean positions content", tokens(rng, 2, 3, 5, 8), _shuffle(rng, 5)),
        topic="batch",
        **how,
    )
    yield clue(
        "as many features as tokens",
        tried(
            "content mean alone causal first sorting window", tokens(visible, 4, 4), [2, 3, 1, 0]
        ),
        **how,
    )
    yield clue(
        "the last token stays", tried("causal ahead", tokens(visible, 5, 3), [2, 0, 3, 1, 4]), **how
    )
    small = tokens(visible, 5, 3) / 1000
    yield clue("a wide atol", tried("trace positions", small, shuffled, atol=1e-3), **how)
