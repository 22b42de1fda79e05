"""The style of every picture: one place for its map, its lines and its sizes.

Nothing here changes matplotlib's own settings: plots pass these values on one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Colour = str | tuple[float, float, float]  # a name, `#rrggbb`, or red, green, blue from 0 to 1

MAP = "Blues"  # light is little, dark is much, for every kind of colour vision and in print
LIMITS = (0.0, 1.0)  # what white and the darkest blue stand for, on every map of weights
MOST_NUMBERED = 16  # tokens; beyond this the numbers in the cells cannot be read
MOST_BESIDE = 10  # tokens of two numbered maps side by side in a notebook

# Each line has a colour, a dash and a marker of its own, so that it is known without colour.
# There is one marker more than there are dashes: 20 lines pass before two look the same.
COLOURS = ("#08306b", "#d95f02", "#009999", "#7f0000")
DASHES = ("-", "--", ":", "-.")
MARKERS = ("o", "s", "^", "D", "v")
BAR = "#2171b5"
RULE = "#dddddd"  # thin lines between cells

TITLE_SIZE = 11  # points
NUMBER_SIZE = 9
CURVES_SIZE = (6.4, 3.8)  # inches
DOTS_PER_INCH = 110
LONG_TOKEN = 6  # characters; longer names do not fit under a column


def line(number: int) -> dict[str, Any]:
    """Say how the line of that number is drawn, as keywords for `Axes.plot`."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": DASHES[number % len(DASHES)],
        "marker": MARKERS[number % len(MARKERS)],
        "markersize": 4,
    }


def map_size(queries: Sequence[str], keys: Sequence[str]) -> tuple[float, float]:
    """Choose the size of a heat map, in inches: room for a number in each cell, where it has one.

    Parameters
    ----------
    queries, keys : the names of its rows and of its columns
    """
    numbered = max(len(queries), len(keys)) <= MOST_NUMBERED
    wide, high = (0.6, 0.48) if numbered else (0.24, 0.24)
    beside, below = (0.09 * max(0, longest(names) - LONG_TOKEN) for names in (queries, keys))
    return wide * len(keys) + 1.8 + beside, high * len(queries) + 1.2 + below


def panel_size(queries: Sequence[str], keys: Sequence[str]) -> tuple[float, float]:
    """Choose the size of one heat map of several in a figure: a little closer than alone."""
    width, height = map_size(queries, keys)
    return 0.93 * width, 0.93 * height


def turned(keys: Sequence[str], numbered: bool) -> dict[str, Any]:
    """Say how far the names of columns are turned to fit, as keywords for their text."""
    if not numbered:
        return {"rotation": 90}
    if longest(keys) < LONG_TOKEN:
        return {"rotation": 0}
    return {"rotation": 45, "ha": "right", "rotation_mode": "anchor"}


def longest(names: Sequence[str]) -> int:
    """Count the characters of the longest name; 0 where there is none."""
    return max(map(len, names), default=0)


def shade(weight: float) -> str:
    """Give the colour that stands for a weight from 0 to 1, as `#rrggbb`."""
    from matplotlib import colormaps  # a while to load, and only what is coloured needs it
    from matplotlib.colors import to_hex

    return to_hex(colormaps[MAP](weight))


def ink(colour: Colour) -> str:
    """Choose black or white for text on a colour, whichever is told apart better.

    The better of the two always has a contrast of at least 4.5.
    """
    return max("black", "white", key=lambda text: contrast(text, colour))


def contrast(one: Colour, other: Colour) -> float:
    """Measure the contrast of two colours as WCAG 2 defines it: 1 is none, 21 black on white."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: Colour) -> float:
    """Measure how much light a colour gives, relative to white (WCAG 2)."""
    from matplotlib.colors import to_rgb

    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in to_rgb(colour)
    ]
    return sum(x * y for x, y in zip(linear, (0.2126, 0.7152, 0.0722), strict=True))
