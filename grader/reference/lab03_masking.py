"""Lab 03 in plain loops: first who is allowed, then shares among those."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from grader.reference.loops import Array, each, product, transposed

# The cases that can be worked on paper: e to the scores is E, so an allowed key's weight is its
# entry over the sum of the allowed entries of its row (`by_hand`).
E = ((1, 2, 3), (4, 1, 3))
ALLOWED = ((True, False, True), (False, True, True))


def by_hand() -> list[list[Fraction]]:
    """Work out the weights exactly: 1/4, 0, 3/4 and 0, 1/4, 3/4."""
    return [shares_of([Fraction(e) for e in row], ok) for row, ok in zip(E, ALLOWED, strict=True)]


def causal_mask(T: int) -> Array:
    """Say for each pair of places whether the second is no later than the first: (T, T)."""
    return np.array([[s <= t for s in range(T)] for t in range(T)])


def padding_mask(lengths: Array, S: int) -> Array:
    """Say of each key of each sentence whether it is a real token: (B,) -> (B, 1, S)."""
    return np.array([[[s < int(length) for s in range(S)]] for length in lengths])


def additive_mask(mask: Array) -> Array:
    """Write 0 for every True and minus infinity for every False."""
    mask = np.asarray(mask)
    flat = [0.0 if allowed else -math.inf for allowed in mask.ravel().tolist()]
    return np.array(flat).reshape(mask.shape)


def shares_of(sizes: Sequence[Any], allowed: Sequence[Any]) -> list[Any]:
    """Share 1 out among the allowed in proportion to their sizes; nobody allowed, nothing shared.

    Exact for fractions: sizes 1, 2, 3 with the middle one forbidden give 1/4, 0, 3/4.
    """
    kept = [size if ok else 0 * size for size, ok in zip(sizes, allowed, strict=True)]
    total = sum(kept)
    return [size / total if total else size for size in kept]


def masked_softmax(scores: Array, mask: Array | None = None) -> Array:
    """Share 1 out among the allowed keys of each row, in proportion to e to the score."""

    def one(rows: list[list[float]], allowed: list[list[bool]]) -> list[list[float]]:
        return [_row(row, ok) for row, ok in zip(rows, allowed, strict=True)]

    scores = np.asarray(scores)
    if mask is None:
        mask = np.full(scores.shape, True)
    whole = np.broadcast_shapes(scores.shape, np.shape(mask))
    return each(one, np.broadcast_to(scores, whole), np.broadcast_to(mask, whole))


def _row(scores: list[float], allowed: list[bool]) -> list[float]:
    top = max((score for score, ok in zip(scores, allowed, strict=True) if ok), default=0.0)
    sizes = [math.exp(s - top) if ok else 0.0 for s, ok in zip(scores, allowed, strict=True)]
    return shares_of(sizes, allowed)


def masked_attention(
    q: Array, k: Array, v: Array, mask: Array | None = None
) -> tuple[Array, Array]:
    """Blend the values by masked shares of the scaled scores; returns out and weights."""
    root = math.sqrt(np.shape(q)[-1])
    scores = each(
        lambda q, k: [[dot / root for dot in row] for row in product(q, transposed(k))], q, k
    )
    weights = masked_softmax(scores, mask)
    return each(product, weights, v), weights


def influence(layer: Any, x: Array) -> Array:
    """Say whether a change of token s changes output t, for every pair: (T, T)."""
    tokens = [[float(feature) for feature in token] for token in np.asarray(x)]
    before, _ = layer.forward(np.array(tokens))
    moved = [[False] * len(tokens) for _ in tokens]
    for s, token in enumerate(tokens):
        for changed in ([f + 1 for f in token], [2 * f + 0.37 for f in token]):
            after, _ = layer.forward(np.array([*tokens[:s], changed, *tokens[s + 1 :]]))
            for t, (old, new) in enumerate(zip(before, after, strict=True)):
                if max(abs(a - b) for a, b in zip(old, new, strict=True)) > 1e-9:
                    moved[t][s] = True
    return np.array(moved)


class Attention:
    """One head of attention with projections, a causal mask if wanted, and an extra mask."""

    def __init__(
        self,
        d_model: int,
        d_k: int | None = None,
        d_v: int | None = None,
        causal: bool = False,
        seed: int = 0,
    ) -> None:
        rng = np.random.default_rng(seed)
        d_k = d_model if d_k is None else d_k
        d_v = d_model if d_v is None else d_v
        shapes = ((d_model, d_k), (d_model, d_k), (d_model, d_v), (d_v, d_model))
        drawn = [rng.normal(0.0, 1 / math.sqrt(shape[0]), shape) for shape in shapes]
        self.w_q, self.w_k, self.w_v, self.w_o = drawn
        self.causal = causal

    def forward(self, x: Array, mask: Array | None = None) -> tuple[Array, Array]:
        """Project x (..., T, d_model), attend where both masks allow it, project back."""
        q, k, v = (each(lambda s, w=w: product(s, w), x) for w in (self.w_q, self.w_k, self.w_v))
        if self.causal:
            past = causal_mask(np.shape(x)[-2])
            mask = past if mask is None else each(_both, past, mask)
        out, weights = masked_attention(q, k, v, mask)
        return each(lambda rows, w=self.w_o: product(rows, w), out), weights


def _both(a: list[list[bool]], b: list[list[bool]]) -> list[list[bool]]:
    """Allow what both allow; a single row or column of the second serves all."""
    rows = b if len(b) == len(a) else b * len(a)
    return [
        [x and y for x, y in zip(row, other * (len(row) // len(other)), strict=True)]
        for row, other in zip(a, rows, strict=True)
    ]
