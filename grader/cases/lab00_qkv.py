"""Cases of lab 00: 20 points, 2 of them for the written question."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from attnlab.example import IDS, TABLE
from attnlab.exercise import Case, Exercise
from grader.catalogue import cases_of, clue, kept, shown
from grader.draw import shares, tidy, whole

LAB = "lab00_qkv"


@cases_of(Exercise("embed", LAB, 2, "embed(ids, table)", ("x",)))
def embed(rng: np.random.Generator) -> Iterator[Case]:
    table = tidy(1, 5, 3)
    yield shown("the worked example", 0.5, {"ids": IDS, "table": TABLE})
    yield shown(
        "four tokens, two of them equal", 0.25, {"ids": np.array([4, 0, 2, 4]), "table": table}
    )
    yield shown(
        "a batch of two sentences",
        0.25,
        {"ids": np.array([[3, 1, 1, 0], [0, 4, 2, 1]]), "table": table},
        topic="batch",
    )
    yield kept(
        "another sentence and table",
        1,
        {"ids": rng.integers(0, 9, 6), "table": rng.normal(size=(9, 4))},
    )
    yield clue("square table", {"ids": np.array([2, 0, 3]), "table": tidy(2, 4, 4)})


@cases_of(Exercise("project", LAB, 4, "project(x, w_q, w_k, w_v)", ("q", "k", "v")))
def project(rng: np.random.Generator) -> Iterator[Case]:
    def matrices(d_model: int, d_k: int, d_v: int) -> dict[str, np.ndarray]:
        shapes = {"w_q": (d_model, d_k), "w_k": (d_model, d_k), "w_v": (d_model, d_v)}
        return {name: rng.normal(size=shape) for name, shape in shapes.items()}

    by_hand = {
        "x": np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0]]),
        "w_q": np.array([[1.0, 2.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0], [1.0, 0.0, 0.0, 3.0]]),
        "w_k": np.array([[0.0, 1.0, 1.0, 2.0], [2.0, 0.0, 1.0, 0.0], [0.0, 0.0, 4.0, 1.0]]),
        "w_v": np.array(
            [[1.0, 0.0, 0.0, 0.0, 2.0], [0.0, 1.0, 0.0, 5.0, 0.0], [3.0, 0.0, 1.0, 0.0, 0.0]]
        ),
    }
    tidy_matrices = {"w_q": tidy(4, 4, 3), "w_k": tidy(5, 4, 3), "w_v": tidy(6, 4, 6)}
    yield shown("two tokens, whole numbers", 1, by_hand)
    yield shown(
        "a batch of two sentences", 0.5, {"x": tidy(3, 2, 5, 4), **tidy_matrices}, topic="batch"
    )
    yield kept("other sizes", 1, {"x": rng.normal(size=(6, 5)), **matrices(5, 3, 2)})
    yield kept(
        "whole numbers",
        0.5,
        {
            "x": whole(rng, 4, 5),
            "w_q": whole(rng, 5, 2),
            "w_k": whole(rng, 5, 2),
            "w_v": whole(rng, 5, 3),
        },
    )
    yield kept(
        "the caller's arrays stay as they were",
        0.75,
        {"x": rng.normal(size=(3, 4)), **matrices(4, 2, 5)},
        untouched=True,
    )
    yield kept(
        "two leading axes",
        0.25,
        {"x": rng.normal(size=(2, 3, 6, 5)), **matrices(5, 4, 7)},
        topic="batch",
    )
    yield clue(
        "square",
        {"x": tidy(7, 3, 3), "w_q": tidy(8, 3, 3), "w_k": tidy(9, 3, 3), "w_v": tidy(10, 3, 3)},
    )


def _apart(
    rng: np.random.Generator, *leading: int, T: int, S: int, d_k: int, d_v: int
) -> dict[str, np.ndarray]:
    """Draw q, k, v in which every query's best key is clearly the best."""
    while True:
        q, k = rng.normal(size=(*leading, T, d_k)), rng.normal(size=(*leading, S, d_k))
        ranked = np.sort(q @ np.swapaxes(k, -1, -2), axis=-1)
        if (ranked[..., -1] - ranked[..., -2] > 0.05).all() and (
            ranked[..., 1] - ranked[..., 0] > 0.05
        ).all():
            return {"q": q, "k": k, "v": rng.normal(size=(*leading, S, d_v))}


