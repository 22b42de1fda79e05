"""The steps that this course puts into nbgrader's own autograde.

`nbgrader autograde` and the formgrader's button come the same way as a class run: a lenient
reader, repair, the sandbox, the judge. nbgrader itself writes the marks.
"""

from __future__ import annotations

import atexit
from functools import cache
from pathlib import Path
from typing import Any

from nbconvert.exporters import NotebookExporter
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool

from grader.engine.grade import (
    How,
    Lab,
    assess_surely,
    load_lab,
    outcome_of,
    remarks_on,
)
from grader.engine.sandbox import require
from grader.engine.worker import Worker
from grader.gradebook.late import seconds_late
from grader.gradebook.states import create_table, forget, from_outcome, put
from grader.outcome import Outcome
from grader.seed import HiddenSeed
from grader.submission.read import read
from grader.submission.repair import repair

NOTES = "attnlab"


class HandInReader(NotebookExporter):
    """Reads hand-ins that other readers refuse: with a BOM, of older formats, without metadata."""

    def from_filename(
        self, filename: str, resources: dict[str, Any] | None = None, **how: Any
    ) -> Any:
        """Read a file and convert it."""
        notebook, mended = read(Path(filename))
        resources = dict(resources or {})
        resources.setdefault("metadata", {})["path"] = str(Path(filename).parent)
        resources["metadata"]["name"] = Path(filename).stem
        if mended:
            notebook.metadata.setdefault(NOTES, {})["repairs"] = mended
        return self.from_notebook_node(notebook, resources, **how)


class _Step(NbGraderPreprocessor):  # type: ignore[misc]
    def _lab(self, resources: dict[str, Any]) -> Lab:
        coursedir = self.parent.parent.coursedir  # of the converter that uses this exporter
        return load_lab(Path(coursedir.root), resources["nbgrader"]["assignment"])


class Repair(_Step):
    """Put the lab's cells back to where and what they were; the hand-in itself stays as it is."""

    def preprocess(self, nb: Any, resources: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Repair one notebook, and note what was repaired in its metadata."""
        lab = self._lab(resources)
        folder = Path(resources["metadata"]["path"])
        mended = list(nb.metadata.get(NOTES, {}).get("repairs", []))
        others = [path for path in folder.rglob("*") if path.suffix != ".ipynb"]
        remarks = remarks_on(nb, lab, others)
        repaired, repairs = repair(nb, lab.released, lab.source)
        repaired.metadata[NOTES] = {"repairs": [*mended, *repairs], "tampering": remarks}
        return repaired, resources


class Mark(_Step):
    """Run a hand-in in the sandbox and write verdicts and marks into its checks."""

    confined = Bool(True, help="Whether hand-ins run in the sandbox.").tag(config=True)
    figures = Bool(False, help="Whether the course's figures are drawn.").tag(config=True)

    def preprocess(self, nb: Any, resources: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Mark one repaired notebook."""
        if self.confined:
            require()
        lab, how = self._lab(resources), How(self.confined, self.figures)
        student = resources["nbgrader"]["student"]
        seed = HiddenSeed(config=self.config).of(student)
        notes = dict(nb.metadata.get(NOTES, {}))
        marked = assess_surely(nb, lab, seed, _worker(self.confined), how)
        repairs, remarks = notes.get("repairs", []), notes.get("tampering", [])
        resources["outcome"] = outcome_of(student, lab, nb, marked, repairs, remarks)
        return nb, resources


@cache
def _worker(confined: bool) -> Worker:
    """Start a sandbox that stays until this process ends."""
    worker = Worker(confined)
    atexit.register(worker.stop)
    return worker


class SaveState(_Step):
    """Write what came of a hand-in beside the marks that nbgrader has just written."""

    def preprocess(self, nb: Any, resources: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """Write one state. Without a digest, a class run will grade the hand-in again."""
        outcome: Outcome = resources["outcome"]
        with Gradebook(resources["nbgrader"]["db_url"]) as gradebook:
            create_table(gradebook.engine)
            late = seconds_late(gradebook.find_submission(outcome.lab, outcome.student))
            forget(gradebook.db, outcome.lab, outcome.student)
            put(gradebook.db, from_outcome(outcome, late))
            gradebook.db.commit()
        return nb, resources
