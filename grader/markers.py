"""Read a text master of `course/`: cells, their markers, and where each stands in the file.

A marker is what stands behind `# %%` on a cell's first line: `given`, `solution="name"`,
`check="name" points=n`, `manual="name" points=n`, `lang="en"` or `lang="es" of="…"`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jupytext

ROLES = ("given", "solution", "check", "manual")
KNOWN = (*ROLES, "points", "lang", "of")
LANGUAGES = ("en", "es")
BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"


class CourseError(Exception):
    """What is wrong in a text master: file, line and reason."""

    def __init__(self, path: Path, line: int, reason: str) -> None:
        super().__init__(f"{path}:{line}: {reason}")


@dataclass(frozen=True)
class Cell:
    """One cell of a text master.

    Parameters
    ----------
    kind : "code" or "markdown"
    source : its text
    markers : what stands behind `# %%`
    line : where it starts in the file, counted from 1
    """

    kind: str
    source: str
    markers: dict[str, Any]
    line: int

    @property
    def role(self) -> str:
        """What nbgrader needs to know of it: one of ROLES, or nothing."""
        return next((role for role in ROLES if role in self.markers), "")

    @property
    def name(self) -> str:
        """The exercise or question it belongs to; empty for other cells."""
        value = self.markers.get(self.role, "")
        return value if isinstance(value, str) else ""


@dataclass(frozen=True)
class Text:
    """A text master, read and checked; one that is read and not graded is nothing more."""

    path: Path
    title: str
    minutes: str
    cells: tuple[Cell, ...]

    @property
    def stem(self) -> str:
        """The name it has at every stage, such as "lab00_qkv"."""
        return self.path.stem


@dataclass(frozen=True)
class Lab(Text):
    """The text master of a lab."""

    points: float

    def of_role(self, role: str) -> list[Cell]:
        """List its cells with one role, in order."""
        return [cell for cell in self.cells if cell.role == role]


def read_lab(path: Path) -> Lab:
    """Read the text master of a lab and check what a machine can check.

    Raises
    ------
    CourseError : an unknown or misused marker, a duplicate name, an unbalanced solution
        region, a check without a solution, points that do not add up, a language without
        its English cell
    """
    about, cells = _read(path, "lab", ("title", "minutes", "points"))
    if not isinstance(about["points"], (int, float)):
        raise CourseError(path, 1, f"the header's points are {about['points']!r}, not a number")
    lab = Lab(path, about["title"], str(about["minutes"]), cells, float(about["points"]))
    for line, reason in _complaints_of(lab):
        raise CourseError(path, line, reason)
    return lab


def read_reading(path: Path) -> Text:
    """Read a text master that is read and played with, and not graded.

    Raises
    ------
    CourseError : as for a lab, and for any cell with a role
    """
    about, cells = _read(path, "reading", ("title", "minutes"))
    for cell in cells:
        if cell.role:
            raise CourseError(path, cell.line, f"a {cell.role} cell, but nothing here is graded")
    return Text(path, about["title"], str(about["minutes"]), cells)


def _read(
    path: Path, kind: str, wanted: tuple[str, ...]
) -> tuple[dict[str, Any], tuple[Cell, ...]]:
    """Read what a text's header says of it, and its cells."""
    if not path.exists():
        raise CourseError(path, 1, "there is no such text")
    text = path.read_text(encoding="utf-8")
    try:
        notebook = jupytext.reads(text, fmt="py:percent")
    except Exception as error:  # jupytext passes on whatever its YAML reader raises
        raise CourseError(path, 1, f"the header cannot be read: {error}") from error
    starts = [n for n, line in enumerate(text.splitlines(), 1) if re.match(r"# %%( |$)", line)]
    if len(starts) != len(notebook.cells):
        reason = (
            "cells begin with `# %%` and a blank; here text stands before the first, or one differs"
        )
        raise CourseError(path, 1, reason)
    cells = tuple(
        Cell(cell.cell_type, cell.source, _markers(cell.metadata), line)
        for cell, line in zip(notebook.cells, starts, strict=True)
    )
    about = notebook.metadata.get(kind, {})
    missing = [key for key in wanted if key not in about]
    if missing:
        raise CourseError(path, 1, f"the header's `{kind}:` does not say {' and '.join(missing)}")
    for cell in cells:
        for reason in _complaints(cell):
            raise CourseError(path, cell.line, reason)
    return about, cells


