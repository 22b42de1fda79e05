"""Put a hand-in right for marking: every cell with a role once, in its place, as the course has it.

What counts is what a run from top to bottom binds when it reaches a check; cells are moved only
where the check would otherwise see nothing, or the unchanged stub.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy

from nbformat import NotebookNode
from nbgrader.utils import compute_checksum

from grader.submission.answers import settle_answers
from grader.submission.desk import Desk
from grader.submission.locked import order_given, settle_locked
from grader.submission.match import Piece
from grader.submission.roles import Role, roles
from grader.submission.written import settle_written


def repair(
    notebook: NotebookNode, released: NotebookNode, source: NotebookNode
) -> tuple[NotebookNode, list[str]]:
    """Make of a hand-in a notebook that can be marked; the hand-in itself is left as it is.

    Parameters
    ----------
    notebook : the hand-in, as `grader.submission.read` gives it
    released : the lab as students got it
    source : the lab with answers and hidden parts

    Returns
    -------
    the notebook, and a sentence for each thing that was put right
    """
    lab = roles(released, source)
    desk = Desk(notebook, lab, released)
    settle_locked(desk)
    settle_written(desk)
    settle_answers(desk)
    order_given(desk)
    cells = list(_cells(desk.pieces, {piece: lab[name] for name, piece in desk.holders.items()}))
    return (
        NotebookNode(
            cells=cells, metadata=deepcopy(released.metadata), nbformat=4, nbformat_minor=5
        ),
        desk.notes(),
    )


def _cells(pieces: list[Piece], role_of: Mapping[Piece, Role]) -> Iterator[NotebookNode]:
    """Write the cells down, each with an id of its own."""
    seen = {role.released.id for role in role_of.values()}
    for piece in pieces:
        if piece in role_of:
            yield _with_role(piece, role_of[piece])
            continue
        cell = deepcopy(piece.cell)
        cell.metadata.pop("nbgrader", None)
        stem, number = cell.id[:50], 2
        while cell.id in seen:
            cell.id = f"{stem}-{number}"
            number += 1
        seen.add(cell.id)
        yield _emptied(cell)


def _with_role(piece: Piece, role: Role) -> NotebookNode:
    """Make a cell with a role: its text, and the metadata that nbgrader's gradebook has of it."""
    cell = NotebookNode(
        id=role.released.id,
        cell_type=role.released.cell_type,
        metadata=deepcopy(role.released.metadata),
        source=role.source.source if role.locked else piece.text,
    )
    if "attachments" in piece.cell and cell.cell_type != "code":
        cell.attachments = deepcopy(piece.cell.attachments)
    # nbgrader takes the checksum of a locked cell with its hidden part, of others as released.
    master = role.source if role.locked else role.released
    cell.metadata.nbgrader["checksum"] = compute_checksum(
        NotebookNode(
            cell_type=cell.cell_type, source=master.source, metadata=role.released.metadata
        )
    )
    return _emptied(cell)


def _emptied(cell: NotebookNode) -> NotebookNode:
    """Take the outputs off; they are made anew."""
    if cell.cell_type == "code":
        cell.outputs, cell.execution_count = [], None
        cell.pop("attachments", None)
    else:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)
    return cell
