"""Repair of the cells in which students write code: which counts, and that its check sees it."""

from __future__ import annotations

from grader.submission.code import defines, parse, spoils, stands_alone
from grader.submission.desk import Desk
from grader.submission.match import Piece, is_stub
from grader.submission.roles import ANSWER, Role

MOST_PARTS = 12  # of a split answer


def settle_answers(desk: Desk) -> None:
    """Find the one piece of each answer, and see that each check stands behind what it checks."""
    answers = desk.of_kind(ANSWER)
    _cut_prose(desk)
    for role in answers:
        _join_split(desk, role)
    for role in answers:
        _free_copies(desk, role)
    for role in answers:
        _settle(desk, role)


def _cut_prose(desk: Desk) -> None:
    """Take the lab's prose out of code that it was merged with, where that makes it Python."""
    prose = [c.source.strip() for c in desk.released.cells if c.cell_type == "markdown"]
    for piece in desk.pieces:
        if piece.is_code and parse(piece.text) is None:
            text = piece.text
            for words in prose:
                text = text.replace(words, "")
            if text != piece.text and parse(text) is not None:
                piece.cell.source = text.strip()
                desk.note(f"Cell {piece.number} was code merged with the lab's prose; it is code.")


def _join_split(desk: Desk, role: Role) -> None:
    """Join the parts of an answer that was split where only the whole is Python."""
    for piece in desk.claims(role):
        if piece not in desk.pieces:  # it was joined to one before it
            continue
        at = desk.at(piece)
        end = at + 1
        most = min(len(desk.pieces), at + MOST_PARTS)
        while end < most and _may_be_part(desk, role, desk.pieces[end]):
            end += 1
        while end > at + 1:
            parts = desk.pieces[at:end]
            whole = "\n".join(part.text for part in parts)
            broken = any(parse(part.text, magics=False) is None for part in parts)
            if broken and parse(whole, magics=False) is not None:
                piece.cell.source = whole
                desk.drop(parts[1:])
                desk.note(f"{role.label} had been split; its {len(parts)} parts are one again.")
                break
            end -= 1


def _may_be_part(desk: Desk, role: Role, piece: Piece) -> bool:
    if piece in desk.matches.claims[role.name]:
        return True
    claimed = any(piece in claims for claims in desk.matches.claims.values())
    return piece.is_code and not claimed and not stands_alone(piece.text)


def _free_copies(desk: Desk, role: Role) -> None:
    """Let go of copies that do not define the name, where another one does.

    They may be another exercise's answer, written into a copy of this cell.
    """
    claims = desk.matches.claims[role.name]
    if any(_answers(piece, role) for piece in claims):
        for piece in [p for p in claims if not _answers(p, role) and not is_stub(p, role)]:
            claims.remove(piece)
            desk.note(
                f"Cell {piece.number} is a copy of {role.label} that does not define it; it is "
                "taken for an ordinary cell."
            )


def _settle(desk: Desk, role: Role) -> None:
    check = desk.holders[f"check_{role.name}"]
    claims = desk.claims(role)
    own = [piece for piece in claims if _answers(piece, role)]
    others = [piece for piece in _candidates(desk, role) if piece not in own]
    counting = _last_before(desk, own + others if _any_before(desk, own, check) else own, check)
    counting = counting or _last_before(desk, others, check)
    holder = _holder(desk, role, claims, own, counting)
    if counting is None:
        counting = holder
    else:
        _drop_stubs(desk, role, counting)
    desk.holders[role.name] = holder
    _see_to_check(desk, role, counting, check)


def _answers(piece: Piece, role: Role) -> bool:
    return defines(piece.text, role.name) and not is_stub(piece, role)


def _candidates(desk: Desk, role: Role) -> list[Piece]:
    """List the pieces, other than released ones, that define an exercise's name."""
    locked = {desk.holders[other.name] for other in desk.lab.values() if other.locked}
    play = {cell.source.strip() for cell in desk.released.cells}
    free = [
        piece
        for piece in desk.pieces
        if piece not in locked and piece.text.strip() not in play and _answers(piece, role)
    ]
    # Text cells count only where there is no code: an answer may have been turned into text.
    return [p for p in free if p.is_code] or [p for p in free if parse(p.text) is not None]


def _any_before(desk: Desk, pieces: list[Piece], check: Piece) -> bool:
    return any(desk.at(piece) < desk.at(check) for piece in pieces)


def _last_before(desk: Desk, pieces: list[Piece], check: Piece) -> Piece | None:
    """Take the last piece above the check; when there is none, the last of all."""
    above = [piece for piece in pieces if desk.at(piece) < desk.at(check)]
    return max(above or pieces, key=desk.at, default=None)


