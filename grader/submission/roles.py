"""The cells of a lab that have a role: what a hand-in must hold, each once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from nbformat import NotebookNode

GIVEN, ANSWER, CHECK, WRITTEN = "given", "answer", "check", "written"


@dataclass(frozen=True)
class Role:
    """A cell that nbgrader knows.

    Parameters
    ----------
    name : its grade_id
    kind : GIVEN, ANSWER, CHECK or WRITTEN
    place : where it stands in the release, counted from 0
    released : the cell as students got it
    source : the cell with the answer or the hidden part
    """

    name: str
    kind: str
    place: int
    released: NotebookNode
    source: NotebookNode

    @property
    def locked(self) -> bool:
        """Whether its text is the course's and not the student's."""
        return self.kind in (GIVEN, CHECK)

    @property
    def exercise(self) -> str:
        """The exercise it belongs to."""
        return self.name.removeprefix("check_")

    @property
    def label(self) -> str:
        """What to call it in a sentence."""
        words = {
            GIVEN: "the given cell",
            ANSWER: "the answer to",
            CHECK: "the check of",
            WRITTEN: "the written answer",
        }
        return f"{words[self.kind]} `{self.exercise}`"


def roles(released: NotebookNode, source: NotebookNode) -> dict[str, Role]:
    """List the cells with a role of a lab, by grade_id and in the order of the release."""
    masters = {grade_id(cell): cell for cell in source.cells}
    found = {}
    for place, cell in enumerate(released.cells):
        if name := grade_id(cell):
            found[name] = Role(name, _kind(cell.metadata["nbgrader"]), place, cell, masters[name])
    return found


def grade_id(cell: NotebookNode) -> str:
    """Read a cell's grade_id; empty when it has none that can be used."""
    about = cell.metadata.get("nbgrader")
    name = about.get("grade_id") if isinstance(about, Mapping) else None
    return name if isinstance(name, str) else ""


def _kind(about: Mapping[str, object]) -> str:
    if about.get("solution"):
        return WRITTEN if about.get("grade") else ANSWER
    return CHECK if about.get("grade") else GIVEN
