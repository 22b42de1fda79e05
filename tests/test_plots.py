"""Plots show the numbers they are given, with words that reach everyone."""

from __future__ import annotations

import base64
import io
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

from attnlab.entropy import entropy
from attnlab.plots import (
    curves,
    entropy_bars,
    figure,
    head_maps,
    heatmap,
    panels,
    reading,
    save,
)
from attnlab.words import clearest
from tests.conftest import ROOT

mpl.use("agg")
WEIGHTS = np.array([[0.1, 0.2, 0.7], [0.4, 0.4, 0.2]])
QUERIES, KEYS = ["a", "b"], ["x", "y", "z"]
CAUSAL = np.tril(np.ones((3, 3), dtype=bool))


@pytest.fixture(autouse=True)
def _no_figure_stays_open() -> Iterator[None]:
    plt.close("all")
    yield
    plt.close("all")


def test_a_heat_map_has_queries_down_and_keys_across() -> None:
    ax = heatmap(WEIGHTS, ["a", "b"], ["x", "y", "z"])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["x", "y", "z"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("key", "query")
    assert [text.get_text() for text in ax.texts][:3] == ["0.10", "0.20", "0.70"]
    assert ax.collections[0].get_clim() == (0, 1)


def test_a_figure_of_many_maps_is_drawn_when_it_is_shown_and_not_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    drawn = []
    draw = FigureCanvasAgg.draw
    monkeypatch.setattr(FigureCanvasAgg, "draw", lambda self: drawn.append(draw(self)))
    axes = head_maps(np.stack([WEIGHTS] * 4), QUERIES, KEYS)
    assert not drawn
    figure(axes, alt="four maps")
    assert drawn


def test_a_heat_map_of_the_wrong_shape_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match=r"shape \(2, 3\), but there are 2 queries and 2 keys"):
        heatmap(WEIGHTS, ["a", "b"])


def test_numbers_are_left_out_where_they_could_not_be_read() -> None:
    assert not heatmap(np.eye(17), [str(i) for i in range(17)]).texts


def test_heads_are_drawn_side_by_side_with_their_titles() -> None:
    axes = head_maps(
        np.stack([WEIGHTS] * 3), ["a", "b"], ["x", "y", "z"], titles=["one", "two", "three"]
    )
    assert [ax.get_title() for ax in axes] == ["one", "two", "three"]


def test_panels_read_a_row_of_each_map_aloud() -> None:
    names, weights = ["a", "$x"], np.array([[0.1, 0.9], [0.5, 0.5]])
    shown = panels(
        ("one", weights, names, 0),
        ("two", weights, names, 1),
        ("mean", weights, names, None),
        note="A note.",
    )
    words = (
        "One: a attends most to $x, 0.90; two: $x attends to every token alike, 0.50 each. A note."
    )
    assert f'alt="Heat map. {words}"' in shown.data
    assert re.sub("</?code>", "", shown.data).endswith(f"<figcaption>{words}</figcaption></figure>")
    assert not plt.get_fignums()


def test_panels_of_many_tokens_stand_one_under_the_other() -> None:
    def shape(n: int) -> tuple[int, int]:
        names = [str(i) for i in range(n)]
        shown = panels(("one", np.eye(n), names, None), ("two", np.eye(n), names, None), note="-")
        png = base64.b64decode(re.findall(r"base64,([^\"]+)", shown.data)[0])
        return Image.open(io.BytesIO(png)).size

    assert shape(4)[0] > shape(4)[1]
    assert shape(12)[0] < shape(12)[1]


def test_curves_are_told_apart_without_colour() -> None:
    ax = curves(
        [1, 2, 4],
        {"a": [1, 2, 3], "b": [3, 2, 1], "c": [2, 2, 2]},
        xlabel="x",
        ylabel="y",
        log="xy",
    )
    styles = {(line.get_linestyle(), line.get_marker()) for line in ax.lines}
    assert len(styles) == 3
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ([0.1, 0.2, 0.7], "`a` attends most to `z`, 0.70."),
        ([0.4, 0.4, 0.2], "`a` attends most to `x` and `y`, 0.40 each."),
        ([1 / 3] * 3, "`a` attends to every token alike, 0.33 each."),
        ([0, 0, 0], "`a` attends to no token, 0 each."),
        ([np.nan] * 3, "`a` has weights that are not numbers (nan)."),
    ],
)
def test_a_reading_is_taken_from_the_numbers(row: list[float], sentence: str) -> None:
    assert reading(np.array([row]), 0, ["a"], ["x", "y", "z"]) == sentence


