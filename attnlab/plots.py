"""Plots of the course: arrays in, matplotlib Axes out; `figure` shows them with their words.

One style for all: `Blues` from 0 to 1 is readable without colour vision and in print.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import HTML
from matplotlib.axes import Axes

MOST_NUMBERED = 16  # tokens; beyond this the numbers in the cells cannot be read

# Told apart by shape and by lightness, not by hue alone.
_LINES = ("-", "--", ":", "-.")
_MARKERS = ("o", "s", "^", "D")
_COLOURS = ("#08306b", "#d95f02", "#666666", "#41ab5d")


def heatmap(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    ax: Axes | None = None,
    title: str = "",
    limits: tuple[float, float] = (0.0, 1.0),
    fmt: str = ".2f",
    labels: tuple[str, str] = ("key", "query"),
) -> Axes:
    """Draw attention weights with a row for each query and a column for each key.

    Parameters
    ----------
    weights : (T, S) array
    queries, keys : T and S tokens; the same ones when `keys` is left out
    ax : where to draw; a new figure when left out
    title : what the map answers
    limits : the values shown as white and as darkest blue
    fmt : how numbers are written in the cells
    labels : names of the horizontal and the vertical axis
    """
    import seaborn as sns  # it takes longer to load than all the rest, and only maps need it

    weights = np.asarray(weights, dtype=float)
    keys = queries if keys is None else keys
    if weights.shape != (len(queries), len(keys)):
        raise ValueError(
            f"weights have shape {weights.shape}, but there are {len(queries)} queries "
            f"and {len(keys)} keys"
        )
    if ax is None:
        size = (0.6 * len(keys) + 1.8, 0.48 * len(queries) + 1.2)
        _, ax = plt.subplots(figsize=size, layout="constrained")
    numbered = max(weights.shape) <= MOST_NUMBERED
    sns.heatmap(
        weights,
        ax=ax,
        cmap="Blues",
        vmin=limits[0],
        vmax=limits[1],
        annot=numbered,
        fmt=fmt,
        annot_kws={"size": 9},
        linewidths=0.5,
        linecolor="#dddddd",
        cbar=not numbered,
        xticklabels=list(keys),
        yticklabels=list(queries),
    )
    ax.set(xlabel=labels[0], ylabel=labels[1])
    ax.set_title(title, fontsize=11)
    ax.tick_params(axis="y", rotation=0)
    ax.tick_params(axis="x", rotation=0 if max(map(len, keys)) < 6 else 45)
    return ax


def head_maps(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    titles: Sequence[str] = (),
    columns: int = 2,
) -> np.ndarray:
    """Draw one heat map a head, side by side, from weights (H, T, S); returns the H Axes."""
    weights = np.asarray(weights, dtype=float)
    keys = queries if keys is None else keys
    n_heads = len(weights)
    rows = -(-n_heads // columns)
    size = (columns * (0.55 * len(keys) + 1.5), rows * (0.42 * len(queries) + 1.3))
    _, grid = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    axes = grid.ravel()
    for head in range(n_heads):
        title = titles[head] if titles else f"head {head}"
        heatmap(weights[head], queries, keys, ax=axes[head], title=title)
    for empty in axes[n_heads:]:
        empty.remove()
    return np.array(axes[:n_heads])


def curves(
    x: Sequence[float] | np.ndarray,
    lines: Mapping[str, Sequence[float] | np.ndarray],
    *,
    xlabel: str,
    ylabel: str,
    ax: Axes | None = None,
    title: str = "",
    log: str = "",
) -> Axes:
    """Draw one line for each name, with its name at its end.

    Parameters
    ----------
    x : (n,) array
    lines : name -> (n,) array
    xlabel, ylabel : what the axes show, with units
    log : "x", "y" or "xy" for logarithmic axes (base 2 along x)
    """
    if ax is None:
        _, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    if "x" in log:
        ax.set_xscale("log", base=2)
    if "y" in log:
        ax.set_yscale("log")
    for number, (name, y) in enumerate(lines.items()):
        style = number % len(_LINES)
        ax.plot(
            x,
            y,
            label=name,
            linestyle=_LINES[style],
            marker=_MARKERS[style],
            markersize=4,
            color=_COLOURS[style],
        )
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.set_title(title, fontsize=11)
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    if len(lines) > 1:
        ax.legend(frameon=False)
    return ax


def reading(
    weights: np.ndarray,
    query: int,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
) -> str:
    """Say in a sentence which key a query attends to most, read off its row of (T, S) weights."""
    keys = queries if keys is None else keys
    row = np.asarray(weights, dtype=float)[query]
    best = [s for s in range(len(keys)) if np.isclose(row[s], row.max())]
    if len(best) == len(keys):
        return f"`{queries[query]}` attends to every token alike, {row[0]:.2f} each."
    *most, last = dict.fromkeys(f"`{keys[s]}`" for s in best)
    names = f"{', '.join(most)} and {last}" if most else last
    each = " each" if len(best) > 1 else ""
    return f"`{queries[query]}` attends most to {names}, {row.max():.2f}{each}."


def figure(axes: Axes | np.ndarray, alt: str, caption: str = "") -> HTML:
    """Show a plot as an HTML figure whose words reach everyone.

    JupyterLab drops the alternative text of a plain image, so it is written out here.

    Parameters
    ----------
    axes : an Axes, or an array of Axes of one figure
    alt : what the picture shows, for those who do not see it
    caption : a sentence under it; the alternative text when left out
    """
    first: Any = axes if isinstance(axes, Axes) else np.ravel(axes)[0]
    drawing = first.figure
    buffer = io.BytesIO()
    drawing.savefig(buffer, format="png", dpi=110, facecolor="white")
    plt.close(drawing)
    picture = base64.b64encode(buffer.getvalue()).decode()
    width, _ = drawing.get_size_inches()
    words = escape(caption or alt).split("`")  # every second part stood between backticks
    marked = "".join(f"<code>{w}</code>" if i % 2 else w for i, w in enumerate(words))
    described = escape(alt.replace("`", ""), quote=True)
    return HTML(
        f'<figure style="margin:0.5em 0"><img src="data:image/png;base64,{picture}" '
        f'alt="{described}" style="width:{width * 80:.0f}px;max-width:100%">'
        f"<figcaption>{marked}</figcaption></figure>"
    )
