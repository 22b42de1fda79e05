"""Tell the cells that only play with an answer from those that an answer may lean on."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from nbformat import NotebookNode


def unmarked_code(notebook: NotebookNode) -> Iterator[NotebookNode]:
    """List the code cells that are neither given, nor an answer, nor graded."""
    for cell in notebook.cells:
        if cell.cell_type == "code" and not cell.metadata.get("nbgrader"):
            yield cell


def play_cells(notebook: NotebookNode, released: NotebookNode) -> Iterator[NotebookNode]:
    """List the cells of a hand-in that stand as released and need an answer to run.

    Such a cell names an answer, or something that another such cell would have made. Cells that
    only set something up are not among them, nor those that the learner added or changed.
    """
    as_released = {cell.source.strip() for cell in unmarked_code(released)}
    missing = {
        cell.metadata.nbgrader.grade_id
        for cell in released.cells
        if cell.metadata.get("nbgrader", {}).get("solution")
    }
    for cell in unmarked_code(notebook):
        if cell.source.strip() in as_released:
            read, written = names_in(cell.source)
            if read & missing:
                missing |= written
                yield cell
            else:
                missing -= written


def names_in(code: str) -> tuple[set[str], set[str]]:
    """List the names that code reads and those it binds; none when it cannot be parsed."""
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except SyntaxError:
        return set(), set()
    names = [node for node in nodes if isinstance(node, ast.Name)]
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    return read, {node.id for node in names if isinstance(node.ctx, ast.Store)}
