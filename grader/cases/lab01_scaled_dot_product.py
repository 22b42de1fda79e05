"""Cases of lab 01: 30 points, 3 of them for the written question."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from attnlab.exercise import Case, Exercise, Rng
from grader.catalogue import cases_of, clue, kept, shown
from grader.draw import shares, tidy
from grader.reference.lab01_scaled_dot_product import (
    TRIO,
    expected_sharpness,
    spread_of_variance,
)
from grader.reference.lab01_scaled_dot_product import attention as right_attention

LAB = "lab01_scaled_dot_product"
SATURATED = 0.8  # above this a weight row says too little about the rest of the formula


@cases_of(Exercise("by_hand", LAB, 3, "by_hand()", ("scores", "scaled", "weights", "out")))
def by_hand(rng: np.random.Generator) -> Iterator[Case]:
    for number, (step, name) in enumerate(
        (
            ("the scores", "scores"),
            ("the scaled scores", "scaled"),
            ("the weights", "weights"),
            ("the output", "out"),
        ),
        1,
    ):
        yield shown(f"step {number}: {step}", 0.75, {}, compare=(name,), measure="two_decimals")


def _level(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Draw scores between -1 and 1: with three keys or more no weight reaches 0.79."""
    return rng.uniform(-1, 1, shape)


def _far_apart(rng: np.random.Generator, heights: list[float], n_keys: int) -> np.ndarray:
    """Draw rows of scores around given heights, exact in eighths."""
    return np.array(heights)[:, None] + rng.integers(-8, 9, (len(heights), n_keys)) / 8


def _wide(rng: np.random.Generator, tops: list[float], n_keys: int) -> np.ndarray:
    """Draw rows with two scores around a top and all others some 2000 below, exact in eighths."""
    rows = _far_apart(rng, tops, n_keys)
    rows[:, 2:] -= 2000
    return rng.permuted(rows, axis=-1)


@cases_of(Exercise("softmax", LAB, 6, "softmax(x)", ("weights",)))
def softmax(rng: np.random.Generator) -> Iterator[Case]:
    yield shown(
        "two rows of logarithms",
        0.75,
        {"x": np.log([[1.0, 2.0, 3.0], [4.0, 1.0, 3.0]])},
    )
    yield shown("one row alone", 0.25, {"x": np.log([1.0, 4.0, 2.0, 3.0])})
    yield shown("whole numbers", 0.5, {"x": np.array([[0, 1, 2, 1], [3, 1, 2, 2], [-1, 0, 0, 1]])})
    yield shown("a batch of two", 0.5, {"x": tidy(101, 2, 3, 4)}, topic="batch")
    yield shown(
        "scores around 1000",
        0.25,
        {"x": np.array([[1000.0, 1001, 999.5], [1001, 1000.5, 1000]])},
        topic="large",
    )
    yield shown(
        "one row around 1000, one around -1000",
        0.25,
        {"x": np.array([[1000.0, 1001, 1000.5], [-999.5, -1001, -1000]])},
        topic="large",
    )
    yield shown(
        "rows that reach from -1000 to 2000",
        0.25,
        {"x": np.array([[0, 2001, 0.5, 2000, -1000], [-400, 500.5, 501, -1000, -999]])},
        topic="large",
    )
    yield shown(
        "the array it is given stays as it was", 0.25, {"x": tidy(102, 3, 5)}, untouched=True
    )
    yield kept("other sizes", 1, {"x": _level(rng, 5, 7)})
    yield kept("two leading axes", 0.5, {"x": _level(rng, 2, 4, 3, 5)}, topic="batch")
    yield kept("other whole numbers", 0.5, {"x": rng.integers(-1, 2, (4, 6))})
    yield kept(
        "other large scores", 0.5, {"x": _far_apart(rng, [1000, 0, -1000, 800], 5)}, topic="large"
    )
    yield kept("other wide rows", 0.25, {"x": _wide(rng, [2000, 1500, 0], 7)}, topic="large")
    yield kept("another array stays as it was", 0.25, {"x": _level(rng, 6, 4)}, untouched=True)
    yield clue("square", {"x": tidy(103, 3, 3)})
    yield clue("a cube", {"x": tidy(104, 3, 3, 3)})
    yield clue(
        "scores around -1000",
        {"x": np.array([[-1000.0, -1001, -999.5], [-1001, -1000.5, -1000]])},
        topic="large",
    )


