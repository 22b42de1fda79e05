"""Who is in the class."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from nbgrader.api import Student
from sqlalchemy import select

NOT_STUDENTS = {"__MACOSX"}  # what macOS adds to a zip


def roster(gradebook: Any, coursedir: Any, lab: str) -> list[str]:
    """List every student: those in the gradebook and those with a folder in submitted/."""
    known = set(gradebook.db.scalars(select(Student.id)))
    return sorted(known | set(students_with_a_folder(coursedir, lab)))


def submitted_folder(coursedir: Any, student: str, lab: str) -> Path:
    """Find where a student's hand-in of a lab lies, or would lie."""
    return Path(coursedir.format_path(coursedir.submitted_directory, student, lab))


def students_with_a_folder(coursedir: Any, lab: str) -> list[str]:
    """List the students with a folder in submitted/, whether or not this lab is in it."""
    any_ = submitted_folder(coursedir, "*", lab)
    return [
        folder.name
        for place in (any_, *any_.parents)
        if place.name == "*" and place.parent.is_dir()
        for folder in place.parent.iterdir()
        if folder.is_dir() and not folder.name.startswith(".") and folder.name not in NOT_STUDENTS
    ]
