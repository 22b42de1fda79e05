"""Attention as lines from queries to keys: a picture that answers to pointer and keyboard.

It is plain SVG and CSS, so it works without a kernel, in a saved page, and on its own as a
file. All views share one style sheet and have no ids: any number of them stand on a page.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from attnlab import style
from attnlab.words import checked, clearest, marked, plain, reading, refuse_scores, shown

# The text's own colour is mixed in, which makes lines darker on light pages and lighter on
# dark ones. What does not know `color-mix` draws in the plain blue.
LINE = style.BAR
LINE_SHARE = 0.6

THINNEST, WIDEST = 0.5, 7.0  # of a line, in pixels, for weights 0 and 1
FAINTEST = 0.3  # opacity of the smallest weight while no row is lit

ROW = 30  # pixels from one token to the next
LETTER = 9.2  # the most that a letter of the text below takes, on the average
BETWEEN = 230  # pixels from queries to keys
LONGEST = 24  # letters of a token that are shown
NUMBER = 56  # pixels for a weight beside its key

_CSS = f"""
.attnlab-heads {{ font: 15px "DejaVu Sans", Verdana, sans-serif; overflow: visible; }}
.attnlab-heads text {{ fill: currentColor; white-space: pre; dominant-baseline: central; }}
.attnlab-heads .place {{ font-size: 11px; }}
.attnlab-heads .title {{ font-weight: bold; }}
.attnlab-heads .row {{ cursor: default; outline: none; }}
.attnlab-heads .spot {{ fill: transparent; stroke: none; }}
.attnlab-heads line {{ stroke: color-mix(in srgb, {LINE} {LINE_SHARE:.0%}, currentColor);
  pointer-events: none; }}
.attnlab-heads .said {{ visibility: hidden; pointer-events: none; }}
.attnlab-heads .row:hover .said, .attnlab-heads .row:focus .said {{ visibility: visible; }}
.attnlab-heads .row:hover line, .attnlab-heads .row:focus line {{ stroke-opacity: 1; }}
.attnlab-heads .row:hover .spot, .attnlab-heads .row:focus .spot {{ stroke-width: 2px;
  stroke: color-mix(in srgb, {LINE} {LINE_SHARE:.0%}, currentColor); }}