def test_a_figure_carries_its_words_and_closes_its_plot() -> None:
    before = plt.get_fignums()
    html: Any = figure(
        heatmap(WEIGHTS, ["a", "b"], ["x", "y", "z"]), alt='a "map" of `a`', caption="`a` & b"
    )
    assert plt.get_fignums() == before
    assert 'alt="a &quot;map&quot; of a"' in html.data
    assert "<figcaption><code>a</code> &amp; b</figcaption>" in html.data
    (picture,) = re.findall(r"base64,([^\"]+)", html.data)
    assert base64.b64decode(picture).startswith(b"\x89PNG")


def test_the_clearest_row_is_one_that_had_a_choice() -> None:
    weights = np.array([[1.0, 0, 0], [0.5, 0.5, 0], [0.1, 0.1, 0.8]])
    assert clearest(weights, ["a", "b", "c"]) == "`c` attends most to `c`, 0.80."
    assert clearest(np.eye(2), ["a", "b"]) == "`a` attends most to `a`, 1.00."


def test_a_figure_is_small_and_its_cells_keep_their_colours() -> None:
    weights = np.linspace(0, 1, 64).reshape(8, 8)
    axes = heatmap(weights, list("abcdefgh"))
    html: Any = figure(axes, alt="a map")
    (picture,) = re.findall(r"base64,([^\"]+)", html.data)
    whole = io.BytesIO()
    axes.figure.savefig(whole, format="png", dpi=110, facecolor="white")
    assert len(base64.b64decode(picture)) < 0.6 * len(whole.getvalue())
    cells, seen = (
        np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), dtype=int)
        for png in (whole.getvalue(), base64.b64decode(picture))
    )
    left, top = axes.transAxes.transform((0, 1))
    right, bottom = axes.transAxes.transform((1, 0))
    high = len(cells) / axes.figure.bbox.height  # dots a unit
    for t in range(8):
        for s in range(8):  # a point in the upper left of each cell, clear of its number
            x = (left + (s + 0.1) / 8 * (right - left)) * high
            y = len(cells) - (top + (t + 0.15) / 8 * (bottom - top)) * high
            np.testing.assert_allclose(seen[int(y), int(x)], cells[int(y), int(x)], atol=2)


def test_letters_of_the_course_and_odd_tokens_are_drawn_without_a_warning() -> None:
    tokens = ["↔", "√d_k", "ñ", "¿", "·", "α", "≤", "$\\frac$", "日", "👩", "a$b$c"]
    axes = heatmap(np.eye(len(tokens)), tokens, title="√d_k ↔ ñ")
    assert "base64" in str(figure(axes, alt="odd").data)
    bars = entropy_bars(np.eye(len(tokens)), tokens)
    assert "base64" in str(figure(bars, alt="odd").data)


def test_long_tokens_are_turned_and_many_stay_in_a_page() -> None:
    turned = heatmap(np.eye(2), ["yesterday", "work"])
    assert {name.get_rotation() for name in turned.get_xticklabels()} == {45}
    many = heatmap(np.eye(40), [f"word{i}" for i in range(40)])
    assert max(many.figure.get_size_inches()) < 13
    assert {name.get_rotation() for name in many.get_xticklabels()} == {90}


def test_one_head_fills_its_figure() -> None:
    (ax,) = head_maps(WEIGHTS[None], QUERIES, KEYS)
    width, _ = ax.figure.get_size_inches()
    assert width < 5


def test_plots_of_nothing_are_refused_in_words() -> None:
    with pytest.raises(ValueError, match="at least one query and one key"):
        heatmap(np.zeros((0, 0)), [])


@settings(max_examples=50, deadline=None)
@given(arrays(float, (3, 4), elements=st.floats(0, 1)).filter(lambda x: (x.sum(1) > 0.1).all()))
def test_entropy_lies_between_none_and_log2_of_the_keys(raw: np.ndarray) -> None:
    bits = entropy(raw / raw.sum(axis=1, keepdims=True))
    assert bits.shape == (3,)
    assert (bits >= 0).all()
    assert (bits <= 2 + 1e-9).all()


