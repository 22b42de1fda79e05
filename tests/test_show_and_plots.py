"""What a learner sees: tables and pictures whose words reach everyone."""

from __future__ import annotations

import base64
import re
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from attnlab.example import BLANK, IDS, TABLE, TOKENS, X, shares
from attnlab.exercise import Case, Exercise, Layer, Mistake, Rng
from attnlab.judge import Report, Verdict
from attnlab.plots import curves, figure, head_maps, heatmap, reading
from attnlab.show import Shown

mpl.use("agg")
WEIGHTS = np.array([[0.1, 0.2, 0.7], [0.4, 0.4, 0.2]])
SLIP = Mistake("`softmax` over the queries", "Each row belongs to one query.")


def report(*points: float, mistake: Mistake | None = None) -> Report:
    cases = [Case(f"case {i}", 1, {}) for i in range(len(points))]
    verdicts = tuple(
        Verdict(case, score, "" if score else "`y` has <wrong> values.", None if score else mistake)
        for case, score in zip(cases, points, strict=True)
    )
    return Report(
        Exercise("double", "lab", 4, "double(x)", ("y",)), verdicts, (SLIP,) if mistake else (), 2
    )


def test_a_table_says_everything_in_words_and_escapes_what_is_not_its_own() -> None:
    shown = Shown(report(1, 0, mistake=SLIP))
    html, text = shown._repr_html_(), repr(shown)
    for words in ("1 of the 2 points shown here", "not yet", "passed", "over the queries"):
        assert words in text
        assert words in html.replace("<code>", "").replace("</code>", "")
    assert "<wrong>" not in html
    assert "`" not in html
    assert 'scope="col"' in html


def test_a_mistake_is_named_once_when_it_explains_all_rows() -> None:
    assert repr(Shown(report(0, 0, mistake=SLIP))).count("over the queries") == 1


def test_a_graded_table_gives_the_marks_and_no_promise() -> None:
    text = repr(Shown(report(1, 0), graded=True))
    assert "1 of 4 points" in text
    assert "when your work is graded" not in text


def test_a_visible_case_can_be_read_in_full_and_a_kept_one_cannot() -> None:
    inputs = {"x": np.array([0.125, 7]), "rng": Rng(3), "layer": Layer("mean")}
    for visible in (True, False):
        case = Case("a case", 1, inputs, visible=visible)
        verdict = Verdict(case, 0.0, "wrong", expected={"y": np.array([0.625])} if visible else {})
        html = Shown(Report(Exercise("double", "lab", 1, "double(x)", ("y",)), (verdict,), ()))
        for words in ("0.125", "0.625", "np.random.default_rng(3)", "LAYERS['mean']"):
            assert (words in html._repr_html_().replace("&#x27;", "'")) is visible


def test_a_long_remark_is_said_once() -> None:
    long = "It does something that takes many words to say, and that comes again in each case."
    cases = [Case(f"case {i}", 1, {}) for i in range(3)]
    verdicts = tuple(Verdict(case, 0.0, long) for case in cases)
    text = repr(Shown(Report(Exercise("double", "lab", 3, "double(x)", ("y",)), verdicts, ())))
    assert text.count(long) == 1
    assert text.count("The same as above.") == 2


def test_a_heat_map_has_queries_down_and_keys_across() -> None:
    ax = heatmap(WEIGHTS, ["a", "b"], ["x", "y", "z"])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["a", "b"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["x", "y", "z"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("key", "query")
    assert [text.get_text() for text in ax.texts][:3] == ["0.10", "0.20", "0.70"]
    assert ax.collections[0].get_clim() == (0, 1)


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


def test_the_map_is_monotone_in_lightness() -> None:
    colours = mpl.colormaps["Blues"](np.linspace(0, 1, 64))[:, :3]
    lightness = colours @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(lightness) < 0).all()


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ([0.1, 0.2, 0.7], "`a` attends most to `z`, 0.70."),
        ([0.4, 0.4, 0.2], "`a` attends most to `x` and `y`, 0.40 each."),
        ([1 / 3] * 3, "`a` attends to every token alike, 0.33 each."),
    ],
)
def test_a_reading_is_taken_from_the_numbers(row: list[float], sentence: str) -> None:
    assert reading(np.array([row]), 0, ["a"], ["x", "y", "z"]) == sentence


def test_a_figure_carries_its_words_and_closes_its_plot() -> None:
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    html: Any = figure(
        heatmap(WEIGHTS, ["a", "b"], ["x", "y", "z"]), alt='a "map" of `a`', caption="`a` & b"
    )
    assert plt.get_fignums() == before
    assert 'alt="a &quot;map&quot; of a"' in html.data
    assert "<figcaption><code>a</code> &amp; b</figcaption>" in html.data
    (picture,) = re.findall(r"base64,([^\"]+)", html.data)
    assert base64.b64decode(picture).startswith(b"\x89PNG")


def test_the_worked_example_is_what_its_table_says() -> None:
    np.testing.assert_array_equal(TABLE[IDS], X)
    assert len(TOKENS) == len(X) == 8
    assert TOKENS[BLANK] == "___"
    with pytest.raises(ValueError, match="read-only"):
        X[0, 0] = 1


def test_shares_sum_to_one_and_harden_as_it_gets_colder() -> None:
    rng = np.random.default_rng(0)
    w_q, w_k = rng.normal(size=(2, 7, 3))
    np.testing.assert_allclose(shares(w_q, w_k).sum(axis=1), 1)
    np.testing.assert_allclose(shares(w_q, w_k, 1e6), 1 / 8, atol=1e-4)
    assert shares(w_q, w_k, 0.01)[0].max() > 0.99
    assert np.isnan(shares(w_q, w_k, 1e-9)).any()
