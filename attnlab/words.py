"""The words beside a picture: what rows of weights say, read off the numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape

import numpy as np

# HTML and SVG hold no control characters, and no surrogates and the like at all.
_PICTURES: dict[int, int | str] = {code: 0x2400 + code for code in range(32)}
_PICTURES |= {127: 0x2421, **dict.fromkeys([*range(0xD800, 0xE000), 0xFFFE, 0xFFFF], "\ufffd")}


def reading(
    weights: np.ndarray,
    query: int,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
) -> str:
    """Say in a sentence which key a query attends to most, read off its row of (T, S) weights."""
    keys = queries if keys is None else keys
    row = np.asarray(weights, dtype=float)[query]
    if np.isnan(row).any():
        return f"`{queries[query]}` has weights that are not numbers (nan)."
    if not row.any():
        return f"`{queries[query]}` attends to no token, 0 each."
    best = [s for s in range(len(keys)) if np.isclose(row[s], row.max())]
    if len(best) == len(keys) > 1:
        return f"`{queries[query]}` attends to every token alike, {row[0]:.2f} each."
    *most, last = dict.fromkeys(f"`{keys[s]}`" for s in best)
    names = f"{', '.join(most)} and {last}" if most else last
    each = " each" if len(best) > 1 else ""
    return f"`{queries[query]}` attends most to {names}, {row.max():.2f}{each}."


def clearest(weights: np.ndarray, queries: Sequence[str], keys: Sequence[str] | None = None) -> str:
    """Say the reading of the query that chooses most clearly among the keys it may see.

    A row that has only one key to look at, as the first one under a causal mask, has no
    choice, and so does not count as clear.
    """
    weights = np.nan_to_num(np.asarray(weights, dtype=float))
    choice = weights.max(axis=1) * np.count_nonzero(weights, axis=1)  # (T,); 1 is no choice
    return reading(weights, int(choice.argmax()), queries, keys)


def marked(text: str) -> str:
    """Write text as HTML, with `code` where it has backticks."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(shown(text)))


def plain(text: str) -> str:
    """Write text without its backticks, for those who hear it."""
    return text.replace("`", "")


def shown(text: str) -> str:
    """Replace what cannot be shown: control characters by their pictures, as ␊ for a new line."""
    return text.translate(_PICTURES)


def checked(
    weights: np.ndarray, queries: Sequence[str], keys: Sequence[str] | None
) -> tuple[np.ndarray, list[str], list[str]]:
    """Take weights with the names of their rows and columns, and refuse what does not fit.

    Parameters
    ----------
    weights : (T, S) array
    queries, keys : T and S tokens; the same ones when `keys` is None

    Returns
    -------
    weights : (T, S) array of floats
    queries, keys : T and S strings

    Raises
    ------
    ValueError : there is no token, or another number of tokens than of rows or columns
    """
    rows = [str(token) for token in queries]
    columns = rows if keys is None else [str(token) for token in keys]
    weights = np.asarray(weights, dtype=float)
    if weights.shape != (len(rows), len(columns)):
        raise ValueError(
            f"weights have shape {weights.shape}, but there are {len(rows)} queries "
            f"and {len(columns)} keys"
        )
    if not weights.size:
        raise ValueError("there is nothing to show: give at least one query and one key")
    return weights, rows, columns


def refuse_scores(weights: np.ndarray) -> None:
    """Raise a ValueError unless all weights lie between 0 and 1; nan may stand."""
    outside = (weights < -1e-9) | (weights > 1 + 1e-6)
    if outside.any():
        t, s = np.argwhere(outside)[0]
        raise ValueError(
            f"weights lie between 0 and 1, but the one of query {t} and key {s} is "
            f"{weights[t, s]:g}. Are these scores? Turn them into weights first."
        )
