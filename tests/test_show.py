"""What a learner sees of a check and of the worked example: tables whose words reach everyone."""

from __future__ import annotations

import numpy as np
import pytest

from attnlab.example import BLANK, IDS, TABLE, TOKENS, X, shares
from attnlab.exercise import Case, Exercise, Layer, Mistake, Rng
from attnlab.judge import Report, Verdict
from attnlab.show import Shown

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


def test_a_case_in_full_wants_what_it_compares_and_nothing_else() -> None:
    case = Case("a case", 1, {}, compare=("z",), bounds={})
    verdict = Verdict(case, 0.0, "wrong", expected={"y": np.array(0.25), "z": np.array(0.625)})
    report = Report(Exercise("double", "lab", 1, "double(x)", ("y", "z")), (verdict,), ())
    html = Shown(report)._repr_html_()
    assert "wanted_z = 0.625" in html
    assert "wanted_y" not in html
