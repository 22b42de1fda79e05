"""The learner's own check: one plain sentence for every misuse, a table for every answer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from attnlab import check
from attnlab.encode import visible_sheets
from attnlab.self_check import CheckFailed


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    tables: list[Any] = []
    monkeypatch.setattr("attnlab.self_check.display", tables.append)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    return tables


def swapped(k: np.ndarray) -> np.ndarray:
    return np.swapaxes(k, -1, -2)


@pytest.mark.parametrize(
    ("name", "answer", "words"),
    [
        ("scores", 3, "wants the function itself"),
        ("scores", np.ones(3), "was the function called by mistake?"),
        ("scores", None, "not written yet"),
        ("scores", ..., "not written yet"),
        ("skores", print, "Did you mean 'scores'?"),
        ("zebra", print, "There is no exercise called 'zebra'."),
        (swapped, "scores", "wants the exercise's name first"),
        ("MultiHeadAttention", lambda d_model, n_heads: None, "wants the class itself"),
    ],
)
def test_misuse_is_answered_in_one_sentence(
    shown: list[Any], name: Any, answer: Any, words: str
) -> None:
    with pytest.raises(CheckFailed) as caught:
        check(name, answer)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert shown == []


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda: 1, "cannot be called as `scores(q, k)`"),
        (lambda q, k, v: 1, "cannot be called as `scores(q, k)`"),
        (lambda q, k: None, "returns nothing"),
        (lambda q, k: (q, k), "Wanted is one"),
        (lambda q, k: "text", "text"),
        (lambda q, k: q @ k, "inner sizes must agree"),
        (lambda q, k: undefined, "name 'undefined' is not defined"),  # type: ignore[name-defined]  # noqa: F821
    ],
)
def test_an_answer_that_cannot_work_gets_a_table_and_no_traceback(
    shown: list[Any], answer: Callable[..., Any], words: str
) -> None:
    with pytest.raises(CheckFailed):
        check("scores", answer)
    assert words.replace("`", "") in repr(shown[0])
    assert "Traceback" not in repr(shown[0])


def test_the_untouched_stub_is_called_unwritten(shown: list[Any]) -> None:
    def scores(q: Any, k: Any) -> Any:
        raise NotImplementedError

    with pytest.raises(CheckFailed, match="scores is not written yet"):
        check("scores", scores)


def test_a_right_answer_is_told_what_is_kept_back(shown: list[Any]) -> None:
    assert check("scores", lambda q, k: q @ swapped(k)) is None  # type: ignore[func-returns-value]
    assert "every case shown here passes (2 of 2 points)" in repr(shown[0])
    assert "other 2 of 4 points" in repr(shown[0])


def test_a_failed_check_ends_in_one_short_line() -> None:
    shell = InteractiveShell.instance()
    shell.run_cell("from attnlab import check")
    result = shell.run_cell("check('scores', lambda q, k: q * 0)", silent=True)
    error = result.error_in_exec
    assert isinstance(error, CheckFailed)
    assert error._render_traceback_() == [f"CheckFailed: {error}"]
    InteractiveShell.clear_instance()


def test_while_nbgrader_grades_nothing_is_raised_or_shown(
    shown: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
    check("scores", 3)
    assert shown == []


def test_the_other_exercise_that_is_wrong_is_pointed_at(shown: list[Any]) -> None:
    notebook: dict[str, Any] = {"np": np}
    exec(
        "def softmax(x): return x\n"
        "def attention(q, k, v):\n"
        "    weights = softmax(q @ np.swapaxes(k, -1, -2))\n"
        "    return weights @ v, weights\n",
        notebook,
    )
    for name in ("softmax", "attention"):
        with pytest.raises(CheckFailed):
            check(name, notebook[name])
    assert "attention calls softmax, not yet right by its own check" in repr(shown[1])


def test_what_an_answer_prints_is_shown_to_its_author(shown: list[Any]) -> None:
    def talking(q: Any, k: Any) -> Any:
        print("my shapes:", q.shape)
        return q @ swapped(k)

    check("scores", talking)
    assert "my shapes: (2, 2)" in repr(shown[0])
    assert "<summary>Your code printed</summary>" in shown[0]._repr_html_()


def test_html_from_an_answer_is_shown_as_text(shown: list[Any]) -> None:
    def sly(q: Any, k: Any) -> Any:
        raise ValueError("<script>alert(1)</script>")

    with pytest.raises(CheckFailed):
        check("scores", sly)
    assert "<script>" not in shown[0]._repr_html_()


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_every_exercise_can_be_checked_everywhere(
    shown: list[Any], monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    if sys.platform != "linux" and platform == "linux":
        pytest.skip("cases are forked on Linux only")
    monkeypatch.setattr(sys, "platform", platform)

    class Stub:
        def __init__(self, *sizes: Any, **more: Any) -> None:
            raise NotImplementedError

    for name in visible_sheets():
        with pytest.raises(CheckFailed, match="not written yet"):
            check(name, Stub)
