"""Lab 01 in plain loops and exact numbers: one row at a time, one number at a time."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cache

import numpy as np

from grader.reference.loops import Array, each, each_row, product, transposed

# Cases that can be worked on paper: their scaled scores are the logarithms of whole numbers,
# so a weight is one of these numbers over the sum of its row.
PAIR = ((1, 3), (1, 2))
TRIO = ((1, 2, 3), (4, 1, 3), (2, 6, 1))


def by_hand() -> tuple[list[list[float]], list[list[float]], Array, Array]:
    """Work the two-token case out: scaled scores ln E, and √d_k times that before."""
    root = math.isqrt(4)
    values = [[12, 0, 24], [0, 12, 24]]
    weights = [[Fraction(number, sum(row)) for number in row] for row in PAIR]
    out = [
        [sum(w * value[j] for w, value in zip(row, values, strict=True)) for j in range(3)]
        for row in weights
    ]
    scaled = [[math.log(number) for number in row] for row in PAIR]
    scores = [[root * number for number in row] for row in scaled]
    return scores, scaled, np.array(weights, dtype=float), np.array(out, dtype=float)


def softmax(x: Array, axis: int = -1) -> Array:
    """Share 1 out along an axis, each share in proportion to e to its score."""
    rows = each_row(_shares, np.moveaxis(np.asarray(x), axis, -1))
    return np.moveaxis(rows, -1, axis)


def _shares(row: list[float]) -> list[float]:
    largest = max(row)
    sizes = [math.exp(score - largest) for score in row]
    total = math.fsum(sizes)
    return [size / total for size in sizes]


def attention(q: Array, k: Array, v: Array) -> tuple[Array, Array]:
    """Weigh the values of each query: -> out (..., T, d_v), weights (..., T, S)."""

    def weigh(q: list[list[float]], k: list[list[float]]) -> list[list[float]]:
        root = math.sqrt(len(k[0]))
        return [_shares([score / root for score in row]) for row in product(q, transposed(k))]

    weights = each(weigh, q, k)
    return each(product, weights, v), weights


def score_variance(d_k: int, n: int, rng: np.random.Generator, scale: float = 1.0) -> float:
    """Draw n scores and take their variance.

    Once q is drawn, q·k is normal with variance |q|², and |q|² is chi-square of d_k.
    """
    squares, normals = rng.chisquare(d_k, n).tolist(), rng.normal(size=n).tolist()
    scores = [scale * math.sqrt(s) * z for s, z in zip(squares, normals, strict=True)]
    mean = math.fsum(scores) / n
    return math.fsum((score - mean) ** 2 for score in scores) / n


def spread_of_variance(d_k: int, n: int) -> float:
    """Say by how much, in relation to itself, the variance of n scores varies (one sigma).

    The fourth moment of q·k is (3 + 6/d_k) times its variance squared.
    """
    return math.sqrt((2 + 6 / d_k) / n)


def sharpness(
    d_k: int, divisor: float, n_keys: int, n_queries: int, rng: np.random.Generator
) -> float:
    """Draw the scores of every query and take the mean of the largest weights."""
    largest = []
    for square in rng.chisquare(d_k, n_queries).tolist():
        normals = rng.normal(size=n_keys).tolist()
        largest.append(max(_shares([math.sqrt(square) * z / divisor for z in normals])))
    return math.fsum(largest) / n_queries


@cache
def expected_sharpness(d_k: int, divisor: float, n_keys: int) -> float:
    """Work out what `sharpness` is in the long run, by integrals, to about three digits."""
    centre = math.sqrt(d_k)  # |q| is close to √d_k, hardly ever 3 away from it
    total = mass = 0.0
    for length, width in _legendre(max(0.0, centre - 3), centre + 3, 9):
        density = math.exp((d_k - 1) * math.log(length / centre) - (length**2 - d_k) / 2)
        total += width * density * _largest_share(length / divisor, n_keys)
        mass += width * density
    return total / mass


def _largest_share(sigma: float, n_keys: int) -> float:
    """Give the mean largest weight among scores drawn from N(0, sigma²).

    It is n_keys times the mean of 1 / (1 + Σ_j g_j) where the z of the key is the largest and
    g_j = exp(sigma (z_j - z)). As 1 / (1 + a) is the integral of t^a over t from 0 to 1, and
    t to the sum is a product, the z_j can be averaged one by one.
    """
    mean = 0.0
    for top, width in _legendre(-4.0, 5.0, 24):
        below = [
            (math.exp(-sigma * gap), weight * _bell(top - gap))
            for gap, weight in _legendre(0.0, top + 6.0, 24)
        ]
        for t, height in _legendre(0.0, 1.0, 24):
            one_key = math.fsum(weight * t**size for size, weight in below)
            mean += width * _bell(top) * height * one_key ** (n_keys - 1)
    return n_keys * mean


def _bell(z: float) -> float:
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def _legendre(low: float, high: float, n: int) -> list[tuple[float, float]]:
    """Choose n points between low and high for an integral, with the width each stands for."""
    points, widths = np.polynomial.legendre.leggauss(n)
    half = (high - low) / 2
    return [
        (low + half * (p + 1), half * w)
        for p, w in zip(points.tolist(), widths.tolist(), strict=True)
    ]


def softmax_jacobian(weights: Array) -> Array:
    """Change of weight i by score j: p_i (1 - p_i) on the diagonal, -p_i p_j elsewhere."""

    def one(p: list[float]) -> list[list[float]]:
        n = range(len(p))
        return [[p[i] * (1 - p[i]) if i == j else -p[i] * p[j] for j in n] for i in n]

    return each_row(one, weights)