@cases_of(Exercise("lookup", LAB, 2, "lookup(q, k, v)", ("values",)))
def lookup(rng: np.random.Generator) -> Iterator[Case]:
    by_hand = {
        "q": np.array([[1.0, 2.0], [2.0, -9.0]]),  # for the second, cosine has another winner
        "k": np.array([[3.0, 0.0], [1.0, 4.0], [-2.0, -1.0]]),
        "v": np.array(
            [[10.0, 11.0, 12.0, 13.0], [20.0, 21.0, 22.0, 23.0], [30.0, 31.0, 32.0, 33.0]]
        ),
    }
    yield shown("the keys of the text, two queries", 0.75, by_hand)
    yield shown(
        "a batch of two",
        0.25,
        _apart(np.random.default_rng(11), 2, T=3, S=5, d_k=4, d_v=6),
        topic="batch",
    )
    yield kept("other sizes", 1, _apart(rng, T=4, S=6, d_k=3, d_v=5))
    yield clue("square", _apart(np.random.default_rng(12), T=3, S=3, d_k=3, d_v=3))
    yield clue(
        "a cube", _apart(np.random.default_rng(27), 3, T=3, S=3, d_k=3, d_v=3), topic="batch"
    )


@cases_of(Exercise("scores", LAB, 4, "scores(q, k)", ("scores",)))
def scores(rng: np.random.Generator) -> Iterator[Case]:
    by_hand = {
        "q": np.array([[1.0, 2.0], [0.0, 3.0]]),
        "k": np.array([[1.0, 1.0], [2.0, 0.0], [0.0, 4.0]]),
    }
    yield shown("worked by hand: two queries, three keys", 1, by_hand)
    yield shown("other sizes", 0.5, {"q": tidy(13, 4, 5), "k": tidy(14, 3, 5)})
    yield shown(
        "a batch of two", 0.5, {"q": tidy(15, 2, 3, 5), "k": tidy(16, 2, 4, 5)}, topic="batch"
    )
    yield kept("longer ones", 1, {"q": rng.normal(size=(5, 3)), "k": rng.normal(size=(7, 3))})
    yield kept("whole numbers", 0.75, {"q": whole(rng, 3, 6), "k": whole(rng, 5, 6)})
    yield kept(
        "two leading axes",
        0.25,
        {"q": rng.normal(size=(2, 3, 4, 6)), "k": rng.normal(size=(2, 3, 5, 6))},
        topic="batch",
    )
    yield clue("square", {"q": tidy(17, 3, 3), "k": tidy(18, 3, 3)})
    yield clue("a cube", {"q": tidy(19, 3, 3, 3), "k": tidy(20, 3, 3, 3)}, topic="batch")


def _twentieths(seed: int, *shape: int) -> np.ndarray:
    """Draw readable rows that sum to 1: every share is a number of twentieths, at least one."""
    n = shape[-1]
    extra = np.random.default_rng(seed).multinomial(20 - n, [1 / n] * n, shape[:-1])
    return (1 + extra) / 20


@cases_of(Exercise("blend", LAB, 4, "blend(weights, v)", ("values",)))
def blend(rng: np.random.Generator) -> Iterator[Case]:
    by_hand = {
        "weights": np.array([[0.5, 0.25, 0.25], [0.125, 0.125, 0.75]]),
        "v": np.array([[8.0, 0.0, 4.0, 0.0], [0.0, 16.0, 0.0, 8.0], [4.0, 4.0, 0.0, 16.0]]),
    }
    yield shown("the row of the text, widened, and a second row", 1, by_hand)
    yield shown(
        "other sizes",
        0.5,
        {"weights": _twentieths(21, 5, 4), "v": tidy(22, 4, 3)},
    )
    yield shown(
        "a batch of two",
        0.5,
        {"weights": _twentieths(23, 2, 3, 5), "v": tidy(24, 2, 5, 4)},
        topic="batch",
    )
    yield kept("longer ones", 1, {"weights": shares(rng, 4, 7), "v": rng.normal(size=(7, 5))})
    yield kept("whole numbers", 0.75, {"weights": shares(rng, 3, 6), "v": whole(rng, 6, 4)})
    yield kept(
        "two leading axes",
        0.25,
        {"weights": shares(rng, 2, 3, 4, 6), "v": rng.normal(size=(2, 3, 6, 5))},
        topic="batch",
    )
    yield clue("square", {"weights": shares(np.random.default_rng(25), 3, 3), "v": tidy(26, 3, 3)})


@cases_of(Exercise("steer", LAB, 2, "steer()", ("w_q", "w_k")))
def steer(rng: np.random.Generator) -> Iterator[Case]:
    blank = {"he": (0.35, 1.0), "work": (0.35, 1.0), "other": (0.0, 0.15)}

    def share(name: str, points: float, *quantities: str) -> Case:
        bounds = {quantity: blank[quantity] for quantity in quantities}
        return shown(name, points, {}, compare=quantities, bounds=bounds, measure="blank_row")

    yield share("he gets at least 0.35", 0.75, "he")
    yield share("the two work together get at least 0.35", 0.75, "work")
    yield share("both, and every comma and other pronoun below 0.15", 0.5, "he", "work", "other")
