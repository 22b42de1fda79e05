"""Give a module's name another one in a statement's text, and prove that nothing else moved."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable

from attnlab.export.scopes import uses
from attnlab.export.statements import parse


class CannotRename(Exception):
    """That a name cannot be replaced safely."""


def renamed(text: str, tree: ast.stmt, nodes: Iterable[ast.AST], old: str, new: str) -> str:
    """Return a statement's text with a name replaced in some of its places.

    Parameters
    ----------
    text, tree : the statement, its tree's positions counted in the text
    nodes : the places of `old` in the tree
    new : a name that stands nowhere in the text

    Raises
    ------
    CannotRename : when a place is not to be found in the text, as in some f-strings
    """
    nodes = [*nodes]
    places = {place for node in nodes for place in _places(text, node, old)}
    lines = [line.encode() for line in text.split("\n")]
    for line, column in sorted(places, reverse=True):
        row = lines[line - 1]
        if row[column : column + len(old.encode())] != old.encode():
            raise CannotRename(old)
        lines[line - 1] = row[:column] + new.encode() + row[column + len(old.encode()) :]
    result = b"\n".join(lines).decode()
    if _means(parse(result).body[0], new, old) != _means(tree, new, old):
        raise CannotRename(old)
    return result


def _means(tree: ast.stmt, new: str, old: str) -> tuple[str, list[tuple[str, str, bool]]]:
    """Say what a statement is, and what it does with names of the module, the new one as the old.

    The second part tells when a `global` or a local name has come between.
    """
    same = {new: old}
    names = [(same.get(use.name, use.name), use.how, use.later) for use in uses(tree)]
    return ast.dump(tree).replace(repr(new), repr(old)), names


def _places(text: str, node: ast.AST, name: str) -> list[tuple[int, int]]:
    """Find the line and the column, in bytes, at which a node has its name."""
    match node:
        case ast.Name():
            return [(node.lineno, node.col_offset)]
        case ast.AugAssign(target=target):
            return [(target.lineno, target.col_offset)]
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            for token in tokenize.generate_tokens(io.StringIO(text).readline):
                if token.start >= (node.lineno, node.col_offset) and token.string == name:
                    line = text.split("\n")[token.start[0] - 1]
                    return [(token.start[0], len(line[: token.start[1]].encode()))]
    raise CannotRename(name)
