"""What Python code binds at its top level, read from its text; none of it is run."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache

from IPython.core.inputtransformer2 import TransformerManager

LONGEST = 50_000  # characters of a cell that are still parsed; nobody writes more by hand

_DEFINITION = re.compile(r"^(?:async\s+)?(?:def|class)\s+(\w+)|^(\w+)\s*=\s*lambda\b", re.MULTILINE)


@lru_cache(maxsize=64)  # trees are large
def parse(code: str, magics: bool = True) -> ast.Module | None:
    """Parse a cell's code; None when it is not Python.

    Parameters
    ----------
    magics : whether to read it as IPython does, with `%timeit`, `!pip` and a stray indent
    """
    if len(code) > LONGEST:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of "\d" in strings while it parses
        try:
            return ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            if not magics:
                return None
        try:
            return ast.parse(TransformerManager().transform_cell(code))
        except Exception:  # IPython's reader of half-written code raises what it likes
            return None


@lru_cache(maxsize=256)
def stands_alone(code: str) -> bool:
    """Say whether IPython could run a cell's code; no `return` outside of a function, say."""
    tree = parse(code)
    if tree is None:
        return False
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(tree, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
    return True


@lru_cache(maxsize=2048)
def bindings(code: str) -> dict[str, bool]:
    """List the names that code binds at its top level, and whether to something to be called.

    The last binding of a name counts. Code that cannot be parsed is searched for definitions.
    """
    tree = parse(code)
    if tree is None:
        return {a or b: True for a, b in _DEFINITION.findall(code)}
    found: dict[str, bool] = {}
    with suppress(RecursionError):  # thousands of `elif`: nobody writes these by hand
        for statement in statements(tree.body):
            found |= bound(statement)
    return found


def defines(code: str, name: str) -> bool:
    """Say whether code leaves a function or a class under a name."""
    return bindings(code).get(name, False)


def spoils(code: str, name: str) -> bool:
    """Say whether code leaves under a name what cannot be called, as in `f = f(x)`."""
    return not bindings(code).get(name, True)


def same(a: str, b: str) -> bool:
    """Say whether two texts are the same but for blanks at line ends and around."""
    return _tidy(a) == _tidy(b)


def same_code(a: str, b: str) -> bool:
    """Say whether two pieces of code do the same by their text: comments and docstrings aside."""
    if same(a, b):
        return True
    left, right = _skeleton(a), _skeleton(b)
    return left != "" and left == right


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Go through the statements that run in a namespace, those inside `if` or `try` too."""
    for statement in body:
        yield statement
        if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            for child in ast.iter_child_nodes(statement):
                if isinstance(child, ast.stmt):
                    yield from statements([child])
                elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
                    yield from statements(child.body)


def bound(statement: ast.stmt) -> Iterator[tuple[str, bool]]:
    """List the names that one statement binds, and whether to something to be called."""
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield statement.name, True
        case ast.Import() | ast.ImportFrom():
            for alias in statement.names:
                yield alias.asname or alias.name.partition(".")[0], True
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _assigned(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from _assigned(target, value)
        case ast.AugAssign(target=target) | ast.For(target=target) | ast.AsyncFor(target=target):
            yield from _assigned(target, None)
        case ast.With(items=items) | ast.AsyncWith(items=items):
            for item in items:
                if item.optional_vars is not None:
                    yield from _assigned(item.optional_vars, None)
        case ast.Delete(targets=targets):
            for target in targets:
                yield from _assigned(target, None)


def _tidy(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


@lru_cache(maxsize=256)
def _skeleton(code: str) -> str:
    """Write code's tree out without docstrings; empty when it cannot be parsed."""
    if len(code) > LONGEST:
        return ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse(code)  # a tree of its own: this one is changed
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        match body:
            case [ast.Expr(value=ast.Constant(value=str())), *_]:
                del body[0]
    try:
        return ast.dump(tree)
    except RecursionError:
        return ""


def _assigned(target: ast.expr, value: ast.expr | None) -> Iterator[tuple[str, bool]]:
    match target, value:
        case ast.Name(id=name), _:
            yield name, _may_be_called(name, value)
        case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), _):
            values: list[ast.expr | None] = [None] * len(targets)
            if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(targets):
                values = [*value.elts]
            for each, its_value in zip(targets, values, strict=True):
                yield from _assigned(each, its_value)
        case ast.Starred(value=inner), _:
            yield from _assigned(inner, None)


def _may_be_called(name: str, value: ast.expr | None) -> bool:
    match value:
        case ast.Call(func=ast.Name(id=called)):
            return called != name  # `f = f(x)` puts a result in the function's place
        case ast.Lambda() | ast.Call() | ast.Name() | ast.Attribute() | ast.IfExp():
            return True
        case ast.Subscript():
            return True
    return False
