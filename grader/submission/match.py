"""Find which cells of a hand-in are which of the lab: by role, by id, then by content and place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from nbformat import NotebookNode

from grader.submission.code import LONGEST, bindings, same, same_code
from grader.submission.roles import ANSWER, CHECK, Role, grade_id

ALIKE = 0.7  # of a given cell's text: less may be a cell of the student's own


@dataclass(eq=False)
class Piece:
    """A cell of a hand-in.

    Parameters
    ----------
    cell : the cell
    number : where it stood in the hand-in, counted from 1; 0 when it was put in
    """

    cell: NotebookNode
    number: int = 0

    @property
    def text(self) -> str:
        """Its text."""
        return str(self.cell.source)

    @property
    def is_code(self) -> bool:
        """Whether it is run."""
        return bool(self.cell.cell_type == "code")


@dataclass
class Matches:
    """Which pieces are which cells.

    Parameters
    ----------
    claims : grade_id -> the pieces that are, or say they are, that cell, in their order
    refound : grade_ids that no piece had any more and that were found by content
    plain : place in the release -> the piece that is that cell of no role
    """

    claims: dict[str, list[Piece]] = field(default_factory=dict)
    refound: list[str] = field(default_factory=list)
    plain: dict[int, Piece] = field(default_factory=dict)


def match(pieces: Iterable[Piece], lab: Mapping[str, Role], released: NotebookNode) -> Matches:
    """Match the pieces of a hand-in with the cells of a lab."""
    found = Matches({name: [] for name in lab})
    free = []
    for piece in pieces:
        name = grade_id(piece.cell)
        if name in lab:
            found.claims[name].append(piece)
        else:
            free.append(piece)
    for piece in [piece for piece in free if piece.cell.id in lab]:
        if not found.claims[piece.cell.id]:  # else it is a copy with an id of old
            found.claims[piece.cell.id].append(piece)
            found.refound.append(piece.cell.id)
            free.remove(piece)
    for alike in (_same_text, _same_purpose):
        for name, role in lab.items():
            if not found.claims[name]:
                for piece in [piece for piece in free if alike(piece, role, lab)]:
                    found.claims[name].append(piece)
                    free.remove(piece)
                if found.claims[name]:
                    found.refound.append(name)
    _match_plain(found, free, released)
    return found


def is_stub(piece: Piece, role: Role) -> bool:
    """Say whether a piece is an answer's cell as it was released."""
    alike = same_code if role.kind == ANSWER else same
    return alike(piece.text, role.released.source)


def is_master(piece: Piece, role: Role) -> bool:
    """Say whether a piece holds the text of a locked cell, with or without its hidden part."""
    return same(piece.text, role.released.source) or same(piece.text, role.source.source)


def _same_text(piece: Piece, role: Role, lab: Mapping[str, Role]) -> bool:
    return is_master(piece, role) if role.locked else is_stub(piece, role)


def _same_purpose(piece: Piece, role: Role, lab: Mapping[str, Role]) -> bool:
    """Say whether a piece without a role was likely made from a locked cell."""
    if not piece.is_code or not role.locked or len(piece.text) > LONGEST:
        return False
    bound = bindings(piece.text)
    if any(other.kind == ANSWER and other.name in bound for other in lab.values()):
        return False
    if role.kind == CHECK:
        return bool(re.search(rf"\bcheck\(\s*[\"']{re.escape(role.exercise)}[\"']", piece.text))
    compared = SequenceMatcher(None, piece.text, role.released.source, autojunk=False)
    return compared.quick_ratio() >= ALIKE and compared.ratio() >= ALIKE


def _match_plain(found: Matches, free: list[Piece], released: NotebookNode) -> None:
    by_id = {piece.cell.id: piece for piece in reversed(free)}
    by_text = {piece.text.strip(): piece for piece in reversed(free)}
    for place, cell in enumerate(released.cells):
        if not grade_id(cell):
            piece = by_text.get(cell.source.strip()) or by_id.get(cell.id)
            if piece is not None:
                found.plain[place] = piece
