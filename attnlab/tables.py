"""Weights as a table: the numbers of a heat map for those who read or hear them."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from IPython.display import HTML

from attnlab import style
from attnlab.words import checked, clearest, marked, refuse_scores, shown

_CELL = "text-align:right;padding:.3em .6em;font-variant-numeric:tabular-nums"
_NAME = "padding:.3em .6em;white-space:nowrap;font-weight:bold"
_SIDE = {"col": "right", "row": "left"}  # names of columns stand over the ends of numbers


def weights_table(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    caption: str = "",
) -> HTML:
    """Show attention weights as a table, a row for each query, shaded as in the heat map.

    The place of a token stands beside it, since one token may come twice.

    Parameters
    ----------
    weights : (T, S) array, from 0 to 1
    queries, keys : T and S tokens; the same ones when `keys` is left out
    caption : a sentence above it; read off the weights when left out

    Raises
    ------
    ValueError : `weights` has another shape than the tokens say, or holds no weights
    """
    weights, queries, keys = checked(weights, queries, keys)
    refuse_scores(weights)
    head = "".join(_name(s, key, "col") for s, key in enumerate(keys))
    rows = "".join(
        f"<tr>{_name(t, query, 'row')}{''.join(map(_cell, weights[t]))}</tr>"
        for t, query in enumerate(queries)
    )
    said = marked(caption or clearest(weights, queries, keys))
    # `$` in a token is no formula: the two classes keep MathJax 2 and 3 away.
    return HTML(
        '<table class="mathjax_ignore tex2jax_ignore" '
        'style="border-collapse:collapse;margin:.5em 0;font-size:.95em">'
        f'<caption style="text-align:left;padding:.3em 0">{said}</caption><thead><tr>'
        f'<th scope="col" style="{_NAME};text-align:left">query \\ key</th>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table>"
    )


def _name(place: int, token: str, scope: str) -> str:
    return (
        f'<th scope="{scope}" style="{_NAME};text-align:{_SIDE[scope]}">{escape(shown(token))} '
        f'<span style="font-weight:normal;font-size:.8em">{place}</span></th>'
    )


def _cell(weight: float) -> str:
    if np.isnan(weight):
        return f'<td style="{_CELL}">nan</td>'
    shade = style.shade(weight)
    return (
        f'<td style="{_CELL};background:{shade};color:{style.ink(shade)}">'
        f"{f'{weight:.2f}' if weight else '0'}</td>"
    )
