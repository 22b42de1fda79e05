"""What the gradebook holds of one hand-in: points of each part, comments, late penalty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nbgrader.api import Gradebook, MissingEntry


@dataclass(frozen=True)
class Mark:
    """The points of one part, an exercise or a written answer.

    Parameters
    ----------
    name : the graded cell's id in nbgrader
    most : the points it is worth
    auto, by_hand : what the grader and what the instructor gave; None when nothing was given
    extra : extra credit
    waits : whether a person has yet to mark it
    """

    name: str
    most: float
    auto: float | None = None
    by_hand: float | None = None
    extra: float = 0.0
    waits: bool = False

    @property
    def score(self) -> float | None:
        """The points that count, extra credit left out; None when there are none yet."""
        return self.auto if self.by_hand is None else self.by_hand


@dataclass(frozen=True)
class Marks:
    """All marks of one hand-in."""

    parts: Mapping[str, Mark] = field(default_factory=dict)  # graded cell's id -> its mark
    comments: Mapping[str, str] = field(default_factory=dict)  # answer cell's id -> the words
    late: float = 0.0
    total: float = 0.0
    most: float = 0.0

    @property
    def waiting(self) -> int:
        """How many parts have no points before a person has marked them."""
        return sum(mark.waits and mark.score is None for mark in self.parts.values())

    @property
    def extra(self) -> float:
        """All extra credit."""
        return sum(mark.extra for mark in self.parts.values())


def read_marks(db_url: str, notebook: str, assignment: str, student: str) -> Marks:
    """Read a hand-in's marks; there are none when the gradebook does not know it."""
    with Gradebook(db_url) as gradebook:
        try:
            row = gradebook.find_submission_notebook(notebook, assignment, student)
        except MissingEntry:
            return Marks()
        late = float(row.late_submission_penalty or 0.0)
        return Marks(
            parts={grade.name: _mark(grade) for grade in row.grades},
            comments={c.name: c.manual_comment for c in row.comments if c.manual_comment},
            late=late,
            total=float(row.score) - late,  # as nbgrader's own page counts
            most=float(row.max_score),
        )


def _mark(grade: Any) -> Mark:
    return Mark(
        name=grade.name,
        most=float(grade.max_score or 0.0),
        auto=grade.auto_score,
        by_hand=grade.manual_score,
        extra=float(grade.extra_credit or 0.0),
        waits=bool(grade.needs_manual_grade) and grade.manual_score is None,
    )
