"""The few loops that every reference is made of. Only single numbers are added and multiplied."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Array = np.ndarray
Matrix = Sequence[Sequence[float]]


def each(one: Callable[..., Any], *arrays: Any) -> Array:
    """Apply a function of matrices to every matrix along the leading axes.

    Leading axes of length 1, or missing ones, serve every place, as in NumPy.
    """
    parts = [np.asarray(array) for array in arrays]
    leading = np.broadcast_shapes(*[part.shape[:-2] for part in parts])
    if not leading:
        return np.array(one(*[part.tolist() for part in parts]))
    whole = [np.broadcast_to(part, leading + part.shape[-2:]) for part in parts]
    made = [
        np.array(one(*[part[place].tolist() for part in whole])) for place in np.ndindex(leading)
    ]
    return np.array(made).reshape(leading + made[0].shape)


def each_row(one: Callable[[list[float]], Any], array: Any) -> Array:
    """Apply a function of one row to every row along the last axis."""
    array = np.asarray(array)
    made = [np.array(one(array[place].tolist())) for place in np.ndindex(array.shape[:-1])]
    return np.array(made).reshape(array.shape[:-1] + made[0].shape)


def product(a: Matrix, b: Matrix) -> list[list[float]]:
    """Multiply two matrices."""
    inner = range(len(b))
    if any(len(row) != len(b) for row in a):
        raise ValueError(f"rows of {len(a[0])} numbers do not fit a matrix of {len(b)} rows")
    return [[math.fsum(row[i] * b[i][j] for i in inner) for j in range(len(b[0]))] for row in a]


def transposed(a: Matrix) -> list[list[float]]:
    """Turn rows into columns."""
    return [list(column) for column in zip(*a, strict=True)]