def _paper() -> dict[str, np.ndarray]:
    """Make queries and keys whose scaled scores are logarithms of the whole numbers in TRIO.

    The fourth query asks for nothing; the fifth for what the first two ask for together, so
    its numbers are the products of theirs: 4, 2 and 9.
    """
    q = np.array([[2.0, 0, 0, 0], [0, 2, 0, 0], [0, 0, 2, 0], [0, 0, 0, 0], [2, 2, 0, 0]])
    k = np.column_stack([np.log(TRIO).T, [1.0, -1, 2]])
    return {"q": q, "k": k, "v": np.array([[6.0, 0], [0, 24], [18, 9]])}


Draw = Callable[..., np.ndarray]


def _unsaturated(
    draw: Draw, *leading: int, T: int, S: int, d_k: int, d_v: int
) -> dict[str, np.ndarray]:
    """Draw q, k, v until every row of weights says something about all its keys."""
    while True:
        q, k, v = draw(*leading, T, d_k), draw(*leading, S, d_k), draw(*leading, S, d_v)
        if right_attention(q, k, v)[1].max() < SATURATED:
            return {"q": q, "k": k, "v": v}


def _tidy_from(seed: int) -> Draw:
    rng = np.random.default_rng(seed)
    return lambda *shape: rng.integers(-15, 16, shape) / 10


def _large(
    rng: np.random.Generator, heights: list[float], S: int, root: int, d_v: int
) -> dict[str, np.ndarray]:
    """Draw q, k, v whose scaled scores lie around a height for each query, exact in float32."""

    def quarters(*shape: int) -> np.ndarray:
        return rng.integers(-4, 5, shape) / 4

    inputs = _unsaturated(quarters, T=len(heights), S=S, d_k=root**2, d_v=d_v)
    inputs["k"][:, 0] = 50
    inputs["q"][:, 0] = root * np.array(heights) / 50
    return inputs


@cases_of(Exercise("attention", LAB, 8, "attention(q, k, v)", ("out", "weights")))
def attention(rng: np.random.Generator) -> Iterator[Case]:
    def normal(*shape: int) -> np.ndarray:
        return rng.normal(size=shape)

    def whole(*shape: int) -> np.ndarray:
        return rng.integers(-1, 2, shape)

    yield shown("the example of the text and two more queries", 1.5, _paper())
    yield shown("other sizes", 0.75, _unsaturated(_tidy_from(111), T=2, S=3, d_k=5, d_v=6))
    yield shown(
        "the arrays it is given stay as they were",
        0.25,
        _unsaturated(_tidy_from(116), T=5, S=3, d_k=6, d_v=2),
        untouched=True,
    )
    yield shown(
        "a batch of two",
        0.75,
        _unsaturated(_tidy_from(112), 2, T=3, S=7, d_k=6, d_v=5),
        topic="batch",
    )
    yield shown(
        "scores of ±1000",
        0.75,
        _large(np.random.default_rng(113), [1000, -1000, 800], S=5, root=2, d_v=2),
        topic="large",
    )
    yield kept("longer ones", 1.5, _unsaturated(normal, T=6, S=7, d_k=3, d_v=5))
    yield kept("whole numbers", 0.75, _unsaturated(whole, T=3, S=5, d_k=6, d_v=2))
    yield kept(
        "other arrays stay as they were",
        0.25,
        _unsaturated(normal, T=6, S=5, d_k=7, d_v=3),
        untouched=True,
    )
    yield kept(
        "other large scores",
        0.75,
        _large(rng, [-900, 1000, -1000, 1000, 800], S=6, root=3, d_v=2),
        topic="large",
    )
    yield kept(
        "two leading axes",
        0.75,
        _unsaturated(normal, 2, 3, T=8, S=5, d_k=7, d_v=6),
        topic="batch",
    )
    yield clue("square", _unsaturated(_tidy_from(114), T=3, S=3, d_k=3, d_v=3))
    yield clue("a cube", _unsaturated(_tidy_from(115), 3, T=3, S=3, d_k=3, d_v=3), topic="batch")


def _drawn(rng: np.random.Generator) -> Rng:
    return Rng(int(rng.integers(1 << 31)))


def _within(expected: float, sigma: float) -> tuple[float, float]:
    """Set bounds five standard deviations (in relation to what is expected) to both sides."""
    low, high = expected * (1 - 5 * sigma), expected * (1 + 5 * sigma)
    return float(f"{low:.4g}"), float(f"{high:.4g}")


