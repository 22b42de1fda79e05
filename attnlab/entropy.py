"""How widely a query spreads its attention: the entropy of its row of weights, in bits."""

from __future__ import annotations

from collections.abc import Sequence

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


def entropy_reading(
    weights: np.ndarray, queries: Sequence[str], mask: np.ndarray | None = None
) -> str:
    """Say in a sentence which query spreads its attention most and which least.

    Parameters
    ----------
    weights : (T, S) array
    queries : T tokens
    mask : boolean, broadcast to (T, S), True = may attend; all of them when left out
    """
    weights = np.asarray(weights, dtype=float)
    bits, most = entropy(weights), most_bits(weights, mask)
    rows = [t for t in range(len(bits)) if weights[t].any() and not np.isnan(bits[t])]
    if not rows:
        return "No query attends to anything."
    widest = max(rows, key=lambda t: bits[t])
    closest = min(rows, key=lambda t: bits[t])
    if np.isclose(bits[widest], bits[closest], atol=1e-6):
        return f"Every query spreads its attention alike, over {bits[widest]:.2f} bits."
    return (
        f"`{queries[widest]}` spreads its attention most, {bits[widest]:.2f} of at most "
        f"{most[widest]:.2f} bits; `{queries[closest]}` least, {bits[closest]:.2f} of at most "
        f"{most[closest]:.2f}."
    )
