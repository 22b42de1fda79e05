"""A course of its own for a test of whole class runs, and how to run one."""

from __future__ import annotations

import atexit
import io
import shutil
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pandas as pd
from rich.console import Console

from grader.class_run import ClassRun
from grader.engine.grade import How
from grader.engine.job import Job, grade_job
from grader.engine.sandbox import why_missing
from grader.engine.worker import Worker
from grader.gradebook.table import grades
from grader.hand_ins import HandIn, write
from grader.nbgrader_api import course
from grader.outcome import Outcome
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
        """Grade the class; return the exit code and what was printed.

        Where neither jobs nor a cluster are asked for, this process grades, in a sandbox that
        stays for the next class: starting others is most of the time that a small class takes.
        """
        text = io.StringIO()
        here = not how.keys() & {"jobs", "cluster"}
        how.setdefault("how", How(confined=not why_missing()))
        run = ClassRun(self.api, self.stem, **how)
        console = Console(file=text, width=200)
        if not here:
            return run.grade(console), text.getvalue()
        with patch("grader.class_run.graded", graded_here):
            return run.grade(console), text.getvalue()

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


def graded_here(jobs: Iterator[Job], n: int) -> Iterator[Outcome]:
    for job in jobs:
        with patch("grader.engine.job._worker", warm):  # forks must not find it in theirs
            outcome = grade_job(job)
        yield outcome


@cache
def warm(confined: bool) -> Worker:
    worker = Worker(confined)
    atexit.register(worker.stop)
    return worker
