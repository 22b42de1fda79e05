"""How widely a query spreads its attention: the entropy of its row of weights, in bits."""

from __future__ import annotations

import numpy as np


def entropy(weights: np.ndarray) -> np.ndarray:
    """Measure how widely each row spreads: 0 bits for one key, log2 S for S keys alike.

    Parameters
    ----------
    weights : (..., T, S) array, each row positive with sum 1; a weight of 0 adds nothing

    Returns
    -------
    (..., T) array of bits
    """
    weights = np.asarray(weights, dtype=float)
    some = np.where(weights == 0, 1.0, weights)  # 1 log 1 = 0, the limit of p log p at 0
    return np.asarray(np.abs(np.sum(some * np.log2(some), axis=-1)))  # never -0


def most_bits(weights: np.ndarray, mask: np.ndarray | None = None) -> np.ndarray:
    """Say the widest spread each row could have: log2 of how many keys it may attend to.

    Parameters
    ----------
    weights : (..., T, S) array
    mask : boolean, broadcast to (..., T, S), True = may attend; all of them when left out

    Returns
    -------
    (..., T) array of bits, 0 where a row may attend to nothing
    """
    shape = np.shape(weights)
    allowed = np.broadcast_to(True if mask is None else np.asarray(mask, dtype=bool), shape)
    return np.asarray(np.log2(np.maximum(np.count_nonzero(allowed, axis=-1), 1)))
