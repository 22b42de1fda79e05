"""Lab 02 in plain loops: one head at a time, one number at a time.

No head is ever cut out of a larger array and put back. Head h projects with its own columns
of w_q, w_k and w_v, and what it hands over goes through its own rows of w_o; the heads' parts
are added up. That this gives what splitting and merging give is what the lab is about.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from attnlab.layers import MixingLayer
from grader.reference.lab01_scaled_dot_product import attention, softmax
from grader.reference.loops import Array, Matrix, each, product, transposed

__all__ = [
    "MultiHeadAttention",
    "attention",  # this and softmax are given in the lab
    "is_permutation_equivariant",
    "merge_heads",
    "multi_head_attention",
    "softmax",
    "split_heads",
]


def split_heads(x: Any, n_heads: int) -> Array:
    """Deal the features of x (..., T, d_model) out: (..., H, T, d_head), in order."""
    d_head = _width(np.shape(x)[-1], n_heads)
    return each(lambda x: [_columns(x, h, d_head) for h in range(n_heads)], x)


def merge_heads(x: Any) -> Array:
    """Lay the heads of x (..., H, T, d_head) side by side again: (..., T, d_model)."""
    x = np.asarray(x)
    *leading, n_heads, n_tokens, d_head = x.shape
    rows = [
        [x[place][h][t][i] for h in range(n_heads) for i in range(d_head)]
        for place in np.ndindex(*leading)
        for t in range(n_tokens)
    ]
    return np.array(rows).reshape(*leading, n_tokens, n_heads * d_head)


def multi_head_attention(
    x: Any, w_q: Any, w_k: Any, w_v: Any, w_o: Any, n_heads: int
) -> tuple[Array, Array]:
    """Let every head attend on its own, and add up what they hand over, each through W_O.

    Returns out (..., T, d_model) and weights (..., H, T, T).
    """
    w_q, w_k, w_v, w_o = (np.asarray(w).tolist() for w in (w_q, w_k, w_v, w_o))
    d_head = _width(len(w_q), n_heads)

    def one_head(x: Matrix, h: int) -> tuple[Matrix, Matrix]:
        q, k, v = (product(x, _columns(w, h, d_head)) for w in (w_q, w_k, w_v))
        scores = product(q, transposed(k))
        weights = [_shares([s / math.sqrt(d_head) for s in row]) for row in scores]
        return product(product(weights, v), w_o[h * d_head : (h + 1) * d_head]), weights

    def out(x: Matrix) -> Matrix:
        parts = [one_head(x, h)[0] for h in range(n_heads)]
        return [
            [math.fsum(part[t][i] for part in parts) for i in range(len(w_o[0]))]
            for t in range(len(x))
        ]

    return each(out, x), each(lambda x: [one_head(x, h)[1] for h in range(n_heads)], x)


class MultiHeadAttention:
    """A layer of H heads: four matrices without biases, drawn from one seed."""

    def __init__(self, d_model: int, n_heads: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        self.w_q, self.w_k, self.w_v, self.w_o = (
            rng.normal(0.0, 1.0 / math.sqrt(d_model), (d_model, d_model)) for _ in range(4)
        )
        self.n_parameters = 4 * d_model**2

    def forward(self, x: Any, mask: None = None) -> tuple[Array, Array]:
        """Return out (..., T, d_model) and weights (..., H, T, T)."""
        return multi_head_attention(x, self.w_q, self.w_k, self.w_v, self.w_o, self.n_heads)


def is_permutation_equivariant(
    layer: MixingLayer, x: Any, permutation: Any, atol: float = 1e-9
) -> bool:
    """Say whether permuting the tokens of x (..., T, d) just permutes the layer's output."""
    x = np.asarray(x, dtype=float)
    moved = np.empty_like(x)
    for place in np.ndindex(x.shape[:-2]):
        for to, token in enumerate(permutation):
            moved[place][to] = x[place][int(token)]
    before, after = layer.forward(x)[0], layer.forward(moved)[0]
    return all(
        abs(float(a) - float(b)) <= atol
        for place in np.ndindex(x.shape[:-2])
        for to, token in enumerate(permutation)
        for a, b in zip(after[place][to], before[place][int(token)], strict=True)
    )


def _width(d_model: int, n_heads: int) -> int:
    d_head, left_over = divmod(d_model, n_heads)
    if left_over:
        raise ValueError(f"d_model = {d_model} cannot be shared out evenly to {n_heads} heads")
    return d_head


def _columns(a: Matrix, h: int, d_head: int) -> Matrix:
    """Take the columns of a matrix that belong to head h."""
    return [[row[i] for i in range(h * d_head, (h + 1) * d_head)] for row in a]


def _shares(scores: list[float]) -> list[float]:
    """Share 1 out over the scores, in proportion to e to each."""
    sizes = [math.exp(score - max(scores)) for score in scores]
    return [size / math.fsum(sizes) for size in sizes]
