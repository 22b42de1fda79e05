"""A notebook's code as single statements: what each binds and what it needs. Nothing is run."""

from __future__ import annotations

import ast
import re
import symtable
from collections.abc import Iterator
from itertools import pairwise

# Lines of IPython: `%time f()`, `!ls`, `np.dot?`, `files = !ls`.
_MAGIC = re.compile(r"^([ \t]*)([%!?]|[\w.]+\?|\w+ *= *[%!]).*$", re.MULTILINE)
_COMPREHENSIONS = ("listcomp", "setcomp", "dictcomp", "genexpr")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_MAY_LEAVE = (ast.AugAssign, ast.If, ast.For, ast.While, ast.Try)


class Statement:
    """One statement at the top level of a notebook; those that share a line are one.

    Parameters
    ----------
    lab : the stem of its lab
    cell : the number of its cell, counted from 1 as they stand in the notebook
    line : the line of the cell at which its text begins
    text : its code, with the comments above it

    Attributes
    ----------
    nodes : its tree, and `code` the same as text, whatever comments and layout are
    binds : the names it gives a value to
    changes : the names to whose objects it adds something: `C.method = f`, `TABLE[0] = 1`
    needs_now : the names it reads when the module is made
    needs_when_called : the names that its functions read
    """

    def __init__(self, lab: str, cell: int, line: int, text: str) -> None:
        self.lab, self.cell, self.line, self.text = lab, cell, line, text
        self.nodes = ast.parse(text).body
        self.code = "\n".join(map(ast.dump, self.nodes))
        self.is_import = all(isinstance(n, (ast.Import, ast.ImportFrom)) for n in self.nodes)
        self.is_definition = any(isinstance(n, _DEFINITIONS) for n in self.nodes)
        inside = [] if self.is_definition else [n for node in self.nodes for n in ast.walk(node)]
        places = [n for n in inside if isinstance(n, (ast.Attribute, ast.Subscript))]
        stored = [ast.unparse(place) for place in places if isinstance(place.ctx, ast.Store)]
        self.changes = {re.split(r"\W", place)[0] for place in stored}
        table = symtable.symtable(text, "cell", "exec")
        symbols = table.get_symbols()
        self.binds = {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}
        self.needs_now = {s.get_name() for s in symbols if s.is_referenced()}
        self.needs_when_called: set[str] = set()
        for scope, called in _scopes(table):
            names = {s.get_name() for s in scope.get_symbols() if s.is_global()}
            (self.needs_when_called if called else self.needs_now).update(names)
        # Python from 3.12 on counts the `i` of `[… for i in …]` among the module's names.
        own = _only_in_comprehensions(self.nodes)
        self.binds, self.needs_now = self.binds - own, self.needs_now - own
        if isinstance(self.nodes[0], _MAY_LEAVE):  # `n += 1`, `if …: n = 1` lean on an older `n`
            self.needs_now |= self.binds


def _only_in_comprehensions(nodes: list[ast.stmt]) -> set[str]:
    """List the names that comprehensions go through their items with, and nothing else binds."""
    inside = [n for node in nodes for n in ast.walk(node)]
    loops = [n.target for n in inside if isinstance(n, ast.comprehension)]
    items = [n for loop in loops for n in ast.walk(loop) if isinstance(n, ast.Name)]
    bound = [n for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return {n.id for n in items} - {n.id for n in bound if n not in items}


def _scopes(
    table: symtable.SymbolTable, called: bool = False
) -> Iterator[tuple[symtable.SymbolTable, bool]]:
    """List the scopes inside a scope, and whether each runs only when a function is called."""
    for scope in table.get_children():
        is_function = scope.get_type() == "function" and scope.get_name() not in _COMPREHENSIONS
        yield scope, called or is_function
        yield from _scopes(scope, called or is_function)


def cut(source: str, lab: str, cell: int) -> list[Statement]:
    """Cut a code cell into statements, each imported name into one of its own.

    Raises
    ------
    SyntaxError, ValueError : when it is not Python, IPython's `%magic` and `!shell` lines aside
    """
    code = source.replace("\r\n", "\n")
    try:
        ast.parse(code)
    except SyntaxError:
        code = _MAGIC.sub(r"\1pass", code)
    compile(code, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)  # finds more than parsing does
    lines = code.split("\n")
    spans: list[tuple[int, int]] = []
    for node in ast.parse(code).body:
        last = node.end_lineno or node.lineno
        first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])
        above = spans[-1][1] if spans else 0
        if first == above:  # `a = 1; b = 2`
            first, _ = spans.pop()
        while first - 1 > above and lines[first - 2].startswith("#"):
            first -= 1
        spans.append((first, last))
    found = []
    for (first, last), (below, _) in pairwise([*spans, (len(lines) + 1, 0)]):
        at_its_end = [n for n in range(last + 1, below) if re.match(r"\s+#", lines[n - 1])]
        text = "\n".join(lines[first - 1 : max([last, *at_its_end])])
        statement = Statement(lab, cell, first, text)
        if statement.is_import:
            found += [Statement(lab, cell, first, t) for t in _single_imports(statement.nodes)]
        else:
            found.append(statement)
    return found


def _single_imports(nodes: list[ast.stmt]) -> Iterator[str]:
    for node in nodes:
        assert isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names:
            node.names = [alias]
            yield ast.unparse(node)
