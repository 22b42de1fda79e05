"""The head view and the table show the weights, to pointer, keyboard, eye and ear."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab import style
from attnlab.example import BLANK, TOKENS
from attnlab.head_view import HeadView
from attnlab.tables import weights_table
from tests.chromium import BROWSER, QUIET, needs_browser

WEIGHTS = np.array([[0.1, 0.2, 0.7], [0.4, 0.6, 0.0]])
QUERIES, KEYS = ["a", "b"], ["x", "y", "z"]
SVG = {"": "http://www.w3.org/2000/svg"}
SPECIALIST = np.full((8, 8), 1 / 8)
SPECIALIST[BLANK] = [0.02, 0.25, 0.02, 0.02, 0.25, 0.02, 0.4, 0.02]


def drawn(view: HeadView) -> ElementTree.Element:
    return ElementTree.fromstring(view.svg())


def test_there_is_a_line_for_each_weight_above_nothing_as_wide_as_its_weight() -> None:
    rows = drawn(HeadView(WEIGHTS, QUERIES, KEYS)).findall("g", SVG)
    lines = [row.findall("line", SVG) for row in rows]
    assert [len(row) for row in lines] == [3, 2]
    for name in ("stroke-width", "stroke-opacity"):
        sizes = [float(line.get(name, 0)) for row in lines for line in row]
        assert np.argsort(sizes).tolist() == np.argsort(WEIGHTS[WEIGHTS > 0]).tolist()
    ends = [float(line.get("y2", 0)) for line in lines[0]]
    assert ends == sorted(set(ends))
    assert len({line.get("y1") for line in lines[0]}) == 1


def test_each_row_can_be_reached_and_says_its_sentence_and_its_numbers() -> None:
    view = HeadView(WEIGHTS, QUERIES, KEYS)
    rows = drawn(view).findall("g", SVG)
    assert [row.get("tabindex") for row in rows] == ["0", "0"]
    assert [row.findtext("title", "", SVG) for row in rows] == [
        "a attends most to z, 0.70.",
        "b attends most to y, 0.60.",
    ]
    assert [row.get("aria-label") for row in rows] == [
        row.findtext("title", "", SVG) for row in rows
    ]
    said = [[text.text for text in row.findall("text[@class='said']", SVG)] for row in rows]
    assert said == [["0.10", "0.20", "0.70"], ["0.40", "0.60", "0"]]


def test_the_picture_has_a_caption_from_the_numbers_and_words_for_those_who_do_not_see_it() -> None:
    view = HeadView(SPECIALIST, TOKENS, title="Whom?")
    html = view._repr_html_()
    assert "<code>___</code> attends most to <code>he</code>, 0.40." in html
    assert 'aria-label="Lines from 8 queries to 8 keys, the wider the more weight. ___ att' in html
    assert "Whom?" in html
    assert 'aria-label="three lines"' in HeadView(WEIGHTS, QUERIES, KEYS, alt="three `lines`").svg()


def test_views_do_not_clash_and_are_the_same_for_the_same_weights() -> None:
    one, other = (HeadView(w, QUERIES, KEYS).svg() for w in (WEIGHTS, WEIGHTS[:, ::-1]))
    assert one == HeadView(WEIGHTS, QUERIES, KEYS).svg()
    assert " id=" not in one
    styles = [re.findall(r"<style>.*?</style>", svg, re.DOTALL) for svg in (one, other)]
    assert styles[0] == styles[1]
    assert all(  # no rule reaches anything else on the page
        rule.strip().startswith(".attnlab-heads")
        for block in re.findall(r"([^{}]+)\{", styles[0][0][7:])
        for rule in re.split(r",(?![^(]*\))", block)
    )


def test_it_needs_no_script_and_no_network() -> None:
    svg = HeadView(WEIGHTS, QUERIES, KEYS).svg()
    assert "<script" not in svg
    assert not re.search(r"\son\w+=|url\(|@import|href", svg)
    assert re.findall(r"https?://[^\"]+", svg) == ["http://www.w3.org/2000/svg"]


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.text(max_size=40), min_size=1, max_size=4),
    st.lists(st.text(max_size=40), min_size=1, max_size=4),
)
def test_tokens_may_hold_any_characters(queries: list[str], keys: list[str]) -> None:
    weights = np.full((len(queries), len(keys)), 1 / len(keys))
    view = HeadView(weights, queries, keys, title=queries[0])
    rows = drawn(view).findall("g", SVG)  # well-formed, or this raises
    assert len(rows) == len(queries)
    html = view._repr_html_() + weights_table(weights, queries, keys).data
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\ud800-\udfff]", html)
    html.encode()


def test_tokens_are_escaped_and_are_no_formulas() -> None:
    tokens = ["<script>", "$a$", 'a"b&c']
    for html in (HeadView(np.eye(3), tokens)._repr_html_(), weights_table(np.eye(3), tokens).data):
        assert "<script>" not in html
        assert "&lt;script&gt;" in html
        assert "&quot;b&amp;c" in html
        assert "mathjax_ignore tex2jax_ignore" in html


def test_rows_of_zeros_and_of_nan_draw_nothing_and_say_so() -> None:
    weights = np.array([[0.0, 0.0], [np.nan, np.nan], [0.5, 0.5]])
    view = HeadView(weights, ["a", "b", "c"], ["x", "y"])
    rows = drawn(view).findall("g", SVG)
    assert [len(row.findall("line", SVG)) for row in rows] == [0, 0, 2]
    assert "a attends to no token" in rows[0].findtext("title", "", SVG)
    assert "nan" in rows[1].findtext("title", "", SVG)
    assert ">nan</td>" in weights_table(weights, ["a", "b", "c"], ["x", "y"]).data


@pytest.mark.parametrize("show", [HeadView, weights_table])
def test_what_are_no_weights_is_refused_in_words(show: Any) -> None:
    with pytest.raises(ValueError, match=r"query 0 and key 1 is 3\. Are these scores"):
        show(np.array([[0.5, 3.0]]), ["a"], ["x", "y"])
    with pytest.raises(ValueError, match=r"shape \(2, 3\), but there are 2 queries and 2 keys"):
        show(WEIGHTS, ["a", "b"])
    with pytest.raises(ValueError, match="at least one"):
        show(np.zeros((0, 3)), [], KEYS)


def test_a_saved_view_is_a_picture_of_its_own_on_white(tmp_path: Path) -> None:
    view = HeadView(WEIGHTS, QUERIES, KEYS, title="ñ ↔ ¿")
    path = view.save(tmp_path / "new" / "v1.2")
    assert path == tmp_path / "new" / "v1.2.svg"
    assert view.save(path) == path
    root = ElementTree.parse(path).getroot()
    ground = root.find("rect", SVG)
    assert ground is not None
    assert ground.get("fill") == "white"


def test_a_table_names_its_rows_and_columns_with_their_places() -> None:
    html = weights_table(SPECIALIST, TOKENS).data
    assert html.count('scope="row"') == 8
    assert html.count('scope="col"') == 9
    names = re.findall(r'scope="row"[^>]*>(\S+) <span[^>]*>(\d)</span>', html)
    assert names == [(token, str(t)) for t, token in enumerate(TOKENS)]
    assert "<caption" in html
    assert "<code>___</code> attends most to <code>he</code>, 0.40." in html
    assert "a &lt;b&gt;" in weights_table(WEIGHTS, QUERIES, KEYS, caption="a <b>").data


def test_a_table_holds_the_numbers_and_they_can_be_read_on_their_shades() -> None:
    weights = np.linspace(0, 1, 64).reshape(8, 8)
    cells = re.findall(
        r"background:(#\w{6});color:(\w+)\">([\d.]+)</td>", weights_table(weights, TOKENS).data
    )
    np.testing.assert_allclose([float(c[2]) for c in cells], weights.ravel(), atol=0.00501)
    assert all(style.contrast(shade, ink) >= 4.5 for shade, ink, _ in cells)
    assert [cell[0] for cell in cells] == [style.shade(weight) for weight in weights.ravel()]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as player:
        started = player.chromium.launch(executable_path=BROWSER, args=list(QUIET))
        yield started
        started.close()


@needs_browser
@pytest.mark.parametrize(("page", "text"), [("white", "black"), ("#111111", "white")])
def test_a_query_lights_its_row_for_pointer_and_for_keyboard(
    browser: Any, page: str, text: str
) -> None:
    tab = browser.new_page()
    one, other = (HeadView(SPECIALIST, TOKENS)._repr_html_() for _ in range(2))
    tab.set_content(f'<body style="background:{page};color:{text}">{one}{other}</body>')
    view = tab.locator("figure").first

    def seen(t: int) -> tuple[float, float, bool]:
        """The faintest and the clearest line of row t, and whether its numbers show."""
        opacities = (
            view.locator(".row")
            .nth(t)
            .locator("line")
            .evaluate_all(
                "lines => lines.map(line => parseFloat(getComputedStyle(line).strokeOpacity))"
            )
        )
        numbers = view.locator(".row").nth(t).locator(".said").first.is_visible()
        return min(opacities), max(opacities), numbers

    def lit() -> list[int]:
        return [t for t in range(8) if seen(t) == (1, 1, True)]

    def point_at(t: int) -> None:
        box = view.locator(".spot").nth(t).bounding_box()
        tab.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)

    assert lit() == []
    point_at(BLANK)
    assert lit() == [BLANK]
    assert seen(0)[1] < 0.1
    assert not seen(0)[2]
    stroke = (
        view.locator(".row")
        .nth(BLANK)
        .locator("line")
        .first.evaluate("line => getComputedStyle(line).stroke")
    )
    parts = tuple(float(part) for part in re.findall(r"[\d.]+", stroke)[:3])
    assert style.contrast(parts, page) >= 3, stroke  # as `color(srgb r g b)`

    tab.mouse.move(790, 590)
    tab.keyboard.press("Tab")
    tab.keyboard.press("Tab")
    assert lit() == [1]
    point_at(3)  # the pointer counts more: one row's numbers at a time
    assert [t for t in range(8) if seen(t)[2]] == [3]
    view = tab.locator("figure").nth(1)
    assert lit() == [], "the other view is left as it was"
    tab.close()
