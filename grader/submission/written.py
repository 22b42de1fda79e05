"""Repair of the cells in which students answer in words."""

from __future__ import annotations

from itertools import takewhile

from grader.submission.code import parse
from grader.submission.desk import Desk
from grader.submission.match import Piece, is_stub
from grader.submission.roles import WRITTEN, Role


def settle_written(desk: Desk) -> None:
    """Find the one piece of each written answer, and put back those that are gone."""
    for role in desk.of_kind(WRITTEN):
        claims = _joined(desk, role)
        piece = claims[-1] if claims else None
        told = [claim for claim in claims if not _unwritten(claim, role)]
        if told:
            piece = told[-1]
            copies = [claim for claim in claims if claim is not piece]
            desk.drop(copy for copy in copies if _unwritten(copy, role))
            if copies:
                desk.note(
                    f"{role.label} stands in several cells; that in cell {piece.number} is it."
                )
        elif found := _beside(desk, role, piece):
            desk.drop(claims)
            if claims:
                desk.note(f"{role.label} was found in a cell beside its own, cell {found.number}.")
            else:
                desk.matches.refound.append(role.name)
            piece = found
        elif piece is not None and (words := _under_question(desk, role)):
            piece.cell.source = words
            desk.note(f"{role.label} was found in the cell of its question; it is in its own now.")
        elif len(claims) > 1:
            desk.note(f"{role.label} stands in several cells, all unwritten.")
        if piece is None:
            piece = desk.make(role)
            desk.insert(piece, desk.place_of(role))
            desk.note(f"The cell of {role.label} had been deleted; an empty one was put back.")
        elif piece.cell.cell_type != role.released.cell_type and piece in claims:
            desk.note(
                f"{role.label} had become a {piece.cell.cell_type} cell; "
                f"it is a {role.released.cell_type} cell again."
            )
        desk.holders[role.name] = piece


def _joined(desk: Desk, role: Role) -> list[Piece]:
    """Join the parts of a written answer that was split: neighbours that say different things."""
    claims = desk.claims(role)
    kept = claims[:1]
    for piece in claims[1:]:
        last = kept[-1]
        written = not _unwritten(piece, role) and not _unwritten(last, role)
        if written and desk.at(piece) == desk.at(last) + 1 and piece.text not in last.text:
            last.cell.source = f"{last.text.rstrip()}\n\n{piece.text.lstrip()}"
            desk.drop([piece])
            desk.note(f"{role.label} had been split; its parts are one cell again.")
        else:
            kept.append(piece)
    return kept


def _beside(desk: Desk, role: Role, stub: Piece | None) -> Piece | None:
    """Find words of the student's own where a written answer belongs."""
    at = desk.place_of(role) if stub is None else desk.at(stub)
    below = desk.pieces[at if stub is None else at + 1 :]
    above = desk.pieces[:at][::-1]
    for side in (below, above):
        added = takewhile(lambda piece: _added(desk, piece), side)
        if found := next((piece for piece in added if _in_words(piece)), None):
            return found
    return None


def _under_question(desk: Desk, role: Role) -> str:
    """Take what was written below the question, in the question's own cell."""
    piece = desk.matches.plain.get(role.place - 1)
    question = desk.released.cells[role.place - 1].source
    if piece is None or not piece.text.startswith(question):
        return ""
    return piece.text.removeprefix(question).strip()


def _added(desk: Desk, piece: Piece) -> bool:
    known = [*desk.matches.plain.values(), *desk.holders.values()]
    return piece not in known and all(piece not in c for c in desk.matches.claims.values())


def _in_words(piece: Piece) -> bool:
    return bool(piece.text.strip()) and (not piece.is_code or parse(piece.text) is None)


def _unwritten(piece: Piece, role: Role) -> bool:
    return not piece.text.strip() or is_stub(piece, role)
