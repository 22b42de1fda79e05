"""Find the notebooks of the labs and read the code in them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from attnlab.export.cells import NotPython, read_cell
from attnlab.export.statements import Statement

MOST = 4  # notebooks that are named when there are too many
_ASK = "copy it there, or name the folder that holds the labs"


class NoLab(Exception):
    """Why a lab's notebook cannot be used, with what to do."""


@dataclass(frozen=True)
class Broken:
    """A cell that is not Python: its number, why, its text and what nbgrader calls it."""

    cell: int
    reason: str
    text: str
    grade_id: str

    def is_about(self, name: str) -> bool:
        """Say whether it was meant to define a name."""
        definition = rf"^\s*(async\s+def|def|class)\s+{name}\b|^{name}\s*="
        return self.grade_id == name or bool(re.search(definition, self.text, re.MULTILINE))


@dataclass(frozen=True)
class Lab:
    """A lab's code.

    Parameters
    ----------
    stem : its name, such as "lab00_qkv"
    name : its notebook, as seen from the folder that was searched
    statements : all of its code, in the order of the notebook
    broken : the cells that are not Python
    """

    stem: str
    name: str
    statements: tuple[Statement, ...]
    broken: tuple[Broken, ...]


def find(folder: Path, stem: str) -> Path:
    """Find a lab's notebook in a folder, its lab folder, or the same one level further down.

    Raises
    ------
    NoLab : when there is none, or more than one
    """
    wanted = f"{stem}.ipynb"
    places = [f"{way}{wanted}" for way in ("", f"{stem}/", "*/", f"*/{stem}/")]
    found = sorted({path for place in places for path in _files(folder, place)})
    if len(found) == 1:
        return found[0]
    if found:
        names = [path.relative_to(folder).as_posix() for path in found]
        more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
        folders = {path.relative_to(folder).parts[0] for path in found} - {stem, wanted}
        example = f", as in `attnlab export {folder / max(folders)}`" if folders else ""
        raise NoLab(
            f"{stem}: {len(found)} notebooks are there ({', '.join(names[:MOST])}{more}). Name the "
            f"folder that holds yours{example}, or move the others away."
        )
    near = sorted({p for way in ("", "*/") for p in _files(folder, f"{way}*{stem}*.ipynb")})
    hint = f" There is {near[0].name!r}: is it that one? Then rename it." if near else ""
    raise NoLab(f"{stem}: {wanted} is not there; {_ASK}.{hint}")


def _files(folder: Path, pattern: str) -> Iterator[Path]:
    for path in folder.glob(pattern):
        hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if path.is_file() and not hidden:
            yield path


def read(path: Path, folder: Path, stem: str) -> Lab:
    """Read a lab's notebook.

    Raises
    ------
    NoLab : when the file is no notebook
    """
    name = path.relative_to(folder).as_posix()
    statements: list[Statement] = []
    broken: list[Broken] = []
    for number, cell in enumerate(_cells(path, name), 1):
        if cell.cell_type != "code":
            continue
        about = cell.metadata.get("nbgrader", {})
        given = bool(about.get("locked")) and not about.get("grade") and not about.get("solution")
        try:
            statements += read_cell(cell.source, stem, number, given, len(statements))
        except NotPython as reason:
            broken.append(Broken(number, str(reason), cell.source, about.get("grade_id", "")))
    return Lab(stem, name, tuple(statements), tuple(broken))


def _cells(path: Path, name: str) -> list[Any]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of cells without ids, in notebooks of other programs
            notebook = nbformat.reads(path.read_text(encoding="utf-8-sig"), as_version=4)
        cells = [*notebook.cells]
        for cell in cells:
            if not isinstance(cell.source, str):
                raise TypeError("a cell's source is no text")
    except Exception as error:  # nbformat passes on whatever it trips over
        raise NoLab(
            f"{name}: this is no notebook that can be read ({type(error).__name__}). Open it in "
            "Jupyter and save it, or take the last good copy."
        ) from error
    return cells
