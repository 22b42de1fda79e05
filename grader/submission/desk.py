"""A hand-in laid out for repair: its pieces in order, which hold a role, and what was done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from copy import deepcopy

from nbformat import NotebookNode

from grader.submission.match import Matches, Piece, match
from grader.submission.roles import Role


class Desk:
    """The pieces of one hand-in while it is being repaired.

    Parameters
    ----------
    notebook : the hand-in; it is left as it is
    lab : the lab's cells with a role
    released : the lab as students got it
    """

    def __init__(
        self, notebook: NotebookNode, lab: Mapping[str, Role], released: NotebookNode
    ) -> None:
        self.lab, self.released = lab, released
        self.pieces = [Piece(deepcopy(cell), n) for n, cell in enumerate(notebook.cells, 1)]
        self.matches: Matches = match(self.pieces, lab, released)
        self.holders: dict[str, Piece] = {}  # grade_id -> the piece that is marked as that cell
        self.put_back: set[str] = set()
        self._order: dict[Piece, int] = {}
        self._notes: list[str] = []

    def of_kind(self, kind: str) -> list[Role]:
        """List the lab's cells of one kind, in the order of the release."""
        return [role for role in self.lab.values() if role.kind == kind]

    def claims(self, role: Role) -> list[Piece]:
        """List the pieces that say they are a cell, in their present order."""
        return sorted(self.matches.claims[role.name], key=self.at)

    def at(self, piece: Piece) -> int:
        """Where a piece stands now."""
        return self._places()[piece]

    def _places(self) -> dict[Piece, int]:
        if not self._order:
            self._order = {each: place for place, each in enumerate(self.pieces)}
        return self._order

    def note(self, sentence: str) -> None:
        """Write down what was done."""
        self._notes.append(sentence[:1].upper() + sentence[1:])

    def notes(self) -> list[str]:
        """List what was done; what was found again by content in one sentence."""
        notes = list(self._notes)
        lost = [name for name in self.lab if name in self.matches.refound]
        if lost:
            names = ", ".join(f"`{name}`" for name in lost)
            notes.insert(0, f"Cells without their metadata were known by what they hold: {names}.")
        return notes

    def make(self, role: Role, text: str | None = None) -> Piece:
        """Make a piece for a role, as released unless another text is given."""
        cell = deepcopy(role.released)
        if text is not None:
            cell.source = text
        return Piece(cell)

    def insert(self, piece: Piece, at: int) -> None:
        """Put a new piece in."""
        self.pieces.insert(at, piece)
        self._order.clear()

    def drop(self, pieces: Iterable[Piece]) -> None:
        """Leave pieces out."""
        gone = set(pieces)
        self.pieces = [piece for piece in self.pieces if piece not in gone]
        self._order.clear()
        for claims in self.matches.claims.values():
            claims[:] = [piece for piece in claims if piece not in gone]

    def move(self, piece: Piece, at: int) -> None:
        """Move a piece; `at` counts as things stand before."""
        came_from = self.at(piece)
        self.pieces.remove(piece)
        self.insert(piece, at - (came_from < at))

    def place_of(self, role: Role) -> int:
        """Say where a missing cell belongs: behind the cell before it in the release."""
        present = {self.lab[name].place: piece for name, piece in self.holders.items()}
        for name, claims in self.matches.claims.items():
            if claims:
                present.setdefault(self.lab[name].place, self.claims(self.lab[name])[-1])
        present |= self.matches.plain
        present = {place: piece for place, piece in present.items() if piece in self._places()}
        before = [place for place in present if place < role.place]
        if before:
            return self.at(present[max(before)]) + 1
        after = [place for place in present if place > role.place]
        return self.at(present[min(after)]) if after else len(self.pieces)
