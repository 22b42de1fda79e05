"""A course of its own for a test: one lab, released in a folder of the test's, with hand-ins."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
from nbgrader.api import Gradebook

from grader.engine.sandbox import why_missing
from grader.hand_ins import Answer, HandIn, write
from grader.nbgrader_api import course
from tests.conftest import ROOT


class Course:
    """Release one lab, hand in, grade, and read marks and notebooks back."""

    def __init__(self, place: Path, stem: str) -> None:
        self.place, self.stem = place, stem
        shutil.copytree(ROOT / "source" / stem, place / "source" / stem)
        self.api = course(ROOT, place)
        self.api.config.Mark.confined = not why_missing()  # these hand-ins are our own
        self.must(self.api.generate_assignment(stem))

    @staticmethod
    def must(result: dict[str, Any]) -> None:
        assert result["success"], result.get("log") or result.get("error")

    def path(self, stage: str, student: str = "") -> Path:
        return self.place / stage / student / self.stem / f"{self.stem}.ipynb"

    def hand_in(self, student: str, answers: HandIn, code: Mapping[str, str] | None = None) -> None:
        """Write a hand-in; `code` adds text above the answers of some cells."""
        target = self.path("submitted", student)
        write(answers, self.path("release"), target)
        if code:
            notebook = nbformat.read(target, as_version=4)
            for cell in notebook.cells:
                grade_id = cell.metadata.get("nbgrader", {}).get("grade_id", "")
                cell.source = code.get(grade_id, "") + cell.source
            nbformat.write(notebook, target)

    def grade(self, student: str) -> dict[str, float]:
        self.must(self.api.autograde(self.stem, student))
        return marks_in(self.place, self.stem, student)

    def feedback(self, student: str) -> str:
        self.must(self.api.generate_feedback(self.stem, student))
        page = self.place / "feedback" / student / self.stem / f"{self.stem}.html"
        return page.read_text(encoding="utf-8")


def marks_in(place: Path, stem: str, student: str) -> dict[str, float]:
    """Read the automatic marks of one hand-in from a gradebook."""
    with Gradebook(f"sqlite:///{place / 'gradebook.db'}") as gradebook:
        parts = gradebook.find_submission(stem, student).notebooks[0].grades
        return {
            part.cell.name.removeprefix("check_"): part.auto_score
            for part in parts
            if part.cell.name.startswith("check_")
        }


def nbgrader(place: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    """Run nbgrader's own command, as its manual says, in a course folder."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        [sys.executable, "-m", "nbgrader", *words],
        cwd=place,
        env=os.environ | {"JUPYTER_PLATFORM_DIRS": "1", "PATH": path} | env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def own(source: str) -> Answer:
    return Answer("own", source)
