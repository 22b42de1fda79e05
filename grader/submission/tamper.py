"""What an instructor may want to know of a hand-in. No mark depends on it, and it accuses nobody.

A hand-in is compared, as it was handed in, with what was released. Code is read, never run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from nbformat import NotebookNode

from grader.submission.code import parse, same
from grader.submission.match import Piece, is_master, match
from grader.submission.reaches import names_of_modules, reaches
from grader.submission.roles import roles

MOST = 20  # remarks on one hand-in

MODULES = sys.stdlib_module_names | {"numpy", "attnlab", "IPython", "matplotlib", "seaborn"}
MODULE_FILES = (".py", ".pyc", ".pyd", ".so")


def tampering(
    notebook: NotebookNode, released: NotebookNode, files: Iterable[str | PurePath] = ()
) -> list[str]:
    """List what an instructor may want to know of a hand-in; nothing for an ordinary one.

    Parameters
    ----------
    notebook : the hand-in as it was read, before any repair
    released : the lab as students got it
    files : the other files that were handed in
    """
    pieces = [Piece(cell, number) for number, cell in enumerate(notebook.cells, 1)]
    remarks = [*_shadows(files), *_beside(files), *_edited(pieces, released)]
    known = {cell.source.strip() for cell in released.cells}
    own = [piece for piece in pieces if piece.is_code and piece.text.strip() not in known]
    trees = [(piece.number, tree) for piece in own if (tree := parse(piece.text)) is not None]
    names = names_of_modules(tree for _, tree in trees)
    for number, tree in trees:
        try:
            remarks += [
                f"Cell {number}, line {line}: {what}" for line, what in reaches(tree, names)
            ]
        except RecursionError:
            remarks.append(f"Cell {number} is nested too deeply to be looked through.")
    remarks = list(dict.fromkeys(remarks))
    if len(remarks) > MOST:
        remarks[MOST:] = [f"There are {len(remarks) - MOST} more such places."]
    return remarks


def _shadows(files: Iterable[str | PurePath]) -> Iterator[str]:
    """Name files that Python could import in a module's place."""
    for path in sorted(map(PurePath, files)):
        if path.suffix in MODULE_FILES:
            name = path.name.partition(".")[0]
            folder = path.parent.name
            for shown, module in ((path.name, name), (f"{folder}/", folder)):
                if module in MODULES:
                    yield f"The file or folder `{shown}` has the name of the module `{module}`."


def _beside(files: Iterable[str | PurePath]) -> Iterator[str]:
    """Name notebooks that were handed in and not marked: the answers may be in one of them."""
    for path in sorted(map(PurePath, files)):
        if path.suffix.lower() == ".ipynb" and path.parent.name != ".ipynb_checkpoints":
            yield f"The notebook `{path.name}` was handed in too, and was not marked."


def _edited(pieces: list[Piece], released: NotebookNode) -> Iterator[str]:
    """Name locked cells whose text or points are no longer the released ones."""
    lab = roles(released, released)
    claims = match(pieces, lab, released).claims
    for name, role in lab.items():
        found = claims[name]
        if not role.locked or not found:
            continue
        whole = same("".join(piece.text for piece in found), role.released.source)
        if not whole and not any(is_master(piece, role) for piece in found):
            number = found[-1].number
            yield f"{role.label[:1].upper()}{role.label[1:]} was edited (cell {number})."
        points = role.released.metadata.nbgrader.get("points")
        for piece in found:
            about = piece.cell.metadata.get("nbgrader")
            said = about.get("points") if isinstance(about, dict) else None
            if points is not None and isinstance(said, (int, float)) and said != points:
                yield f"The points of {role.label} read {said:g}, not {points:g}."
