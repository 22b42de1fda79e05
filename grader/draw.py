"""Inputs for cases: small readable numbers to show, and drawn ones to keep back."""

from __future__ import annotations

import numpy as np


def tidy(seed: int, *shape: int) -> np.ndarray:
    """Draw a readable array with one decimal between -1.5 and 1.5, the same for one seed."""
    return np.random.default_rng(seed).integers(-15, 16, shape) / 10


def whole(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Draw small whole numbers, -3 to 3, as an integer array."""
    return rng.integers(-3, 4, shape)


def shares(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Draw rows that are positive and sum to 1, none of them close to a single choice."""
    sizes = rng.uniform(0.5, 2.5, shape)
    rows: np.ndarray = sizes / sizes.sum(-1, keepdims=True)
    return rows
