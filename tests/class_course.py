"""A course of its own for a test of whole class runs, and how to run one."""

from __future__ import annotations

import io
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from grader.class_run import ClassRun
from grader.engine.grade import How
from grader.engine.sandbox import why_missing
from grader.gradebook.table import grades
from grader.hand_ins import HandIn, write
from grader.nbgrader_api import course
from tests.conftest import ROOT


class ClassCourse:
    """One lab, released in a folder of the test's, with hand-ins, graded as a class."""

    def __init__(self, place: Path, stem: str) -> None:
        self.place, self.stem = place, stem
        for stage in ("source", "release"):
            shutil.copytree(ROOT / stage / stem, place / stage / stem)
        self.api = course(ROOT, place)

    def folder(self, student: str) -> Path:
        return self.place / "submitted" / student / self.stem

    def hand_in(self, class_: Mapping[str, HandIn]) -> None:
        released = self.place / "release" / self.stem / f"{self.stem}.ipynb"
        for student, answers in class_.items():
            write(answers, released, self.folder(student) / f"{self.stem}.ipynb")

    def grade(self, **how: Any) -> tuple[int, str]:
        """Grade the class; return the exit code and what was printed."""
        text = io.StringIO()
        how.setdefault("how", How(confined=not why_missing()))
        run = ClassRun(self.api, self.stem, **how)
        return run.grade(Console(file=text, width=200)), text.getvalue()

    def frame(self) -> pd.DataFrame:
        """Read all marks and states, without what may differ from run to run."""
        return grades(self.api, [self.stem])

    def states(self) -> dict[str, str]:
        frame = self.frame()
        return dict(zip(frame.student, frame.state, strict=True))

    def points(self, student: str) -> dict[str, float]:
        frame = self.frame()
        mine = frame[frame.student == student]
        return dict(zip(mine.part, mine.points, strict=True))
