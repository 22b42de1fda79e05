"""Small layers to test tests on: what moves where is known, and nothing is learned.

Each has `forward(x)`, which takes (..., T, d) arrays and returns `(out, weights)` as an
attention layer does. None of them is attention: they mix tokens in plainer ways.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Array = np.ndarray


class MixingLayer:
    """A layer that mixes tokens with weights it works out from them.

    Parameters
    ----------
    mix : takes one (T, d) sequence and returns its (T, T) weights
    positions : how much of each token's place is added to its features first
    """

    def __init__(self, mix: Callable[[Array], Array], positions: float = 0.0) -> None:
        self.mix = mix
        self.positions = positions

    def forward(self, x: Array) -> tuple[Array, Array]:
        """Mix the tokens of x (..., T, d) and return out (..., T, d), weights (..., T, T)."""
        x = np.asarray(x, dtype=float)
        if x.ndim > 2:
            parts = [self.forward(sequence) for sequence in x]
            return np.stack([out for out, _ in parts]), np.stack([w for _, w in parts])
        if self.positions:
            x = x + self.positions * np.arange(len(x))[:, None]
        weights = self.mix(x)
        return weights @ x, weights


class HandingLayer(MixingLayer):
    """A layer in which each token keeps its features and is handed one more by the one before.

    Parameters
    ----------
    given : the feature of the earlier token that is handed on
    taken : the feature of the later token that it is added to
    """

    def __init__(self, given: int, taken: int) -> None:
        super().__init__(lambda x: _backwards(x, reach=1))
        self.given, self.taken = given, taken

    def forward(self, x: Array) -> tuple[Array, Array]:
        """Hand the feature on, and return out (..., T, d) and weights (..., T, T)."""
        _, weights = super().forward(x)
        out = np.array(x, dtype=float)
        out[..., 1:, self.taken] += np.asarray(x)[..., :-1, self.given]
        return out, weights


def _by_content(x: Array) -> Array:
    """Weights that grow with the square of two tokens' agreement."""
    agreement = 1.0 + np.array([[np.dot(a, b) ** 2 for b in x] for a in x])
    return np.array([row / sum(row) for row in agreement])


def _backwards(x: Array, reach: int | None = None) -> Array:
    """The plain mean of a token and of those before it, at most `reach` back."""
    weights = np.zeros((len(x), len(x)))
    for t in range(len(x)):
        first = 0 if reach is None else max(0, t - reach)
        weights[t, first : t + 1] = 1.0 / (t + 1 - first)
    return weights


def _itself(x: Array) -> Array:
    return np.eye(len(x))


def _first_only(x: Array) -> Array:
    weights = np.zeros((len(x), len(x)))
    weights[:, 0] = 1.0
    return weights


def _leaking(x: Array) -> Array:
    """Shares of all tokens with the later ones struck out afterwards: they still count below."""
    agreement = 1.5 + np.tanh([[np.dot(a, b) for b in x] for a in x])
    return np.tril(np.array([row / sum(row) for row in agreement]))


def _sorted(x: Array) -> Array:
    weights = np.zeros((len(x), len(x)))
    for place, token in enumerate(np.argsort(x[:, 0], kind="stable")):
        weights[place, token] = 1.0
    return weights


LAYERS: dict[str, MixingLayer] = {
    "content": MixingLayer(_by_content),
    "mean": MixingLayer(lambda x: np.full((len(x), len(x)), 1.0 / len(x))),
    "alone": MixingLayer(_itself),
    "causal": MixingLayer(_backwards),
    "leaking": MixingLayer(_leaking),
    "window": MixingLayer(lambda x: _backwards(x, reach=1)),
    "first": MixingLayer(_first_only),
    "positions": MixingLayer(_by_content, positions=1.0),
    "trace": MixingLayer(_itself, positions=1e-7),
    "fading": MixingLayer(_itself, positions=-1e-7),
    "first to last": HandingLayer(given=0, taken=-1),
    "last to first": HandingLayer(given=-1, taken=0),
    "first to second": HandingLayer(given=0, taken=1),
    "last to second": HandingLayer(given=-1, taken=1),
    "sorting": MixingLayer(_sorted),
    "ahead": MixingLayer(lambda x: _backwards(x)[::-1, ::-1]),
}
