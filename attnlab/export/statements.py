"""A notebook's code as single statements: what each binds, reads and changes. Nothing is run."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from attnlab.export.scopes import Use, uses

_COMPOUND = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.Try, ast.TryStar, ast.Match, ast.Expr)
# Methods that change the object they belong to, of lists, dictionaries, sets and arrays.
_CHANGES = frozenset(
    [
        "add",
        "append",
        "clear",
        "discard",
        "extend",
        "fill",
        "insert",
        "pop",
        "put",
        "remove",
        "reverse",
        "setdefault",
        "setflags",
        "sort",
        "update",
    ]
)


@dataclass(frozen=True)
class Import:
    """One imported name: `import module as bound`, or `from module import name as bound`."""

    module: str
    name: str
    bound: str


@dataclass(frozen=True, eq=False)
class Statement:
    """One statement at the top level of a notebook.

    Parameters
    ----------
    lab : the stem of its lab
    cell : the number of its cell, counted from 1 as they stand in the notebook
    order : its place among the statements of the notebook
    given : whether it stands in a cell that the course gave
    lines : its text, comments above it included, markers of the course left out
    numbers : the line of its cell that each of these lines is
    imported : what it imports, when it is an import; each name is a statement of its own then
    """

    lab: str
    cell: int
    order: int
    given: bool
    lines: tuple[str, ...]
    numbers: tuple[int, ...]
    imported: Import | None = None

    @cached_property
    def text(self) -> str:
        """Its code."""
        return "\n".join(self.lines)

    @cached_property
    def node(self) -> ast.stmt:
        """Its tree; positions count from its own first line."""
        return parse(self.text).body[0]

    @cached_property
    def uses(self) -> list[Use]:
        """Every use of a module name in it."""
        return uses(self.node)

    @cached_property
    def binds(self) -> frozenset[str]:
        """The names it gives a value to when the module is made."""
        if self.imported:
            return frozenset([self.imported.bound])
        return frozenset(use.name for use in self.uses if use.how == "bind" and not use.later)

    @cached_property
    def deletes(self) -> frozenset[str]:
        """The names it takes away."""
        return frozenset(use.name for use in self.uses if use.how == "delete" and not use.later)

    @cached_property
    def made_by_running(self) -> frozenset[str]:
        """The names that its functions bind in the module when they run."""
        return frozenset(use.name for use in self.uses if use.how == "bind" and use.later)

    @cached_property
    def reads_now(self) -> frozenset[str]:
        """The names it needs when the module is made."""
        return self._reads(later=False)

    @cached_property
    def reads_later(self) -> frozenset[str]:
        """The names its functions need when they are called."""
        return self._reads(later=True)

    def _reads(self, later: bool) -> frozenset[str]:
        if self.imported:
            return frozenset()
        return frozenset(u.name for u in self.uses if u.how == "read" and u.later == later)

    @property
    def keeps_older(self) -> bool:
        """Whether the names it binds may hold what they held before: `if …: f = g`, `n += 1`."""
        if self.imported:
            package = self.imported.module.partition(".")[0]
            return not self.imported.name and self.imported.bound == package  # also `import a.b`
        return isinstance(self.node, (*_COMPOUND, ast.AugAssign))

    @property
    def calls_now(self) -> bool:
        """Whether anything is called when the module is made."""
        if self.imported:
            return False
        found = [*_run_now(self.node)]
        return any(isinstance(n, ast.Call) or getattr(n, "decorator_list", None) for n in found)

    @cached_property
    def changes(self) -> frozenset[str]:
        """The names whose objects it changes: `C.method = f`, `TABLE[0] = 1`, `names.append(x)`."""
        return frozenset() if self.imported else frozenset(_changed(_run_now(self.node)))

    @cached_property
    def changes_ever(self) -> frozenset[str]:
        """The names that it changes or binds anew, its functions included."""
        if self.imported:
            return frozenset()
        return self.made_by_running | {*_changed(ast.walk(self.node))}

    def same_code(self, other: Statement) -> bool:
        """Say whether two statements are the same but for comments and layout."""
        if self.imported or other.imported:
            return self.imported == other.imported
        return ast.dump(self.node) == ast.dump(other.node)


def parse(code: str) -> ast.Module:
    """Parse code, without Python's warnings on what it finds odd."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(code)


def _run_now(node: ast.AST) -> Iterator[ast.AST]:
    """Go through the nodes that run when the module is made: not into functions' bodies."""
    yield node
    match node:
        case ast.Lambda():
            return
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            children: list[ast.AST] = [*node.decorator_list, node.args]
        case _:
            children = [*ast.iter_child_nodes(node)]
    for child in children:
        yield from _run_now(child)


def _changed(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Attribute(ctx=ast.Store() | ast.Del()):
                yield _root(node)
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                yield _root(node)
            case ast.Call(func=ast.Name(id="setattr"), args=[target, *_]):
                yield _root(target)
            case ast.Expr(value=ast.Call(func=ast.Attribute(value=target, attr=method))):
                if method in _CHANGES:
                    yield _root(target)


def _root(node: ast.AST) -> str:
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        node = node.value
    return str(node.id) if isinstance(node, ast.Name) else ""
