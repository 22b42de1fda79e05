"""Tell code that may have spoilt other exercises, so that those are tried once more without it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

# Modules that answers import and that change nothing outside them.
HARMLESS = {"__future__", "attnlab", "collections", "functools", "itertools", "math"}
HARMLESS |= {"matplotlib", "numpy", "operator", "seaborn", "string", "typing"}
TAKEN = frozenset(dir(builtins)) | {"np", "check"}
SHELL = "get_ipython"
# Code with one of these names may change other modules in a way that does not show.
ROUNDABOUT = frozenset(
    {
        *("setattr", "delattr", "vars", "globals", "exec", "eval", "compile", "patch"),
        *("__import__", "import_module", "__dict__", "__setattr__", "__builtins__", "builtins"),
        *("sys", "gc", "ctypes", "inspect", "unittest"),
    }
)


def reaches_out(code: str) -> bool:
    """Say whether code may change something that does not belong to it, such as `np.sum`."""
    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError):
        return True  # a magic or a system command, perhaps
    for node in nodes:
        if isinstance(node, ast.Attribute):
            changes = not isinstance(node.ctx, ast.Load)
            of_its_own = isinstance(node.value, ast.Name) and node.value.id == "self"
            if (changes and not of_its_own) or node.attr in ROUNDABOUT:
                return True
        elif isinstance(node, ast.Name) and node.id in ROUNDABOUT:
            return True
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names = {getattr(node, "module", None), *(alias.name for alias in node.names)}
            if any(part in ROUNDABOUT for name in names if name for part in name.split(".")):
                return True
    return False


def meddles(code: str) -> bool:
    """Say whether code reaches out, imports what answers do not need, or takes a name away."""
    if reaches_out(code):
        return True
    nodes = list(ast.walk(ast.parse(code)))
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    return bool(set(_modules(nodes)) - HARMLESS or set(_bound(nodes)) & TAKEN or SHELL in used)


def _modules(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            yield (node.module or "").split(".")[0]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)


def _bound(nodes: list[ast.AST]) -> Iterator[str]:
    """List names that are bound or deleted; `import numpy as np` binds what it should."""
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.alias) and node.asname and node.name != "numpy":
            yield node.asname
