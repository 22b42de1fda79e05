"""The reference is exact where the numbers are, and agrees with a second way where not."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from grader.catalogue import reference

E = [[1, 2, 3], [4, 1, 3], [2, 6, 1]]
WEIGHTS = [[Fraction(x, sum(row)) for x in row] for row in E]
OUT = [[10, Fraction(25, 2)], [Fraction(39, 4), Fraction(51, 8)], [Fraction(10, 3), 17]]


@pytest.fixture
def fixture() -> dict[str, np.ndarray]:
    """The case derived on paper: scaled scores are logarithms of whole numbers."""
    return {
        "q": 2 * np.hstack([np.eye(3), np.zeros((3, 1))]),
        "k": np.hstack([np.log(E).T, [[1], [-1], [2]]]),
        "v": np.array([[6, 0], [0, 24], [18, 9]]),
    }


def fractions(array: np.ndarray) -> list[list[Fraction]]:
    return [[Fraction(x).limit_denominator(100) for x in row] for row in array]


def test_the_exact_fixture_comes_out_as_fractions(fixture: dict[str, np.ndarray]) -> None:
    out, weights = reference("attention")(**fixture)
    assert fractions(weights) == WEIGHTS
    assert fractions(out) == OUT
    np.testing.assert_allclose(weights, np.array(WEIGHTS, dtype=float), rtol=1e-15)


def test_softmax_of_logarithms_gives_the_numbers_back() -> None:
    assert fractions(reference("softmax")(np.log(E))) == WEIGHTS


def test_softmax_is_exact_far_out() -> None:
    rows = [[1000.0, 1001.0], [-1000.0, -1001.0], [1000.0, -1000.0]]
    e = math.e
    expected = [[1 / (1 + e), e / (1 + e)], [e / (1 + e), 1 / (1 + e)], [1, 0]]
    np.testing.assert_allclose(reference("softmax")(rows), expected, rtol=1e-14)


def test_the_jacobian_is_the_slope_of_softmax() -> None:
    scores, step = np.log(E[1]), 1e-6
    softmax = reference("softmax")
    slopes = [
        (softmax(scores + step * np.eye(3)[j]) - softmax(scores - step * np.eye(3)[j])) / (2 * step)
        for j in range(3)
    ]
    jacobian = reference("softmax_jacobian")(softmax(scores))
    np.testing.assert_allclose(jacobian, np.transpose(slopes), atol=1e-9)


def test_heads_split_and_merge_by_name() -> None:
    """Every number says which token, head and feature it is: 100 t + 10 h + f."""
    x = np.array([[100 * t + 10 * h + f for h in range(2) for f in range(3)] for t in range(4)])
    heads = reference("split_heads")(x, 2)
    assert heads.shape == (2, 4, 3)
    assert all(
        heads[h, t, f] == 100 * t + 10 * h + f for h in range(2) for t in range(4) for f in range(3)
    )
    np.testing.assert_array_equal(reference("merge_heads")(heads), x)


def test_one_head_without_mixing_is_single_head_attention(fixture: dict[str, np.ndarray]) -> None:
    rng = np.random.default_rng(0)
    x, w_q, w_k, w_v = rng.normal(size=(5, 4)), *rng.normal(size=(3, 4, 4))
    out, weights = reference("multi_head_attention")(x, w_q, w_k, w_v, np.eye(4), 1)
    alone, alone_weights = reference("attention")(x @ w_q, x @ w_k, x @ w_v)
    np.testing.assert_allclose(out, alone, rtol=1e-12)
    np.testing.assert_allclose(weights[0], alone_weights, rtol=1e-12)


def test_masks_say_who_may_attend() -> None:
    assert reference("causal_mask")(3).tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert reference("padding_mask")([2, 0], 3).tolist() == [[[1, 1, 0]], [[0, 0, 0]]]


def test_a_fully_masked_row_is_zero_and_a_masked_one_renormalised() -> None:
    mask = [[True, False, True], [False, False, False], [True, True, True]]
    weights = reference("masked_softmax")(np.log(E), mask)
    assert fractions(weights) == [[Fraction(1, 4), 0, Fraction(3, 4)], [0, 0, 0], WEIGHTS[2]]
