"""A course whose hand-ins are marked by nobody: tests say what came of each."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook

from grader.catalogue import exercises
from grader.gradebook.prepare import prepare
from grader.gradebook.writer import Writer
from grader.nbgrader_api import course
from grader.outcome import GRADED, Outcome
from tests.conftest import ROOT

STEM = "lab00_qkv"
FULL = {exercise.name: exercise.points for exercise in exercises(STEM)}
WRITTEN = "why_three_matrices"


class MarkedCourse:
    """One lab in a gradebook of the test's own."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.api = course(ROOT, place)

    @classmethod
    def made(cls, place: Path) -> MarkedCourse:
        """Make a course in an empty folder."""
        shutil.copytree(ROOT / "source" / STEM, place / "source" / STEM)
        made = cls(place)
        assert prepare(made.api, STEM) == []
        return made

    @classmethod
    def copied(cls, template: Path, place: Path) -> MarkedCourse:
        """Copy a course: quicker than making one."""
        shutil.copytree(template, place)
        return cls(place)

    @property
    def source(self) -> Path:
        return self.place / "source" / STEM

    @property
    def gradebook(self) -> Gradebook:
        return self.api.gradebook

    def writer(self, **how: Any) -> Writer:
        return Writer(self.api, STEM, **how)

    def hand_in(self, student: str, timestamp: str = "") -> Path:
        folder = self.place / "submitted" / student / STEM
        folder.mkdir(parents=True, exist_ok=True)
        released = self.place / "release" / STEM / f"{STEM}.ipynb"
        shutil.copy(released, folder)
        if timestamp:
            (folder / "timestamp.txt").write_text(timestamp, encoding="utf-8")
        return folder

    def marked(self, student: str) -> Path:
        return self.place / "autograded" / student / STEM

    def due(self, when: str) -> None:
        with self.gradebook as gradebook:
            gradebook.update_or_create_assignment(STEM, duedate=when)

    def by_hand(self, student: str, cell: str, points: float, extra: float | None = None) -> None:
        """Set a mark as the formgrader does."""
        with self.gradebook as gradebook:
            grade = gradebook.find_grade(cell, STEM, STEM, student)
            grade.manual_score, grade.extra_credit = points, extra
            grade.needs_manual_grade = False
            gradebook.db.commit()

    def rows(self, student: str) -> dict[str, tuple[float | None, float | None, bool]]:
        """Read graded cell -> the grader's mark, the mark set by hand, whether one waits."""
        with self.gradebook as gradebook:
            parts = gradebook.find_submission(STEM, student).notebooks[0].grades
            return {
                g.cell.name: (g.auto_score, g.manual_score, g.needs_manual_grade) for g in parts
            }

    def penalty(self, student: str) -> float:
        with self.gradebook as gradebook:
            return float(gradebook.find_submission(STEM, student).late_submission_penalty)


def outcome(student: str, state: str = GRADED, **what: Any) -> Outcome:
    """Say what came of a hand-in; everything right when nothing else is said."""
    about = {
        "points": FULL,
        "notebook": '{"cells": []}',
        "hand_in": "first",
        "course": "as it is",
    }
    return Outcome(student, STEM, state, **(about | what))