def _markers(metadata: dict[str, Any]) -> dict[str, Any]:
    """Read bare words as markers too: jupytext takes what stands alone for a cell's title."""
    markers = dict(metadata)
    markers.pop("lines_to_next_cell", None)  # jupytext's own note on blank lines
    for word in markers.pop("title", "").split():
        markers[word] = True
    return markers


def _complaints(cell: Cell) -> Iterator[str]:
    unknown = sorted(set(cell.markers) - set(KNOWN))
    if unknown:
        yield f"unknown marker {unknown[0]!r}; known are {', '.join(KNOWN)}"
    if sum(role in cell.markers for role in ROLES) > 1:
        yield "a cell has one role: given, solution, check or manual"
    if cell.role in ("solution", "check", "manual") and not cell.name.isidentifier():
        yield f'the {cell.role} marker wants a name: {cell.role}="name"'
    kind = "markdown" if cell.role == "manual" else "code"
    if cell.role and cell.kind != kind:
        yield f"a {cell.role} cell is a {kind} cell"
    points = cell.markers.get("points")
    if cell.role in ("check", "manual"):
        if not isinstance(points, (int, float)) or points <= 0:
            yield f"a {cell.role} cell wants points=n above 0"
    elif points is not None:
        yield "only check and manual cells have points"
    yield from _complaints_of_language(cell)
    yield from _complaints_of_region(cell)


def _complaints_of_language(cell: Cell) -> Iterator[str]:
    language = cell.markers.get("lang")
    if language is not None and language not in LANGUAGES:
        yield f"unknown language {language!r}; known are {', '.join(LANGUAGES)}"
    if language is not None and cell.role:
        yield "a language cell has no role: nbgrader would put the English text back"
    if ("of" in cell.markers) != (language == "es"):
        yield 'a lang="es" cell, and no other, names its English cell: of="<hash>"'


def _complaints_of_region(cell: Cell) -> Iterator[str]:
    open_region = False
    regions = 0
    for number, line in enumerate(cell.source.splitlines(), 1):
        if BEGIN in line:
            if open_region:
                yield f"a second {BEGIN} in line {number} of the cell, before {END}"
            open_region, regions = True, regions + 1
        elif END in line:
            if not open_region:
                yield f"{END} in line {number} of the cell without {BEGIN}"
            open_region = False
    if open_region:
        yield f"{BEGIN} without {END}"
    if regions and cell.role != "solution":
        yield "only a solution cell has a solution region"
    if cell.role == "solution" and not regions:
        yield f"a solution cell wants {BEGIN} and {END} around what the learner writes"


def _complaints_of(lab: Lab) -> Iterator[tuple[int, str]]:
    for role in ("solution", "check", "manual"):
        counts = Counter(cell.name for cell in lab.of_role(role))
        for cell in lab.of_role(role):
            if counts[cell.name] > 1:
                yield cell.line, f"two {role} cells are called {cell.name!r}"
    solutions = {cell.name for cell in lab.of_role("solution")}
    for cell in lab.of_role("manual"):
        if cell.name in solutions:
            yield cell.line, f"a manual and a solution cell are called {cell.name!r}"
    for cell in lab.of_role("check"):
        if cell.name not in solutions:
            yield cell.line, f"check of {cell.name!r}, but no solution cell of that name"
    graded = lab.of_role("check") + lab.of_role("manual")
    total = sum(cell.markers["points"] for cell in graded)
    if total != lab.points:
        yield 1, f"the header says {lab.points:g} points, but the cells add up to {total:g}"