@cases_of(
    Exercise("score_variance", LAB, 4, "score_variance(d_k, n, rng, scale=1.0)", ("variance",))
)
def score_variance(rng: np.random.Generator) -> Iterator[Case]:
    def sample(d_k: int, n: int, rng: Rng, scale: float) -> dict[str, int | float | Rng]:
        return {"d_k": d_k, "n": n, "rng": rng, "scale": scale}

    def bounds(d_k: int, n: int, scale: float) -> dict[str, tuple[float, float]]:
        return {"variance": _within(scale**2 * d_k, spread_of_variance(d_k, n))}

    yield shown(
        "d_k = 16, as they come",
        0.75,
        {"d_k": 16, "n": 4_000, "rng": Rng(121)},
        bounds=bounds(16, 4_000, 1.0),
    )
    yield shown(
        "d_k = 3, every score times 0.7",
        0.75,
        sample(3, 7_000, Rng(122), 0.7),
        bounds=bounds(3, 7_000, 0.7),
    )
    yield clue("one pair", sample(30, 1, Rng(124), 1.0), bounds={"variance": (0.0, 1e-9)})
    yield shown(
        "the draws come from rng",
        0.5,
        sample(5, 50, Rng(123), 1.0),
        probe="call_with_two_seeds",
        measure="seeded",
    )
    for name, d_k, n, scale in (
        ("more features, scores halved", 40, 4_500, 0.5),
        ("many features, scores tripled", 100, 3_500, 3.0),
        ("divided by √d_k", 64, 8_000, 1 / math.sqrt(64)),
    ):
        yield kept(name, 0.5, sample(d_k, n, _drawn(rng), scale), bounds=bounds(d_k, n, scale))
    yield kept(
        "other draws come from rng",
        0.5,
        sample(4, 60, _drawn(rng), 2.0),
        probe="call_with_two_seeds",
        measure="seeded",
    )


@cases_of(
    Exercise(
        "sharpness",
        LAB,
        3,
        "sharpness(d_k, divisor, n_keys, n_queries, rng)",
        ("sharpness",),
    )
)
def sharpness(rng: np.random.Generator) -> Iterator[Case]:
    # The spread (one sigma) is that of one set of keys for all queries, measured over 1,500
    # runs; with new keys for every query it is smaller.
    def sample(
        d_k: int, divisor: float, n_keys: int, n_queries: int, rng: Rng
    ) -> dict[str, int | float | Rng]:
        return {
            "d_k": d_k,
            "divisor": divisor,
            "n_keys": n_keys,
            "n_queries": n_queries,
            "rng": rng,
        }

    def bounds(
        d_k: int, divisor: float, n_keys: int, sigma: float
    ) -> dict[str, tuple[float, float]]:
        return {"sharpness": _within(expected_sharpness(d_k, divisor, n_keys), sigma)}

    for name, points, divisor, sigma, seed in (
        ("8 keys, divided by √d_k", 0.75, 10.0, 0.023, 131),
        ("8 keys, not divided", 0.5, 1.0, 0.0065, 132),
    ):
        yield shown(
            name,
            points,
            sample(100, divisor, 8, 1_000, Rng(seed)),
            bounds=bounds(100, divisor, 8, sigma),
        )
    yield shown(
        "the draws come from rng",
        0.25,
        sample(6, 2.0, 3, 20, Rng(133)),
        probe="call_with_two_seeds",
        measure="seeded",
    )
    for name, points, divisor, n_keys, sigma in (
        ("20 keys, divided by √d_k", 0.75, 8.0, 20, 0.026),
        ("40 keys, divided by a quarter of √d_k", 0.5, 2.0, 40, 0.015),
    ):
        yield kept(
            name,
            points,
            sample(64, divisor, n_keys, 1_000, _drawn(rng)),
            bounds=bounds(64, divisor, n_keys, sigma),
        )
    yield kept(
        "other draws come from rng",
        0.25,
        sample(5, 3.0, 4, 20, _drawn(rng)),
        probe="call_with_two_seeds",
        measure="seeded",
    )


@cases_of(Exercise("softmax_jacobian", LAB, 3, "softmax_jacobian(weights)", ("jacobian",)))
def softmax_jacobian(rng: np.random.Generator) -> Iterator[Case]:
    trio = np.array(TRIO, dtype=float)
    yield shown("three keys: 1/2, 1/3, 1/6", 1, {"weights": np.array([1 / 2, 1 / 3, 1 / 6])})
    yield shown("four keys", 0.25, {"weights": np.array([0.4, 0.1, 0.2, 0.3])})
    yield shown(
        "a row for each of two queries",
        0.25,
        {"weights": trio[1:] / trio[1:].sum(-1, keepdims=True)},
        topic="batch",
    )
    yield kept("more keys", 1, {"weights": shares(rng, 7)})
    yield kept(
        "the caller's array stays as it was", 0.25, {"weights": shares(rng, 5)}, untouched=True
    )
    yield kept("two leading axes", 0.25, {"weights": shares(rng, 2, 4, 5)}, topic="batch")
    yield clue("square", {"weights": shares(np.random.default_rng(141), 3, 3)})
