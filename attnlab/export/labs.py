"""Find the notebooks of the labs and read the code in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from attnlab.export.statements import Statement, cut


class NoLab(Exception):
    """Why a lab's notebook cannot be used, with what to do."""


@dataclass(frozen=True)
class Lab:
    """A lab's code.

    Parameters
    ----------
    stem : its name, such as "lab00_qkv"
    name : its notebook, as seen from the folder that was searched
    statements : all of its code, in the order of the notebook
    broken : the cells that are not Python, by their numbers, and why
    """

    stem: str
    name: str
    statements: list[Statement] = field(default_factory=list)
    broken: dict[int, str] = field(default_factory=dict)


def find(folder: Path, stem: str) -> Path:
    """Find a lab's notebook in a folder, its lab folder, or the same one level further down.

    Raises
    ------
    NoLab : when there is none, or more than one
    """
    wanted = f"{stem}.ipynb"
    found = _files(folder, wanted, f"{stem}/{wanted}", f"*/{wanted}", f"*/{stem}/{wanted}")
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(path.relative_to(folder).as_posix() for path in found)
        folders = {path.relative_to(folder).parts[0] for path in found} - {stem, wanted}
        example = f", as in `attnlab export {folder / max(folders)}`" if folders else ""
        said = f"{len(found)} notebooks are there ({names}). Name the folder that holds yours"
        raise NoLab(f"{stem}: {said}{example}, or move the others away.")
    to_do = "copy it there, or name the folder that holds the labs"
    near = _files(folder, f"*{stem}*.ipynb", f"*/*{stem}*.ipynb")
    hint = f" There is {near[0].name!r}: is it that one? Then rename it." if near else ""
    raise NoLab(f"{stem}: {wanted} is not there; {to_do}.{hint}")


def _files(folder: Path, *patterns: str) -> list[Path]:
    """List the files of some patterns, without hidden folders such as .ipynb_checkpoints."""
    found = {path for pattern in patterns for path in folder.glob(pattern) if path.is_file()}
    return sorted(p for p in found if not any(x[0] == "." for x in p.relative_to(folder).parts))


def read(folder: Path, stem: str) -> Lab:
    """Find and read a lab's notebook.

    Raises
    ------
    NoLab : when there is none, or more than one, or the file is no notebook
    """
    path = find(folder, stem)
    lab = Lab(stem, path.relative_to(folder).as_posix())
    try:
        notebook = nbformat.reads(path.read_text(encoding="utf-8-sig"), as_version=4)
        cells = [cell.source + "" if cell.cell_type == "code" else "" for cell in notebook.cells]
    except Exception as error:  # nbformat passes on whatever it trips over
        raise NoLab(
            f"{lab.name}: this is no notebook that can be read ({type(error).__name__}). Open it "
            "in Jupyter and save it, or take the last good copy."
        ) from error
    for number, source in enumerate(cells, 1):
        try:
            lab.statements.extend(cut(source, stem, number))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line, why = getattr(error, "lineno", None) or 1, getattr(error, "msg", error)
            lab.broken[number] = f"line {line}: {why}"
    return lab
