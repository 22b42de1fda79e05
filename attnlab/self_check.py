"""`check`: run, judge and show, in the learner's own notebook."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from typing import Any

from IPython.display import display

from attnlab.encode import Sheet, visible_sheets
from attnlab.exercise import Case, Exercise
from attnlab.judge import judge
from attnlab.probes import CLASS_PROBES
from attnlab.run import namespace_of, run
from attnlab.show import Shown

_passed: dict[str, bool] = {}  # exercises checked in this session, and whether all was right


class CheckFailed(Exception):
    """Says in one line that a check has not passed, so that a run of all cells notices."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


def check(name: str, answer: Any) -> None:
    """Try an answer on the cases a learner may see, and show what came of each.

    While nbgrader grades, this does nothing: the marks come from the cell's hidden part.

    Parameters
    ----------
    name : the exercise, such as "softmax"
    answer : your function or class itself, without calling it

    Raises
    ------
    CheckFailed : with one line, when a case has not passed or could not be tried
    """
    if os.environ.get("NBGRADER_EXECUTION") == "autograde":
        return
    sheet = _find(name)
    complaint = why_not_an_answer(answer, sheet.exercise, sheet.cases)
    if complaint:
        raise CheckFailed(complaint)
    records = run(answer, sheet.exercise, sheet.cases)
    report = judge(
        sheet.exercise, sheet.cases, sheet.keys, sheet.mistakes, records, sheet.kept_back
    )
    _passed[name] = report.passed
    display(Shown(report, "" if report.passed else _note_on_others(name, answer)))
    if not report.passed:
        failing = [verdict for verdict in report.verdicts if not verdict.passed]
        if all(verdict.message == "Not written yet." for verdict in failing):
            raise CheckFailed(f"{name} is not written yet.")
        raise CheckFailed(f"{name}: {len(failing)} of {len(report.verdicts)} cases not passed yet.")


def why_not_an_answer(answer: Any, exercise: Exercise, cases: Sequence[Case]) -> str:
    """Say in one sentence why something cannot be checked at all; empty when it can."""
    name = exercise.name
    wants_class = any(case.probe in CLASS_PROBES for case in cases)
    if answer is Ellipsis or answer is None:
        return f"{name} is not written yet: it is {answer}."
    if not callable(answer):
        return (
            f"check wants the function itself: check({name!r}, {name}). "
            f"It got {_article(type(answer).__name__)}; was the function called by mistake?"
        )
    if wants_class and not isinstance(answer, type):
        return f"check wants the class itself: check({name!r}, {name}), not a layer made from it."
    return ""


def _article(noun: str) -> str:
    return f"an {noun}" if noun[0] in "aeiou" or noun.startswith("nd") else f"a {noun}"


def _find(name: str) -> Sheet:
    sheets = visible_sheets()
    if not isinstance(name, str):
        raise CheckFailed(
            'check wants the exercise\'s name first, as in check("softmax", softmax).'
        )
    if name not in sheets:
        close = difflib.get_close_matches(name, sheets, n=1)
        guess = f" Did you mean {close[0]!r}?" if close else ""
        raise CheckFailed(f"There is no exercise called {name!r}.{guess}")
    return sheets[name]


def _note_on_others(name: str, answer: Any) -> str:
    """Point at another exercise that this answer calls and that has not passed."""
    called = _names_in(answer) & set(visible_sheets())
    namespace = namespace_of(answer)
    not_yet = sorted(
        other
        for other in called
        if other != name and other in namespace
        if _passed.get(other) is False
    )
    if not not_yet:
        return ""
    names = " and ".join(f"`{other}`" for other in not_yet)
    return (
        f"`{name}` calls {names}, not yet right by its own check: look there first. "
        "When your work is graded, a right version stands in its place, so one mistake is not "
        "counted twice."
    )


def _names_in(answer: Any) -> set[str]:
    functions = list(vars(answer).values()) if isinstance(answer, type) else [answer]
    codes = [f.__code__ for f in functions if hasattr(f, "__code__")]
    return {name for code in codes for name in code.co_names}