def test_entropy_is_right_by_hand() -> None:
    rows = np.array([[1, 0, 0, 0], [0.25] * 4, [0.5, 0.25, 0.25, 0], [0] * 4])
    np.testing.assert_allclose(entropy(rows), [0, 2, 1.5, 0], atol=1e-15)
    assert not np.signbit(entropy(rows)).any()


def test_entropy_bars_mark_the_most_that_a_mask_leaves_possible() -> None:
    weights = np.array([[1, 0, 0], [0.5, 0.5, 0], [0.5, 0.25, 0.25]])
    for mask, most in ((None, np.log2([3, 3, 3])), (CAUSAL, np.log2([1, 2, 3]))):
        ax = entropy_bars(weights, KEYS, mask=mask)
        assert [label.get_text() for label in ax.get_yticklabels()] == KEYS
        assert ax.yaxis_inverted()
        np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [0, 1, 1.5])
        np.testing.assert_allclose(ax.collections[0].get_offsets()[:, 0], most)
        assert [text.get_text() for text in ax.texts] == ["0.00", "1.00", "1.50"]


@pytest.mark.parametrize("shown_before", [False, True])
def test_a_plot_is_saved_with_its_words_in_both_formats(tmp_path: Path, shown_before: bool) -> None:
    axes = head_maps(np.stack([WEIGHTS] * 2), QUERIES, KEYS, titles=["one", "√two"])
    if shown_before:
        figure(axes, alt='a "map" of `a` & <b>')
    png, svg = save(axes, tmp_path / "not yet there" / "v1.2")
    assert (png.name, svg.name) == ("v1.2.png", "v1.2.svg")
    with Image.open(png) as picture:
        assert picture.text["Title"] == "one · √two"
        assert picture.text.get("Description") == ('a "map" of a & <b>' if shown_before else None)
    root = ElementTree.parse(svg).getroot()
    space = {"": "http://www.w3.org/2000/svg"}
    assert root.findtext("title", namespaces=space) == "one · √two"
    words = root.findtext("desc", namespaces=space)
    assert words == ('a "map" of a & <b>' if shown_before else None)
    assert root.find(".//text", space) is None, "letters are shapes, so no font is needed"
    assert not plt.get_fignums()


def test_the_same_plot_gives_the_same_bytes_and_no_date(tmp_path: Path) -> None:
    first, second = (
        [path.read_bytes() for path in save(heatmap(WEIGHTS, QUERIES, KEYS), tmp_path / name)]
        for name in ("same", "same")
    )
    assert first == second
    assert b"<dc:date>" not in first[1]


def test_a_plot_without_a_title_is_named_after_its_file(tmp_path: Path) -> None:
    _, svg = save(heatmap(WEIGHTS, QUERIES, KEYS), f"{tmp_path}/blank_row")
    assert b"<title>blank_row</title>" in svg.read_bytes()


def test_importing_and_drawing_leave_matplotlib_as_it_was() -> None:
    code = (
        "import matplotlib as mpl; before = dict(mpl.rcParams)\n"
        "import numpy as np\n"
        "import attnlab.style, attnlab.head_view, attnlab.tables\n"
        "from attnlab import plots\n"
        "ax = plots.heatmap(np.eye(2), ['a', 'b']); plots.figure(ax, alt='a')\n"
        "after = dict(mpl.rcParams)\n"
        "print([k for k in before if before[k] != after[k] and not k.startswith('backend')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_nothing_is_drawn_or_written_while_a_hand_in_is_graded(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from grader.runner.undrawn import Drawing\n"
        "drawing = Drawing(); drawing.on = False\n"
        "from attnlab.plots import *\n"
        "w, names = [[0.5, 0.5]] * 2, ['a', 'b']\n"
        "for plot in (heatmap(w, names), head_maps([w, w], names), entropy_bars(w, names)):\n"
        "    assert 'words' in figure(plot, alt='words').data\n"
        "    png, svg = save(plot, sys.argv[1])\n"
        "assert 'words' in panels(('a', w, names, 0), note='words').data\n"
        "curves([1], {'a': [1]}, xlabel='x', ylabel='y')\n"
        "assert 'seaborn' not in sys.modules\n"
        "assert not png.exists() and not svg.exists()\n"
        "import matplotlib.pyplot as plt\n"
        "assert not plt.get_fignums()\n"
    )
    call = [sys.executable, "-c", code, str(tmp_path / "map")]
    run = subprocess.run(call, capture_output=True, text=True, cwd=ROOT, check=False)
    assert run.returncode == 0, run.stderr
