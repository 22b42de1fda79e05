"""Plots of the course: arrays in, matplotlib Axes out; `figure` shows them with their words.

How they look is in `attnlab.style`.
"""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from IPython.display import HTML
from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.figure import Figure
from PIL import Image

from attnlab import style
from attnlab.entropy import entropy, most_bits
from attnlab.words import checked, marked, plain, reading

# What a map is titled, its weights (T, T), its T tokens, and which of them is read aloud, if any.
Panel = tuple[str, np.ndarray, Sequence[str], int | None]

__all__ = [
    "curves",
    "entropy_bars",
    "figure",
    "head_maps",
    "heatmap",
    "panels",
    "reading",
    "save",
]


def heatmap(
    weights: np.ndarray,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    ax: Axes | None = None,
    title: str = "",
    limits: tuple[float, float] = style.LIMITS,
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

    Raises
    ------
    ValueError : `weights` has another shape than the tokens say
    """
    import seaborn as sns  # it takes longer to load than all the rest, and only maps need it

    weights, queries, keys = checked(weights, queries, keys)
    if ax is None:
        _, ax = plt.subplots(figsize=style.map_size(queries, keys), layout="constrained")
    numbered = max(weights.shape) <= style.MOST_NUMBERED
    before = len(ax.texts)
    with _not_drawn_yet(ax.figure.canvas):
        sns.heatmap(
            weights,
            ax=ax,
            cmap=style.MAP,
            vmin=limits[0],
            vmax=limits[1],
            annot=numbered,
            fmt=fmt,
            annot_kws={"size": style.NUMBER_SIZE},
            linewidths=0.5 if numbered else 0,
            linecolor=style.RULE,
            cbar=not numbered,
            xticklabels=False,
            yticklabels=False,
        )
    if numbered:
        _ink_numbers(ax, before, len(keys))
    # A token may hold a $, and is no formula then.
    turned = style.turned(keys, numbered)
    ax.set_xticks(np.arange(len(keys)) + 0.5, keys, parse_math=False, **turned)
    ax.set_yticks(np.arange(len(queries)) + 0.5, queries, parse_math=False)
    ax.set(xlabel=labels[0], ylabel=labels[1])
    ax.set_title(title, fontsize=style.TITLE_SIZE)
    return ax


def _ink_numbers(ax: Axes, first: int, columns: int) -> None:
    """Write each number in black or white, whichever has more contrast with its cell.

    seaborn decides by a fixed lightness, and puts white on blues that are too light for it.
    """
    mesh: Any = ax.collections[-1]
    mesh.update_scalarmappable()  # the colours are otherwise known only once it is drawn
    colours = mesh.get_facecolors()
    for number in ax.texts[first:]:
        x, y = number.get_position()  # the middle of its cell
        number.set_color(style.ink(tuple(colours[int(y) * columns + int(x)][:3])))


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
    axes = _grid(len(weights), columns, style.panel_size(queries, keys))
    for head, ax in enumerate(axes):
        title = titles[head] if titles else f"head {head}"
        heatmap(weights[head], queries, keys, ax=ax, title=title)
    return axes


def _grid(n: int, columns: int, panel: tuple[float, float]) -> np.ndarray:
    """Make n Axes of a size in inches, in rows of so many columns."""
    columns = min(columns, n)
    rows = -(-n // columns)
    size = (columns * panel[0], rows * panel[1])
    _, grid = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    axes = grid.ravel()
    for empty in axes[n:]:
        empty.remove()
    return np.array(axes[:n])


def panels(*maps: Panel, note: str = "") -> HTML:
    """Show heat maps two by two, with a row of each read aloud under them.

    Maps of many tokens stand one under the other: side by side they would be too small to read.

    Parameters
    ----------
    maps : (title, weights, tokens, query) of each; nothing is read where the query is None
    note : a sentence after the readings
    """
    longest = max((tokens for _, _, tokens, _ in maps), key=len)
    columns = 2 if len(longest) <= style.MOST_BESIDE else 1
    axes, said = _grid(len(maps), columns, style.panel_size(longest, longest)), []
    for ax, (title, weights, tokens, query) in zip(axes, maps, strict=True):
        heatmap(weights, tokens, ax=ax, title=title)
        if query is not None:
            said.append(f"{title}: {reading(weights, query, tokens)}".rstrip("."))
    # Titles keep away from the map above.
    axes[0].figure.set_layout_engine("constrained", h_pad=0.1)
    text = f"{'; '.join(said)}. {note}" if said else note
    text = text[:1].upper() + text[1:].strip()
    return figure(axes, alt=f"Heat map. {text}", caption=text)


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
    """Draw one line for each name, told apart by colour, dash and marker.

    Parameters
    ----------
    x : (n,) array
    lines : name -> (n,) array
    xlabel, ylabel : what the axes show, with units
    log : "x", "y" or "xy" for logarithmic axes (base 2 along x)
    """
    if ax is None:
        _, ax = plt.subplots(figsize=style.CURVES_SIZE, layout="constrained")
    if "x" in log:
        ax.set_xscale("log", base=2)
    if "y" in log:
        ax.set_yscale("log")
    for number, (name, y) in enumerate(lines.items()):
        ax.plot(x, y, label=name, **style.line(number))
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.set_title(title, fontsize=style.TITLE_SIZE)
    ax.grid(alpha=0.3)
    ax.spines[["top", "right"]].set_visible(False)
    if len(lines) > 1:
        ax.legend(frameon=False, handlelength=3)  # long enough to show a dash
    return ax


def entropy_bars(
    weights: np.ndarray,
    queries: Sequence[str],
    *,
    mask: np.ndarray | None = None,
    ax: Axes | None = None,
    title: str = "",
) -> Axes:
    """Draw how widely each query spreads its attention, with a mark at the most possible.

    The rows stand as in a heat map, so the two can stand side by side.

    Parameters
    ----------
    weights : (T, S) array
    queries : T tokens
    mask : boolean, broadcast to (T, S), True = may attend; all of them when left out. Keys
        that are masked out do not count towards the most possible.
    ax : where to draw; a new figure when left out
    title : what the bars answer
    """
    weights, names, _ = checked(weights, queries, [""] * np.shape(weights)[-1])
    bits, most = entropy(weights), most_bits(weights, mask)  # (T,), (T,)
    places = np.arange(len(names))
    if ax is None:
        size = (4.6 + 0.09 * style.longest(names), 0.36 * len(names) + 1.2)
        _, ax = plt.subplots(figsize=size, layout="constrained")
    ax.barh(places, bits, height=0.7, color=style.BAR)
    ax.scatter(most, places, marker="|", s=260, linewidths=2.5, color=style.COLOURS[1], zorder=3)
    widest = max(float(most.max()), 1.0)
    for place, value in enumerate(bits):
        ax.text(widest * 1.06, place, f"{value:.2f}", va="center", size=style.NUMBER_SIZE)
    ax.set(xlim=(0, widest * 1.2), ylim=(len(names) - 0.5, -0.5), ylabel="query")
    ax.set_xlabel("entropy, bits ( | : the most possible)")
    ax.set_yticks(places, names, parse_math=False)
    ax.set_title(title, fontsize=style.TITLE_SIZE)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def figure(axes: Axes | np.ndarray, alt: str, caption: str = "") -> HTML:
    """Show a plot as an HTML figure whose words reach everyone.

    JupyterLab drops the alternative text of a plain image, so it is written out here.

    Parameters
    ----------
    axes : an Axes, or an array of Axes of one figure
    alt : what the picture shows, for those who do not see it
    caption : a sentence under it; the alternative text when left out
    """
    drawing = _drawing(axes)
    drawing.set_label(plain(alt))  # `save` writes it into the files
    picture = base64.b64encode(_small(_written(drawing, "png"))).decode()
    plt.close(drawing)
    width, _ = drawing.get_size_inches()
    described = escape(plain(alt), quote=True)
    return HTML(
        f'<figure style="margin:0.5em 0"><img src="data:image/png;base64,{picture}" '
        f'alt="{described}" style="width:{width * 80:.0f}px;max-width:100%">'
        f"<figcaption>{marked(caption or alt)}</figcaption></figure>"
    )


def save(axes: Axes | np.ndarray, stem: str | Path) -> tuple[Path, Path]:
    """Write a plot as PNG and as SVG, before or after `figure` has shown it.

    Both files carry the plot's titles and, when `figure` has shown it, its alternative text.
    In the SVG letters are shapes, so that it looks the same without the font; the same plot
    gives the same bytes.

    Parameters
    ----------
    axes : an Axes, or an array of Axes of one figure
    stem : where to write, without `.png` or `.svg`; folders that are missing are made

    Returns
    -------
    The paths of the PNG and of the SVG.
    """
    drawing = _drawing(axes)
    about = {"Title": " · ".join(t for ax in drawing.axes if (t := ax.get_title()))}
    about["Title"] = about["Title"] or Path(stem).name
    if words := str(drawing.get_label()):
        about["Description"] = words
    paths = Path(f"{stem}.png"), Path(f"{stem}.svg")
    paths[0].parent.mkdir(parents=True, exist_ok=True)
    for path in paths:
        path.write_bytes(_written(drawing, path.suffix[1:], about))
    plt.close(drawing)
    return paths


def _drawing(axes: Axes | np.ndarray) -> Figure:
    first: Any = axes if isinstance(axes, Axes) else np.ravel(axes)[0]
    drawing: Figure = first.figure
    return drawing


def _written(drawing: Figure, kind: str, about: Mapping[str, str] | None = None) -> bytes:
    """Write a drawing as PNG or SVG, the same bytes each time."""
    unchanging = {"Software": None} if kind == "png" else {"Date": None}
    buffer = io.BytesIO()
    with (
        mpl.rc_context({"svg.hashsalt": "attnlab", "svg.fonttype": "path"}),
        _boxes_for_missing_letters(),
    ):
        drawing.savefig(
            buffer,
            format=kind,
            dpi=style.DOTS_PER_INCH,
            facecolor="white",
            metadata={**(about or {}), **unchanging},
        )
    if kind == "svg" and about and "Description" in about:
        return _described(buffer.getvalue(), about["Description"])
    return buffer.getvalue()


@contextmanager
def _not_drawn_yet(canvas: FigureCanvasBase) -> Iterator[None]:
    """Put a canvas that draws nothing in the place of a figure's own.

    For each map seaborn draws the whole figure, to see whether names of rows overlap. That is
    more than half of the time that a figure of four maps takes, and ours are turned already.
    """
    FigureCanvasBase(canvas.figure)
    try:
        yield
    finally:
        canvas.figure.set_canvas(canvas)


@contextmanager
def _boxes_for_missing_letters() -> Iterator[None]:
    """Draw a box for a letter that the font lacks, and say nothing: the words beside have it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
        yield


def _small(png: bytes) -> bytes:
    """Write a PNG with 256 colours: every cell keeps its own, and the notebook stays small."""
    buffer = io.BytesIO()
    with Image.open(io.BytesIO(png)) as picture:
        picture.convert("RGB").quantize(256).save(buffer, format="png")
    return buffer.getvalue()


def _described(svg: bytes, words: str) -> bytes:
    """Put words where readers of an SVG look for them; matplotlib writes only the title there."""
    return svg.replace(b"</title>", f"</title>\n <desc>{escape(words)}</desc>".encode(), 1)
