"""Where code sets what checks rely on, or reaches for the grader, read from its tree."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from grader.submission.code import bound, statements

# What checks and the course's cells rely on: their attributes are not the student's to set.
RELIED_ON = {"numpy", "attnlab", "grader", "builtins", "__builtins__", "sys", "IPython"}
USUAL = {"np": "numpy", "check": "attnlab.check"}
USUAL |= {name: name for name in ("numpy", "sys", "builtins", "__builtins__")}
CHECKED_BY = ("check", "mark")
NUMPY = ("np", "numpy")

# Ways out of a student's own code, by what they are called when written out in full.
REACHES = {
    "ctypes": "reaches into memory",
    "gc.get_objects": "goes through all objects in memory",
    "gc.get_referrers": "goes through all objects in memory",
    "gc.get_referents": "goes through all objects in memory",
    "sys._getframe": "looks at the code that called it",
    "sys._current_frames": "looks at the code that called it",
    "sys.settrace": "watches code as it runs",
    "sys.setprofile": "watches code as it runs",
    "inspect.stack": "looks at the code that called it",
    "inspect.currentframe": "looks at the code that called it",
    "inspect.getouterframes": "looks at the code that called it",
    "os.environ": "reads the environment",
    "os.getenv": "reads the environment",
    "os.kill": "ends processes",
    "os.killpg": "ends processes",
    "os.fork": "starts processes",
    "os.system": "starts processes",
    "subprocess": "starts processes",
    "multiprocessing": "starts processes",
    "socket": "opens connections",
    "urllib": "opens connections",
    "requests": "opens connections",
    "grader": "asks for the grader",
    "nbgrader": "asks for the grader",
}
FRAMES = {"f_back", "f_globals", "f_locals", "tb_frame", "gi_frame", "__subclasses__"}
SHELL = {
    "ast_transformers",
    "display_formatter",
    "displayhook",
    "events",
    "input_transformers_cleanup",
    "input_transformers_post",
    "push",
    "set_custom_exc",
    "user_ns",
}
PLACES = re.compile(r"\b(nb)?grader\b|gradebook|(^|[./\\])source[/\\]|^/proc/")


def names_of_modules(trees: Iterable[ast.Module]) -> dict[str, str]:
    """List what names stand for after the imports of all cells, such as np for numpy."""
    names = dict(USUAL)
    for tree in trees:
        names |= _imported(tree)
    return names


def reaches(tree: ast.Module, names: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Say with its line each place where a cell's code leaves what is the student's own.

    Parameters
    ----------
    tree : the cell's code
    names : what names stand for, as `names_of_modules` lists them
    """
    for statement in statements(tree.body):
        for name, _ in bound(statement):
            if name in (*CHECKED_BY, *NUMPY) and not _usual_import(statement, name):
                yield statement.lineno, f"`{name}`, which checks use, is given a new meaning."
    texts_aside = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        match node:
            case ast.Assign(targets=targets) | ast.Delete(targets=targets):
                for target in targets:
                    yield from _set(target, names)
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                yield from _set(target, names)
            case ast.Call(func=ast.Name(id="setattr" | "delattr"), args=[thing, *_]):
                yield from _set(ast.Attribute(thing, "", lineno=line), names)
            case ast.Constant(value=str(text)) if id(node) not in texts_aside:
                if PLACES.search(text):
                    yield line, f"a text names a place of the grader's: {text[:60]!r}."
            case ast.Import() | ast.ImportFrom():
                for whole in _imported(node).values():
                    yield from ((line, f"`{whole}` {what}.") for what in _reaching(whole))
            case ast.Attribute(attr=attr) if attr in FRAMES:
                yield line, f"`{attr}` leads out of the student's own code."
            case ast.Attribute(attr=attr, value=value) if attr in SHELL and _is_shell(value):
                yield line, f"`get_ipython().{attr}` changes how cells are run."
            case ast.Attribute():
                whole = _whole(node, names)
                yield from ((line, f"`{whole}` {what}.") for what in _reaching(whole))


def _set(target: ast.expr, names: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Say when what is set, or deleted, is a part of a module that checks rely on."""
    if isinstance(target, (ast.Tuple, ast.List)):
        for each in target.elts:
            yield from _set(each, names)
        return
    if not isinstance(target, (ast.Attribute, ast.Subscript)):
        return
    whole = _whole(target, names)
    module = whole.partition(".")[0]
    if module in RELIED_ON or whole.startswith("attnlab."):
        shown = whole.strip(".")
        yield target.lineno, f"a part of `{shown}`, which checks rely on, is set or deleted."
    elif _is_shell(target.value) or _is_checks_name(target):
        yield target.lineno, f"`{ast.unparse(target)[:60]}` is set."


def _is_checks_name(target: ast.expr) -> bool:
    """Recognise `globals()["check"]`."""
    match target:
        case ast.Subscript(
            value=ast.Call(func=ast.Name(id="globals" | "vars" | "locals")),
            slice=ast.Constant(value=name),
        ):
            return name in CHECKED_BY
    return False


def _whole(node: ast.expr, names: dict[str, str]) -> str:
    """Write out what a chain such as `np.random.seed` stands for; empty when it is no chain."""
    parts: list[str] = []
    while isinstance(node, (ast.Attribute, ast.Subscript)):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars":
        node = node.args[0] if node.args else node
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([names.get(node.id, ""), *reversed(parts)]) if node.id in names else ""


def _reaching(whole: str) -> Iterator[str]:
    for name, what in REACHES.items():
        if whole == name or whole.startswith(f"{name}."):
            yield what


def _is_shell(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "get_ipython"
    )


def _usual_import(statement: ast.stmt, name: str) -> bool:
    """Recognise `import numpy as np` and `from attnlab import check`."""
    meant = "numpy" if name in NUMPY else "attnlab.check"
    return _imported(statement).get(name) == meant


def _imported(tree: ast.AST) -> dict[str, str]:
    """List what names stand for after the imports in a tree."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                whole = alias.name if alias.asname else alias.name.partition(".")[0]
                found[alias.asname or whole] = whole
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                found[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return found
