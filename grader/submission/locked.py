"""Repair of the cells whose text is the course's: given ones and checks."""

from __future__ import annotations

from grader.submission.code import bindings, same
from grader.submission.desk import Desk
from grader.submission.match import Piece, is_master
from grader.submission.roles import CHECK, GIVEN, WRITTEN, Role


def settle_locked(desk: Desk) -> None:
    """Find the one piece of each given cell and check, and put back those that are gone."""
    locked = [role for role in desk.lab.values() if role.locked]
    for role in locked:
        if desk.claims(role):
            desk.holders[role.name] = _settle(desk, role)
    for role in locked:
        if role.name not in desk.holders:
            piece = desk.make(role)
            desk.insert(piece, desk.place_of(role))
            desk.holders[role.name] = piece
            desk.put_back.add(role.name)
            desk.note(f"{role.label} had been deleted; it was put back.")


def order_given(desk: Desk) -> None:
    """Move given cells in front of everything that follows them in the release."""
    moved = []
    for role in reversed(desk.of_kind(GIVEN)):
        piece = desk.holders[role.name]
        later = [
            desk.at(desk.holders[other.name])
            for other in desk.lab.values()
            if other.place > role.place and other.kind != WRITTEN
        ]
        if later and min(later) < desk.at(piece):
            desk.move(piece, min(later))
            if role.name not in desk.put_back:
                moved.append(f"`{role.name}`")
    if moved:
        names = ", ".join(reversed(moved))
        desk.note(f"Given cells stood behind cells that need them and were moved up: {names}.")


def _settle(desk: Desk, role: Role) -> Piece:
    """Choose the piece that is a locked cell, and restore its text."""
    split = _drop_parts(desk, role)
    claims = desk.claims(role)
    whole = [piece for piece in claims if is_master(piece, role)] or claims
    # A check is to see what was written last; a given cell is needed early.
    keep = whole[-1] if role.kind == CHECK else whole[0]
    if len(claims) > 1:
        desk.note(
            f"{role.label} stands in {len(claims)} cells; that in cell {keep.number} is kept."
        )
    if keep.cell.cell_type != role.released.cell_type:
        desk.note(
            f"{role.label} had become a {keep.cell.cell_type} cell; "
            f"it is a {role.released.cell_type} cell again."
        )
    if split:
        desk.note(f"{role.label} had been split; it is whole again.")
    if is_master(keep, role):
        return keep
    if not split:
        desk.note(f"The text of {role.label} had been changed; it is as released again.")
    if set(bindings(keep.text)) <= set(bindings(role.released.source)):
        return keep
    # The student wrote something of their own into it, perhaps an answer: that is kept.
    fresh = desk.make(role)
    desk.insert(fresh, desk.at(keep) + 1)
    return fresh


def _drop_parts(desk: Desk, role: Role) -> bool:
    """Leave out all but the last of the parts that a split made of a locked cell."""
    master = _joined(role.released.source)
    claims = desk.claims(role)
    parts = [p for p in claims if not is_master(p, role) and _joined(p.text) in master]
    if len(claims) == 1 and parts:
        return _drop_rest(desk, role, claims[0])
    dropped = parts[:-1] if len(parts) == len(claims) else parts
    desk.drop(dropped)
    return bool(dropped)


def _drop_rest(desk: Desk, role: Role, part: Piece) -> bool:
    """Leave out the rest of a locked cell that a split left in a cell without a role."""
    for after in desk.pieces[desk.at(part) + 1 :][:1]:
        claimed = any(after in claims for claims in desk.matches.claims.values())
        if not claimed and same(f"{part.text.strip()}\n{after.text}", role.released.source):
            desk.drop([after])
            return True
    return False


def _joined(text: str) -> str:
    return "".join(text.split())
