"""A lab's cells with a role, as nbgrader keeps them: from its source, or from the gradebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import nbformat
from nbgrader.api import GradeCell, SourceCell
from nbgrader.preprocessors import ClearSolutions
from nbgrader.utils import is_grade, is_locked, is_solution
from sqlalchemy import select

from grader.gradebook.parts import source_path
from grader.gradebook.rows import LabRows


@dataclass(frozen=True)
class Layout:
    """What nbgrader keeps of a lab's cells.

    Parameters
    ----------
    graded : name -> points and cell type
    answers : the names of the answer cells
    texts : name -> cell type, whether it is locked, and its text without the answer
    """

    graded: Mapping[str, tuple[float, str]]
    answers: frozenset[str]
    texts: Mapping[str, tuple[str, bool, str]]


def in_source(api: Any, lab: str) -> Layout:
    """Read the layout that a lab's source asks for."""
    notebook = nbformat.read(source_path(api, lab), as_version=4)
    notebook, _ = ClearSolutions(parent=api).preprocess(notebook, {"nbgrader": {}})
    cells = {
        cell.metadata.nbgrader["grade_id"]: cell
        for cell in notebook.cells
        if is_grade(cell) or is_solution(cell) or is_locked(cell)
    }
    return Layout(
        {
            name: (float(cell.metadata.nbgrader["points"]), cell.cell_type)
            for name, cell in cells.items()
            if is_grade(cell)
        },
        frozenset(name for name, cell in cells.items() if is_solution(cell)),
        {name: (c.cell_type, bool(is_locked(c)), c.source) for name, c in cells.items()},
    )


def in_gradebook(db: Any, rows: LabRows) -> Layout:
    """Read the layout that the gradebook has."""
    graded = db.execute(
        select(GradeCell.name, GradeCell.max_score, GradeCell.cell_type).where(
            GradeCell.notebook_id == rows.notebook
        )
    )
    texts = db.execute(
        select(SourceCell.name, SourceCell.cell_type, SourceCell.locked, SourceCell.source).where(
            SourceCell.notebook_id == rows.notebook
        )
    )
    return Layout(
        {name: (points, kind) for name, points, kind in graded},
        frozenset(rows.answers.values()),
        {name: (kind, locked, text) for name, kind, locked, text in texts},
    )