def _holder(
    desk: Desk, role: Role, claims: list[Piece], own: list[Piece], counting: Piece | None
) -> Piece:
    """Choose the piece that is marked as the answer's cell."""
    if counting is None:
        return _without_answer(desk, role, claims)
    if own:
        check = desk.holders[f"check_{role.name}"]
        holder = counting if counting in own else _last_before(desk, own, check)
        assert holder is not None
        if len(own) > 1:
            desk.note(f"{role.label} stands in {len(own)} cells; cell {counting.number} counts.")
        _retyped(desk, role, holder)
        return holder
    if not _of_other(desk, role, counting):
        if claims:
            desk.note(f"{role.label} was found in cell {counting.number}; that is its cell now.")
        elif role.name not in desk.matches.refound:
            desk.matches.refound.append(role.name)
        _retyped(desk, role, counting)
        return counting
    edited = [piece for piece in claims if not is_stub(piece, role)]
    if edited:
        _retyped(desk, role, edited[-1])
        return edited[-1]
    return _placeholder(desk, role, claims, counting)


def _without_answer(desk: Desk, role: Role, claims: list[Piece]) -> Piece:
    """Choose a piece where nothing defines the name: an attempt, the stub, or a new stub."""
    attempts = [piece for piece in claims if not is_stub(piece, role)]
    written = [piece for piece in attempts if piece.text.strip()]
    if claims:
        holder = (written or attempts or claims)[-1]
        if len(claims) > 1:
            desk.note(
                f"{role.label} has {len(claims)} cells; cell {holder.number} is taken for it."
            )
        _retyped(desk, role, holder)
        return holder
    check = desk.holders[f"check_{role.name}"]
    holder = desk.make(role)
    desk.insert(holder, min(desk.place_of(role), desk.at(check)))
    desk.put_back.add(role.name)
    desk.note(f"The cell of {role.label} had been deleted; the stub was put back.")
    return holder


def _placeholder(desk: Desk, role: Role, stubs: list[Piece], counting: Piece) -> Piece:
    """Put in a cell that says where the answer stands: in that of another exercise."""
    check = desk.holders[f"check_{role.name}"]
    other = _of_other(desk, role, counting)
    holder = desk.make(role, f"# Written in the cell of `{other}`.")
    at = [desk.at(stub) for stub in stubs if desk.at(stub) < desk.at(check)]
    desk.insert(holder, at[-1] if at else desk.at(check))
    desk.note(f"{role.label} stands in the cell of `{other}`; a cell that says so was put in.")
    return holder


def _of_other(desk: Desk, role: Role, piece: Piece) -> str:
    """Name the exercise whose answer's cell a piece is; empty when it is none's."""
    for other in desk.of_kind(ANSWER):
        known = [*desk.matches.claims[other.name], desk.holders.get(other.name)]
        if other is not role and piece in known:
            return other.name
    return ""


def _drop_stubs(desk: Desk, role: Role, counting: Piece) -> None:
    """Leave out unchanged stubs that are copies, or that would undo the answer."""
    claims = desk.matches.claims[role.name]
    stubs = [
        piece
        for piece in desk.pieces
        if piece is not counting
        and is_stub(piece, role)
        and (piece in claims or desk.at(piece) > desk.at(counting))
    ]
    desk.drop(stubs)
    if stubs:
        desk.note(f"The unchanged stub of `{role.name}` was left out beside the answer.")


def _see_to_check(desk: Desk, role: Role, counting: Piece, check: Piece) -> None:
    """Move a check behind its answer, or in front of what takes the answer's name away."""
    behind = max(counting, desk.holders[role.name], key=desk.at)
    name = f"check_{role.name}"
    reason = ""
    if desk.at(check) < desk.at(behind):
        reason = "stood above the answer; it was moved behind it."
    else:
        between = desk.pieces[desk.at(behind) + 1 : desk.at(check)]
        if any(piece.is_code and spoils(piece.text, role.name) for piece in between):
            reason = "stood behind a cell that gives the name another value; it was moved up."
    if reason:
        desk.move(check, desk.at(behind) + 1)
        if name not in desk.put_back:
            desk.note(f"The check of `{role.name}` {reason}")


def _retyped(desk: Desk, role: Role, piece: Piece) -> None:
    if not piece.is_code:
        desk.note(f"{role.label} had become a {piece.cell.cell_type} cell; it is code again.")
        piece.cell.cell_type = "code"
