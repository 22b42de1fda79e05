"""Run a hand-in so that one answer's crash costs that answer, in an ordinary kernel too.

Graded cells try an answer in a process of its own. But the cells between them, in which the
learner plays with it, call it in the kernel itself, where an exit or a loop would take the rest
of the hand-in along. While grading, those cells are left out where they stand as released.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from nbclient.exceptions import DeadKernelError
from nbgrader.preprocessors import Execute, NbGraderPreprocessor

SKIP = "skip-execution"  # the tag on which nbclient passes a cell over


class LeaveOutPlay(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Mark released cells that call the learner's answers, so that they are not run.

    Cells that only set something up still run, since an answer may lean on their names; so do
    cells that the learner added or changed.
    """

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Tag the cells to leave out."""
        stem = resources["nbgrader"]["notebook"]
        course = Path(resources["metadata"]["path"]).parents[2]
        source = course / "source" / resources["nbgrader"]["assignment"] / f"{stem}.ipynb"
        if source.exists():
            released = nbformat.read(source, as_version=4)
            for cell in play_cells(nb, released):
                leave_out(cell)
        return nb, resources


class RescuingExecute(Execute):  # type: ignore[misc]
    """Run a hand-in; if its kernel dies all the same, run it again without unmarked cells."""

    def preprocess(self, nb: Any, resources: Any = None, km: Any = None) -> tuple[Any, Any]:
        """Run the cells in order."""
        try:
            return super().preprocess(nb, resources, km)  # type: ignore[no-any-return]
        except DeadKernelError:
            self.log.warning("The kernel died; running again without the cells that are not graded")
            for cell in unmarked_code(nb):
                leave_out(cell)
            for cell in nb.cells:
                if cell.cell_type == "code":
                    cell.outputs = []
            return super().preprocess(nb, resources, km)  # type: ignore[no-any-return]


def leave_out(cell: nbformat.NotebookNode) -> None:
    """Mark a cell so that it is not run."""
    cell.metadata.tags = sorted({*cell.metadata.get("tags", []), SKIP})


def unmarked_code(notebook: nbformat.NotebookNode) -> Iterator[nbformat.NotebookNode]:
    """List the code cells that are neither given, nor an answer, nor graded."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader"):
            yield cell


def play_cells(
    notebook: nbformat.NotebookNode, released: nbformat.NotebookNode
) -> Iterator[nbformat.NotebookNode]:
    """List the cells of a hand-in that stand as released and need an answer to run.

    Such a cell names an answer, or something that another such cell would have made.
    """
    as_released = {cell.source.strip() for cell in unmarked_code(released)}
    missing = {
        cell.metadata.nbgrader.grade_id
        for cell in released.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }
    for cell in unmarked_code(notebook):
        if cell.source.strip() in as_released:
            read, written = names_in(cell.source)
            if read & missing:
                missing |= written
                yield cell
            else:
                missing -= written


def names_in(code: str) -> tuple[set[str], set[str]]:
    """List the names that code reads and those it binds; none when it cannot be parsed."""
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except SyntaxError:
        return set(), set()
    names = [node for node in nodes if isinstance(node, ast.Name)]
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    return read, {node.id for node in names if isinstance(node.ctx, ast.Store)}
