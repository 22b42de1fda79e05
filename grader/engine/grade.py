"""Grade one hand-in from its folder to its outcome. Whatever it is, there is an outcome."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from grader.engine.assess import Marked, assess
from grader.engine.sandbox import SandboxMissing
from grader.engine.worker import Worker, WorkerDied
from grader.outcome import GRADED, PARTLY, REPAIRED, UNREADABLE, Outcome
from grader.submission.read import Unreadable, find, read
from grader.submission.repair import repair
from grader.submission.roles import grade_id
from grader.submission.tamper import tampering

MOST_DEATHS = 3  # of the sandbox itself, before a hand-in is given up
CODE = ("attnlab", "grader")
log = logging.getLogger(__name__)


class NotReleased(Exception):
    """That a lab's notebooks are not there, and what to do."""


@dataclass(frozen=True)
class Lab:
    """A lab as it was released, and as it is with answers and hidden parts."""

    stem: str
    released: NotebookNode
    source: NotebookNode


@dataclass(frozen=True)
class How:
    """How hand-ins are run: whether in the sandbox, and whether the course's figures are drawn."""

    confined: bool = True
    figures: bool = False


@cache
def load_lab(root: Path, stem: str) -> Lab:
    """Read a lab's notebooks from a course's `release/` and `source/`.

    Raises
    ------
    NotReleased : when one of them is not there
    """
    found = []
    for stage, made_by in (("release", "release"), ("source", "build")):
        path = root / stage / stem / f"{stem}.ipynb"
        if not path.is_file():
            raise NotReleased(f"{path} is missing: run `python -m grader {made_by}` first.")
        found.append(nbformat.read(path, as_version=4))
    return Lab(stem, *found)


@cache
def course_digest(root: Path, stem: str) -> str:
    """Mix everything that marks of a lab depend on, besides the seed, into one text."""
    mixed = sha256()
    here = Path(__file__).resolve().parents[2]
    files = [path for folder in CODE for path in sorted((here / folder).rglob("*.py"))]
    for path in (
        *files,
        *(root / stage / stem / f"{stem}.ipynb" for stage in ("release", "source")),
    ):
        mixed.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return mixed.hexdigest()


def grade(student: str, folder: Path, lab: Lab, seed: str, worker: Worker, how: How) -> Outcome:
    """Grade what one student handed in.

    Parameters
    ----------
    student : whose it is
    folder : with the notebook, under whatever name
    lab : which lab
    seed : what kept-back inputs are drawn from
    worker : where it runs
    how : how it runs
    """
    try:
        path, notes = find(folder, lab.released, lab.stem)
        notebook, mended = read(path)
        others = [file for file in folder.rglob("*") if file.is_file() and file != path]
        remarks = remarks_on(notebook, lab, others)
        repaired, repairs = repair(notebook, lab.released, lab.source)
        marked = assess_surely(repaired, lab, seed, worker, how)
    except Unreadable as reason:
        return Outcome(student, lab.stem, UNREADABLE, str(reason))
    except SandboxMissing:
        raise
    except Exception as error:
        log.error("%s, %s: %s", student, lab.stem, traceback.format_exc())
        why = f"The grader itself failed on it ({type(error).__name__}: {error}): please report."
        return Outcome(student, lab.stem, UNREADABLE, why)
    return outcome_of(student, lab, repaired, marked, [*notes, *mended, *repairs], remarks)


def remarks_on(notebook: NotebookNode, lab: Lab, others: Sequence[Path]) -> list[str]:
    """Say what the instructor may want to know; no mark may depend on whether that succeeds."""
    try:
        return tampering(notebook, lab.released, others)
    except Exception as error:
        log.error("%s: %s", lab.stem, traceback.format_exc())
        return [f"Looking for edits failed ({type(error).__name__}: {error}): please report."]


def assess_surely(notebook: NotebookNode, lab: Lab, seed: str, worker: Worker, how: How) -> Marked:
    """Mark a notebook, beginning anew when the sandbox itself goes away."""
    deaths = 0
    while True:
        try:
            return assess(notebook, lab.released, lab.stem, seed, worker, how.figures)
        except WorkerDied:
            deaths += 1
            worker.stop()
            if deaths == MOST_DEATHS:
                raise


def outcome_of(
    student: str,
    lab: Lab,
    notebook: NotebookNode,
    marked: Marked,
    repairs: Sequence[str],
    remarks: Sequence[str],
) -> Outcome:
    """Say what grading came to; what was repaired is noted in the notebook too."""
    stops = [f"{name} stopped: {why}." for name, why in marked.stopped.items()]
    places = [f"Cell {place + 1} was left out. {why}" for place, why in marked.left_out.items()]
    state = PARTLY if stops else REPAIRED if repairs else GRADED
    notebook.metadata["attnlab"] = {"state": state, "repairs": list(repairs)}
    return Outcome(
        student=student,
        lab=lab.stem,
        state=state,
        why=" ".join([*stops, *places, *repairs]),
        points={name: report.score for name, report in marked.reports.items()},
        mistakes={n: r.mistakes[0].name for n, r in marked.reports.items() if r.mistakes},
        tampering=tuple(remarks),
        unanswered=unanswered(notebook, lab),
        notebook=nbformat.v4.writes(notebook),
    )


def unanswered(notebook: NotebookNode, lab: Lab) -> frozenset[str]:
    """List the answer cells that are as they were released."""
    stubs = {
        grade_id(cell): cell.source.strip()
        for cell in lab.released.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }
    return frozenset(
        grade_id(cell)
        for cell in notebook.cells
        if grade_id(cell) in stubs and cell.source.strip() == stubs[grade_id(cell)]
    )
