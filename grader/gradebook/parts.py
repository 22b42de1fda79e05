"""The parts of a lab that earn points, as its source notebook has them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

CHECK = "check_"


@dataclass(frozen=True)
class Part:
    """An exercise, marked by the grader, or a written question, marked by a person."""

    name: str
    cell: str
    points: float
    automatic: bool


def source_path(api: Any, lab: str) -> Path:
    """Find a lab's source notebook."""
    folder = api.coursedir.format_path(api.coursedir.source_directory, ".", lab)
    return Path(folder) / f"{lab}.ipynb"


def parts_of(api: Any, lab: str) -> list[Part]:
    """List the parts of a lab in the order of its source; none when that is missing."""
    path = source_path(api, lab)
    return list(_parts(nbformat.read(path, as_version=4))) if path.exists() else []


def part_name(cell: str) -> str:
    """Name the part that a graded cell belongs to."""
    return cell.removeprefix(CHECK)


def _parts(notebook: Any) -> Iterator[Part]:
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        if about.get("grade"):
            id_ = about["grade_id"]
            yield Part(part_name(id_), id_, float(about["points"]), not about["solution"])
