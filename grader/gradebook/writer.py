"""Write what came of a class's hand-ins into the gradebook, one commit per student."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from nbgrader.utils import parse_utc
from sqlalchemy.exc import DBAPIError

from grader.gradebook import roster, states
from grader.gradebook.database import PATIENCE, GradebookError, in_words, open_gradebook
from grader.gradebook.late import Lateness, seconds_late
from grader.gradebook.marked_copy import marked_folder, replacing
from grader.gradebook.rows import (
    StudentRows,
    known_lab,
    make_student_rows,
    student_rows,
)
from grader.gradebook.states import storable
from grader.gradebook.timestamps import read_timestamp
from grader.outcome import ABSENT, PARTLY, UNREADABLE, Outcome

LATE_PENALTY = "late penalty"  # named in a Change where an exercise would be
GONE = "What was marked earlier is no longer in submitted/, so its marks were taken back."


@dataclass(frozen=True)
class Change:
    """A mark that is another than at the last grading; None where there is none."""

    student: str
    exercise: str
    old: float | None
    new: float | None


class Writer:
    """The one writer of a class run; use it in a `with` block, and in one thread.

    A student's marks, state, timestamp, penalty and comments are written in one commit, and the
    marked notebook just before it: killed at any moment, the run leaves each student wholly old
    or wholly new, or to be graded again.

    Parameters
    ----------
    api : nbgrader's interface, as `grader.nbgrader_api.course` opens it
    lab : the lab's stem; `prepare` has put it into the gradebook
    patience : how many seconds to wait for a gradebook that another program is writing
    """

    def __init__(self, api: Any, lab: str, patience: float = PATIENCE) -> None:
        self._api, self.lab, self._patience = api, lab, patience

    def __enter__(self) -> Self:
        self._gradebook = open_gradebook(self._api, self._patience)
        with self._reading() as gradebook:
            self._rows = known_lab(gradebook.db, self._api, self.lab)
        self._lateness = Lateness(self._api)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._gradebook.close()

    def roster(self) -> list[str]:
        """List every student: those in the gradebook and those with a folder in submitted/."""
        with self._reading() as gradebook:
            return roster.roster(gradebook, self._api.coursedir, self.lab)

    def save(self, outcome: Outcome, timestamp: datetime | None = None) -> list[Change]:
        """Write what came of one hand-in; earlier marks of the grader's are forgotten first.

        Marks set by hand stay, and count before the grader's, as everywhere in nbgrader.

        Parameters
        ----------
        outcome : what came of it
        timestamp : when it was handed in; read from its timestamp.txt when left out

        Returns
        -------
        the marks that differ from those of the last grading; none when this is the first

        Raises
        ------
        GradebookError : when the gradebook cannot be written; nothing of this student is changed
        """
        complaint = ""
        if timestamp is None:
            timestamp, complaint = read_timestamp(self._submitted(outcome.student))
        readable = outcome.state != UNREADABLE
        marks, impossible = self._marks(outcome)
        remarks = [outcome.why, *impossible, complaint]
        notebook = outcome.notebook if readable else ""
        with (
            self._one_commit(outcome.student) as (db, student),
            self._copying(outcome.student, notebook, timestamp),
        ):
            rows = make_student_rows(db, self._rows, student)
            before = rows.marks()
            if timestamp or complaint:  # without a file nbgrader keeps what it has
                rows.submission.timestamp = parse_utc(timestamp)
            for cell, grade in rows.grades.items():
                grade.auto_score = marks.get(cell)
                waits = grade.manual_score is not None or grade.auto_score is None
                grade.needs_manual_grade = waits and readable
            for cell, comment in rows.comments.items():
                blank = readable and self._rows.answers.get(cell) in outcome.unanswered
                comment.auto_comment = "No response." if blank else None
            penalty = rows.notebook.late_submission_penalty
            rows.notebook.late_submission_penalty = self._lateness.penalty(db, student, rows)
            said = replace(
                outcome,
                state=PARTLY if impossible else outcome.state,
                why=" ".join(filter(None, remarks)),
            )
            states.put(db, states.from_outcome(said, seconds_late(rows.submission)))
            db.flush()  # what the database refuses, it refuses before the notebook is replaced
            return self._changes(student, before, rows, penalty)

    def absent(self, student: str) -> list[Change]:
        """Write that a student handed nothing in.

        If there was a hand-in before, the grader's marks and the marked notebook go. The
        submission itself stays in the gradebook, with its extension and marks set by hand.
        """
        if self._is_absent(student):
            return []
        with self._one_commit(student) as (db, id_), self._copying(student, "", None):
            rows = student_rows(db, self._rows, id_)
            changes = []
            if rows is not None:
                before, penalty = rows.marks(), rows.notebook.late_submission_penalty
                rows.submission.timestamp = rows.notebook.late_submission_penalty = None
                for grade in rows.grades.values():
                    grade.auto_score, grade.needs_manual_grade = None, False
                for comment in rows.comments.values():
                    comment.auto_comment = None
                changes = self._changes(id_, before, rows, penalty)
            said = Outcome(student, self.lab, ABSENT, why=GONE if changes else "")
            states.put(db, states.from_outcome(said, late=0.0))
            db.flush()
            return changes

    def is_current(self, student: str, hand_in: str, course: str) -> bool:
        """Say whether a hand-in is marked already, and marking it again would change nothing.

        An extension, a later due date, another penalty or a mark that is missing make it so that
        it would.

        Parameters
        ----------
        student : whose
        hand_in, course : digests, as in Outcome
        """
        timestamp, complaint = read_timestamp(self._submitted(student))
        with self._reading() as gradebook:
            db, id_ = gradebook.db, storable(student)
            state = states.state_of(db, self.lab, id_)
            if state is None or state.state == ABSENT or not (hand_in and course):
                return False
            if (state.hand_in, state.course) != (hand_in, course):
                return False
            rows = student_rows(db, self._rows, id_)
            if rows is None:
                return False
            if (timestamp or complaint) and rows.submission.timestamp != timestamp:
                return False
            copy = self._marked_folder(student) / f"{self.lab}.ipynb"
            marks = rows.marks()
            automatic = [cell for cell, part in self._rows.parts.items() if part.automatic]
            return (
                (state.state == UNREADABLE or copy.is_file())
                and all(marks.get(cell) is not None for cell in automatic)
                and state.late == seconds_late(rows.submission)
                and rows.notebook.late_submission_penalty == self._lateness.penalty(db, id_, rows)
            )

    def _is_absent(self, student: str) -> bool:
        """Say whether all that `absent` would write is there already."""
        with self._reading() as gradebook:
            db, id_ = gradebook.db, storable(student)
            state = states.state_of(db, self.lab, id_)
            rows = student_rows(db, self._rows, id_)
            return (
                state is not None
                and state.state == ABSENT
                and not self._marked_folder(student).exists()
                and (rows is None or not any(g.needs_manual_grade for g in rows.grades.values()))
                and (rows is None or all(mark is None for mark in rows.marks().values()))
            )

    @contextmanager
    def _reading(self) -> Iterator[Any]:
        """Lend the gradebook, and close its connection afterwards.

        Workers are forked between two students, and a fork must not have one. Nor does SQLAlchemy
        roll back a commit that SQLite refused: kept open, it would ride on the next student's.
        """
        try:
            yield self._gradebook
        except DBAPIError as error:
            raise GradebookError(in_words(error)) from error
        except OSError as error:
            raise GradebookError(f"The marked copy could not be written: {error}.") from error
        finally:
            self._gradebook.close()

    @contextmanager
    def _one_commit(self, student: str) -> Iterator[tuple[Any, str]]:
        """Open a transaction that is kept whole or not at all, with the id to write it under.

        It begins by writing: SQLite then lets nobody else write until the commit, so that what
        is read in between stays true.
        """
        with self._reading() as gradebook:
            db, id_ = gradebook.db, storable(student)
            states.forget(db, self.lab, id_)
            yield db, id_
            db.commit()

    def _copying(
        self, student: str, notebook: str, timestamp: datetime | None
    ) -> AbstractContextManager[None]:
        return replacing(self._api.coursedir, student, self.lab, notebook, timestamp)

    def _submitted(self, student: str) -> Path:
        return roster.submitted_folder(self._api.coursedir, student, self.lab)

    def _marked_folder(self, student: str) -> Path:
        return marked_folder(self._api.coursedir, student, self.lab)

    def _marks(self, outcome: Outcome) -> tuple[dict[str, float | None], list[str]]:
        """Say what the grader gives for every graded cell, and which points cannot be.

        A written answer waits for a person (None), unless there is none.
        """
        marks: dict[str, float | None] = {}
        impossible = []
        for cell, part in self._rows.parts.items():
            points = float(outcome.points.get(part.name, 0.0))
            if outcome.state == UNREADABLE:
                marks[cell] = 0.0
            elif not part.automatic:
                marks[cell] = 0.0 if part.cell in outcome.unanswered else None
            elif 0 <= points <= part.points:  # false for nan
                marks[cell] = points
            else:
                marks[cell] = 0.0
                impossible.append(
                    f"{part.name}: the grader gave {points:g} of {part.points:g} points, which "
                    "cannot be, so it counts 0; please mark it by hand and report it."
                )
        return marks, impossible

    def _changes(
        self,
        student: str,
        before: dict[str, float | None],
        rows: StudentRows,
        penalty: float | None,
    ) -> list[Change]:
        after = rows.marks()
        if all(mark is None for mark in before.values()):  # never marked, or absent until now
            return []
        changes = [
            Change(student, part.name, before.get(cell), after.get(cell))
            for cell, part in self._rows.parts.items()
            if part.automatic and before.get(cell) != after.get(cell)
        ]
        new = rows.notebook.late_submission_penalty
        if (penalty or 0.0) != (new or 0.0):
            changes.append(Change(student, LATE_PENALTY, penalty or 0.0, new or 0.0))
        return changes
