"""nbgrader's rows of one lab, read and made without a commit of their own.

nbgrader's own functions commit at every step, so a run that is killed leaves half a student.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from nbgrader.api import (
    Assignment,
    Comment,
    Grade,
    GradeCell,
    Notebook,
    SolutionCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
    new_uuid,
)
from sqlalchemy import select
from sqlalchemy.orm import load_only

from grader.gradebook.database import GradebookError
from grader.gradebook.parts import Part, part_name, parts_of


@dataclass(frozen=True)
class LabRows:
    """A lab as the gradebook has it.

    Parameters
    ----------
    name : the lab's stem
    assignment, notebook : their ids
    parts : id of a graded cell -> the part it marks
    answers : id of an answer cell -> its name
    """

    name: str
    assignment: str
    notebook: str
    parts: Mapping[str, Part]
    answers: Mapping[str, str]


@dataclass(frozen=True)
class StudentRows:
    """One student's hand-in of a lab as the gradebook has it: nbgrader's own objects."""

    submission: Any
    notebook: Any
    grades: Mapping[str, Any]
    comments: Mapping[str, Any]

    def marks(self) -> dict[str, float | None]:
        """List what the grader gave: id of the graded cell -> points, None where nothing."""
        return {cell: grade.auto_score for cell, grade in self.grades.items()}


def lab_rows(db: Any, lab: str) -> LabRows | None:
    """Read a lab; None when the gradebook does not have it."""
    found = db.execute(
        select(Assignment.id, Notebook.id)
        .join(Notebook, Notebook.assignment_id == Assignment.id)
        .where(Assignment.name == lab, Notebook.name == lab)
    ).one_or_none()
    if found is None:
        return None
    assignment, notebook = found
    answers = db.execute(
        select(SolutionCell.id, SolutionCell.name).where(SolutionCell.notebook_id == notebook)
    )
    names = {row.id: row.name for row in answers}
    written = set(names.values())
    graded = db.execute(
        select(GradeCell.id, GradeCell.name, GradeCell.max_score).where(
            GradeCell.notebook_id == notebook
        )
    )
    parts = {
        row.id: Part(part_name(row.name), row.name, row.max_score, row.name not in written)
        for row in graded
    }
    return LabRows(lab, assignment, notebook, parts, names)


def known_lab(db: Any, api: Any, lab: str) -> LabRows:
    """Read a lab with its parts in the order in which its source has them.

    Raises
    ------
    GradebookError : when the gradebook does not have it
    """
    rows = lab_rows(db, lab)
    if rows is None:
        raise GradebookError(
            f"{lab} is not in the gradebook: run `nbgrader generate_assignment {lab}`."
        )
    order = {part.cell: place for place, part in enumerate(parts_of(api, lab))}
    parts = sorted(rows.parts.items(), key=lambda item: order.get(item[1].cell, len(order)))
    return replace(rows, parts=dict(parts))


def student_rows(db: Any, lab: LabRows, student: str) -> StudentRows | None:
    """Read a student's rows; None when nothing was ever handed in."""
    submission = _submission(db, lab, student)
    notebook = submission and _notebook(db, lab, submission)
    if notebook is None:
        return None
    # Locked, so that a mark which a person sets meanwhile is not judged by what it was before.
    grades = db.scalars(
        select(Grade)
        .where(Grade.notebook_id == notebook.id)
        .options(
            load_only(Grade.cell_id, Grade.auto_score, Grade.manual_score, Grade.needs_manual_grade)
        )
        .with_for_update()
    )
    comments = db.scalars(
        select(Comment)
        .where(Comment.notebook_id == notebook.id)
        .options(load_only(Comment.cell_id, Comment.auto_comment))
    )
    return StudentRows(
        submission,
        notebook,
        {grade.cell_id: grade for grade in grades},
        {comment.cell_id: comment for comment in comments},
    )


def make_student_rows(db: Any, lab: LabRows, student: str) -> StudentRows:
    """Read a student's rows, and make those that are missing, the student included."""
    rows = student_rows(db, lab, student)
    if rows is None:
        rows = StudentRows(*_make_submission(db, lab, student), {}, {})
    grades = {cell: Grade(cell_id=cell, notebook_id=rows.notebook.id) for cell in lab.parts}
    comments = {cell: Comment(cell_id=cell, notebook_id=rows.notebook.id) for cell in lab.answers}
    db.add_all(_new(grades, rows.grades))
    db.add_all(_new(comments, rows.comments))
    db.flush()
    return StudentRows(
        rows.submission,
        rows.notebook,
        {**grades, **rows.grades},
        {**comments, **rows.comments},
    )


def _make_submission(db: Any, lab: LabRows, student: str) -> tuple[Any, Any]:
    submission = _submission(db, lab, student)
    if submission is None:
        if db.get(Student, student) is None:
            db.add(Student(id=student))
        submission = SubmittedAssignment(
            id=new_uuid(), assignment_id=lab.assignment, student_id=student
        )
        db.add(submission)
    notebook = SubmittedNotebook(
        id=new_uuid(), notebook_id=lab.notebook, assignment_id=submission.id
    )
    db.add(notebook)
    return submission, notebook


def _submission(db: Any, lab: LabRows, student: str) -> Any:
    return db.scalars(
        select(SubmittedAssignment).where(
            SubmittedAssignment.assignment_id == lab.assignment,
            SubmittedAssignment.student_id == student,
        )
    ).one_or_none()


def _notebook(db: Any, lab: LabRows, submission: Any) -> Any:
    return db.scalars(
        select(SubmittedNotebook).where(
            SubmittedNotebook.assignment_id == submission.id,
            SubmittedNotebook.notebook_id == lab.notebook,
        )
    ).one_or_none()


def _new(wanted: Mapping[str, Any], found: Iterable[str]) -> list[Any]:
    return [row for cell, row in wanted.items() if cell not in found]
