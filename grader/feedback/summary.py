"""The table at the top of the page: what each exercise and each written answer came to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from grader.feedback import words
from grader.feedback.marks import Mark, Marks
from grader.feedback.parts import NOTHING, Marked, Part
from grader.feedback.prose import line


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Parameters
    ----------
    name : as shown
    place : where it stands on the page; "" when it does not
    written : whether a person marks it
    points, result : points of how many, and the same as a word
    mistake : the mistake named first
    """

    name: str
    place: str
    written: bool
    points: str
    result: str
    mistake: Markup = NOTHING


def rows(marks: Marks, parts: Sequence[Part]) -> list[Row]:
    """Make a row for every graded part, in the page's order; those it lacks come last."""
    shown = [part for part in parts if isinstance(part, Marked)]
    here = {part.name for part in shown}
    lost = [
        Marked(name, mark, written=not name.startswith("check_"))
        for name, mark in marks.parts.items()
        if name not in here
    ]
    return [_row(part, part.name in here) for part in [*shown, *lost]]


def _row(part: Marked, is_here: bool) -> Row:
    mistake = part.verdict.mistake if part.verdict else ""
    return Row(
        name=part.name.removeprefix("check_"),
        place=part.name if is_here else "",
        written=part.written,
        points=points_of(part.mark),
        result=_result(part),
        mistake=line(mistake),
    )


def points_of(mark: Mark | None) -> str:
    """Write the points of a part, with extra credit; a dash stands for none yet."""
    if mark is None:
        return "–"
    if mark.score is None:
        return words.NOT_MARKED_POINTS.format(most=words.short(mark.most))
    score = words.short(mark.score)
    if mark.extra:
        score = f"{score} + {words.short(mark.extra)}"
    return words.OF.format(score=score, most=words.short(mark.most))


def _result(part: Marked) -> str:
    """Say in a word what came of a part; full marks only where they are written down."""
    mark = part.mark
    if mark is None:
        return words.NOT_MARKED
    if mark.waits:
        return words.WAITS
    if mark.score is None:
        return words.NOT_MARKED
    if mark.score >= mark.most:
        return words.FULL
    if mark.score > 0:
        return words.SOME
    untouched = part.verdict.not_written if part.verdict else part.written
    return words.NOT_WRITTEN if untouched and mark.by_hand is None else words.NONE
