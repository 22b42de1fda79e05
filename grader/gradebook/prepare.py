"""Make the gradebook's idea of a lab fit its source, also when hand-ins are marked already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from nbgrader.api import (
    BaseCell,
    Comment,
    Grade,
    GradeCell,
    SolutionCell,
    SourceCell,
    SubmittedAssignment,
    SubmittedNotebook,
)
from sqlalchemy import delete, select
from sqlalchemy.exc import DBAPIError

from grader.gradebook.database import PATIENCE, GradebookError, in_words, open_gradebook
from grader.gradebook.layout import Layout, in_gradebook, in_source
from grader.gradebook.parts import part_name, source_path
from grader.gradebook.rows import LabRows, lab_rows, make_student_rows


def prepare(api: Any, lab: str, patience: float = PATIENCE) -> list[str]:
    """Bring a lab into the gradebook, or bring it up to date; its due date stays.

    nbgrader refuses to add or remove cells once there are hand-ins, and removes the release when
    it refuses. So the rows are made to fit first: a new exercise has no mark yet in any hand-in,
    a removed one takes its marks with it, and every other mark stays, those set by hand too.

    Parameters
    ----------
    api : nbgrader's interface, as `grader.nbgrader_api.course` opens it
    lab : the lab's stem
    patience : how many seconds to wait for a gradebook that another program is writing

    Returns
    -------
    what became different for the class, in sentences

    Raises
    ------
    GradebookError : when the source is missing or broken, or nbgrader cannot release it
    """
    if not source_path(api, lab).exists():
        raise GradebookError(f"source/{lab} is missing: run `python -m grader build` first.")
    try:
        wanted = in_source(api, lab)
    except (KeyError, RuntimeError, ValueError) as error:
        raise GradebookError(
            f"source/{lab} is not as `python -m grader build` makes it: {error}."
        ) from error
    notes: list[str] = []
    gradebook = open_gradebook(api, patience)
    try:
        db = gradebook.db
        rows = lab_rows(db, lab)
        if rows is not None:
            there = in_gradebook(db, rows)
            if there == wanted:
                return []
            students = _students(db, rows)
            if students:
                notes = list(_differences(db, rows, there, wanted))
                _fit(db, rows, there, wanted)
                fitted = lab_rows(db, lab)
                assert fitted is not None
                for student in students:
                    make_student_rows(db, fitted, student)
                db.commit()
    except DBAPIError as error:
        raise GradebookError(in_words(error)) from error
    finally:
        gradebook.close()
    result = api.generate_assignment(lab)
    if not result["success"]:
        said = str(result.get("error") or result.get("log") or "").strip()
        raise GradebookError(f"nbgrader could not take {lab} into the gradebook:\n{said}")
    return notes


def _students(db: Any, rows: LabRows) -> list[str]:
    """List the students with a hand-in in the gradebook."""
    handed_in = select(SubmittedAssignment.student_id).where(
        SubmittedAssignment.assignment_id == rows.assignment
    )
    return list(db.scalars(handed_in))


def _differences(db: Any, rows: LabRows, there: Layout, wanted: Layout) -> Iterator[str]:
    for cell, (points, _) in wanted.graded.items():
        if cell not in there.graded:
            yield f"{part_name(cell)} is new, of {points:g} points."
        elif points != (old := there.graded[cell][0]):
            yield f"{part_name(cell)} is of {points:g} points now, not of {old:g}."
    for cell in sorted(there.graded.keys() - wanted.graded.keys()):
        by_hand = ", ".join(f"{who} {points:g}" for who, points in _set_by_hand(db, rows, cell))
        also = f", and with it the marks set by hand: {by_hand}" if by_hand else ""
        yield f"{part_name(cell)} is no longer in the lab{also}."


def _set_by_hand(db: Any, rows: LabRows, cell: str) -> list[tuple[str, float]]:
    found = db.execute(
        select(SubmittedAssignment.student_id, Grade.manual_score)
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
        .join(BaseCell, BaseCell.id == Grade.cell_id)
        .where(
            BaseCell.name == cell,
            BaseCell.notebook_id == rows.notebook,
            Grade.manual_score.is_not(None),
        )
        .order_by(SubmittedAssignment.student_id)
    )
    return [(student, points) for student, points in found]


def _fit(db: Any, rows: LabRows, there: Layout, wanted: Layout) -> None:
    """Add and remove cells so that the gradebook has those of the source."""
    _remove(db, rows, GradeCell, there.graded.keys() - wanted.graded.keys())
    _remove(db, rows, SolutionCell, there.answers - wanted.answers)
    gone = there.texts.keys() - wanted.texts.keys()
    db.execute(
        delete(SourceCell).where(
            SourceCell.notebook_id == rows.notebook, SourceCell.name.in_(sorted(gone))
        )
    )
    for name in sorted(wanted.graded.keys() - there.graded.keys()):
        points, type_ = wanted.graded[name]
        db.add(GradeCell(name=name, notebook_id=rows.notebook, max_score=points, cell_type=type_))
    for name in sorted(wanted.answers - there.answers):
        db.add(SolutionCell(name=name, notebook_id=rows.notebook))
    for name in sorted(wanted.texts.keys() - there.texts.keys()):
        type_, locked, text = wanted.texts[name]
        db.add(
            SourceCell(
                name=name, notebook_id=rows.notebook, cell_type=type_, locked=locked, source=text
            )
        )
    db.flush()


def _remove(db: Any, rows: LabRows, kind: Any, names: Iterable[str]) -> None:
    """Remove cells with the marks and comments that hang on them."""
    found = select(kind.id).where(kind.notebook_id == rows.notebook, kind.name.in_(sorted(names)))
    ids = list(db.scalars(found))
    db.execute(delete(Grade).where(Grade.cell_id.in_(ids)))
    db.execute(delete(Comment).where(Comment.cell_id.in_(ids)))
    for table in (kind.__table__, BaseCell.__table__):
        db.execute(delete(table).where(table.c.id.in_(ids)))