.attnlab-heads:has(.row:focus) .row:not(:focus, :hover) line,
.attnlab-heads:has(.row:hover) .row:not(:hover) line {{ stroke-opacity: .06; }}
.attnlab-heads:has(.row:hover) .row:not(:hover) .said {{ visibility: hidden; }}
"""


class HeadView:
    """Weights as lines: queries on the left, keys on the right, the wider the more weight.

    Point at a query, or reach it with Tab, and its row lights up and says its numbers.

    Parameters
    ----------
    weights : (T, S) array, from 0 to 1; a weight of 0 draws no line
    queries, keys : T and S tokens; the same ones when `keys` is left out
    title : what the picture answers
    alt : what it shows, for those who do not see it; read off the weights when left out

    Raises
    ------
    ValueError : `weights` has another shape than the tokens say, or holds no weights
    """

    def __init__(
        self,
        weights: np.ndarray,
        queries: Sequence[str],
        keys: Sequence[str] | None = None,
        *,
        title: str = "",
        alt: str = "",
    ) -> None:
        self.weights, self.queries, self.keys = checked(weights, queries, keys)
        refuse_scores(self.weights)
        self.title = title
        self.caption = clearest(self.weights, self.queries, self.keys)
        self.alt = alt or f"Lines from {len(self.queries)} queries to {len(self.keys)} keys, " + (
            f"the wider the more weight. {self.caption}"
        )

    def __repr__(self) -> str:
        return plain(self.alt)

    def _repr_html_(self) -> str:
        # `$` in a token is no formula: the two classes keep MathJax 2 and 3 away.
        return (
            '<figure class="mathjax_ignore tex2jax_ignore" style="margin:0.5em 0">'
            f"{self.svg()}<figcaption>{marked(self.caption)} Point at a query, or reach "
            "it with Tab, to light its row.</figcaption></figure>"
        )

    def save(self, path: str | Path) -> Path:
        """Write the picture as an SVG file, on white; in a browser its rows still light up.

        Parameters
        ----------
        path : where to write; `.svg` is added if it is missing, and so are its folders

        Returns
        -------
        The path that was written.
        """
        path = Path(path)
        if path.suffix.lower() != ".svg":
            path = path.with_name(f"{path.name}.svg")
        path.parent.mkdir(parents=True, exist_ok=True)
        text = '<?xml version="1.0" encoding="utf-8"?>\n' + self.svg(ground="white")
        path.write_bytes(text.encode())
        return path

    def svg(self, ground: str = "") -> str:
        """Write the picture as SVG.

        Parameters
        ----------
        ground : colour behind the picture; none when left out, so that the page shows through
        """
        left, right = (_width(names) for names in (self.queries, self.keys))
        rows_from, keys_from = self._starts()
        width = left + BETWEEN + right + NUMBER
        height = max(rows_from + ROW * len(self.queries), keys_from + ROW * len(self.keys)) - 10
        size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
        behind = f'<rect width="100%" height="100%" fill="{ground}"/>' if ground else ""
        title = f'<text class="title" x="4" y="14">{_text(self.title)}</text>' if self.title else ""
        head = (
            f'<text class="place" x="{left - 6:.0f}" y="{rows_from - 22:.0f}" text-anchor="end">'
            f'query</text><text class="place" x="{left + BETWEEN + 6:.0f}" '
            f'y="{keys_from - 22:.0f}">key</text>'
        )
        keys = "".join(
            f'<text x="{left + BETWEEN + 6:.0f}" y="{keys_from + ROW * s:.0f}">'
            f'<tspan class="place">{s}</tspan> {_text(_short(key))}</text>'
            for s, key in enumerate(self.keys)
        )
        rows = "".join(self._row(t, left, width) for t in range(len(self.queries)))
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="attnlab-heads" role="group" '
            f'aria-label="{_text(plain(self.alt))}" {size} style="max-width:100%;height:auto">'
            f"<style>{_CSS}</style>{behind}{title}{head}{keys}{rows}</svg>"
        )

    def _row(self, t: int, left: float, width: float) -> str:
        """Draw a query with its lines, and with the numbers that show when it is lit."""
        said = _text(plain(reading(self.weights, t, self.queries, self.keys)))
        rows_from, keys_from = self._starts()
        here = rows_from + ROW * t
        lines, numbers = "", ""
        for s, weight in enumerate(self.weights[t]):
            there = keys_from + ROW * s
            if weight > 0:  # neither 0 nor nan
                lines += _line((left, here), (left + BETWEEN, there), weight)
            number = f"{weight:.2f}" if weight else "0"
            numbers += (
                f'<text class="said" x="{width - 6:.0f}" y="{there:.0f}" text-anchor="end">'
                f"{number}</text>"
            )
        return (
            f'<g class="row" tabindex="0" role="img" aria-label="{said}"><title>{said}</title>'
            f'<rect class="spot" fill="none" x="1" y="{here - ROW / 2 + 1:.0f}" '
            f'width="{left - 2:.0f}" height="{ROW - 2}" rx="4"/>'
            f'<text x="{left - 6:.0f}" y="{here:.0f}" text-anchor="end">'
            f'{_text(_short(self.queries[t]))} <tspan class="place">{t}</tspan></text>'
            f"{lines}{numbers}</g>"
        )

    def _starts(self) -> tuple[float, float]:
        """Say at what height the first query and the first key stand, below title and headings."""
        top = 54 if self.title else 30
        more = len(self.keys) - len(self.queries)
        return top + ROW * max(0, more) / 2, top + ROW * max(0, -more) / 2


def _line(start: tuple[float, float], end: tuple[float, float], weight: float) -> str:
    (x1, y1), (x2, y2) = start, end
    return (
        f'<line x1="{x1:.0f}" y1="{y1:.0f}" x2="{x2:.0f}" y2="{y2:.0f}" stroke="{LINE}" '
        f'stroke-width="{THINNEST + (WIDEST - THINNEST) * weight:.2f}" '
        f'stroke-opacity="{FAINTEST + (1 - FAINTEST) * weight:.2f}"/>'
    )


def _width(names: Sequence[str]) -> float:
    """Leave room for the longest token and its place."""
    return max(60.0, 36 + LETTER * max(_letters(_short(name)) for name in names))


def _short(token: str) -> str:
    return token if len(token) <= LONGEST else token[: LONGEST - 1] + "…"


def _letters(token: str) -> int:
    """Count letters by the room they take: those of East Asian scripts and emoji take two."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in token)


def _text(text: str) -> str:
    return escape(shown(text))
