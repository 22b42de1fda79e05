"""Cut the code of a notebook's cell into statements, with the comments that belong to each."""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from contextlib import suppress
from importlib import import_module

from IPython.core.inputtransformer2 import TransformerManager

from attnlab.export.statements import Import, Statement, parse

_REMARK = re.compile(r"#+\s*((BEGIN|END) SOLUTION|YOUR CODE HERE)\b|#\s*%%")
_RUN_IN_PLACE = ("time", "capture", "prun", "timeit")  # cell magics whose code is the notebook's


class NotPython(Exception):
    """Why a cell cannot be read: Python's message and the line in the cell."""

    def __init__(self, reason: str, line: int) -> None:
        super().__init__(f"line {line}: {reason}")


def read_cell(source: str, lab: str, cell: int, given: bool, order: int) -> list[Statement]:
    """Cut a code cell into statements.

    Parameters
    ----------
    source : the cell's text, IPython's `%magic` and `!shell` lines allowed
    lab, cell, given : as in Statement
    order : the place of the first statement

    Raises
    ------
    NotPython : when IPython could not run it
    """
    code = _without_magics(source.replace("\r\n", "\n").replace("\r", "\n"))
    lines = code.split("\n")  # as Python counts them: splitlines() knows more line ends
    body = _checked(code)
    found: list[Statement] = []
    for place, node in enumerate(body):
        before = _last_line(body[place - 1]) if place else 0
        after = _first_line(body[place + 1]) if place + 1 < len(body) else len(lines) + 1
        kept, numbers = _text_of(node, lines, code, before, after)
        for imported in _imports(node) or [None]:
            found.append(Statement(lab, cell, order + len(found), given, kept, numbers, imported))
    return found


def _without_magics(source: str) -> str:
    first, _, rest = source.lstrip("\n").partition("\n")
    if first.startswith("%%"):
        magic = first[2:].split()[:1]
        return "\n" + _without_magics(rest) if magic and magic[0] in _RUN_IN_PLACE else ""
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        parse(source)
        return source
    try:
        return TransformerManager().transform_cell(source)
    except Exception:  # IPython's reader of half-written code raises what it likes
        return source


def _checked(code: str) -> list[ast.stmt]:
    try:
        tree = parse(code)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(tree, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    except SyntaxError as error:
        raise NotPython(error.msg, error.lineno or 1) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise NotPython(str(error) or type(error).__name__, 1) from error
    return tree.body


def _first_line(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return int(min([node.lineno, *(decorator.lineno for decorator in decorators)]))


def _last_line(node: ast.stmt) -> int:
    last: int = node.end_lineno or node.lineno
    return last


def _text_of(
    node: ast.stmt, lines: list[str], code: str, before: int, after: int
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Return a statement's lines and their numbers, with the comments that belong to it."""
    first, last = _first_line(node), _last_line(node)
    if first <= before or last >= after:  # `a = 1; b = 2`
        segment = (ast.get_source_segment(code, node) or "").split("\n")
        return tuple(segment), tuple(range(first, first + len(segment)))
    while first - 1 > before and lines[first - 2].startswith("#"):
        first -= 1
    for number in range(last + 1, after):  # comments at the end of a body
        line = lines[number - 1]
        if line.strip() and not (line[0] in " \t" and line.lstrip().startswith("#")):
            break
        last = number if line.strip() else last
    chosen = lines[first - 1 : last]
    remarks = _remarks("\n".join(chosen))
    kept = [n for n, _ in enumerate(chosen, 1) if n not in remarks]
    return tuple(chosen[n - 1] for n in kept), tuple(first + n - 1 for n in kept)


def _remarks(text: str) -> set[int]:
    """List the lines that hold nothing but a marker of the course."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    found = set()
    with suppress(tokenize.TokenError, SyntaxError):
        for token in tokens:
            alone = token.type == tokenize.COMMENT and token.line.strip() == token.string.strip()
            if alone and _REMARK.match(token.string):
                found.add(token.start[0])
    return found


def _imports(node: ast.stmt) -> list[Import | None]:
    match node:
        case ast.Import(names=aliases):
            return [_plain(alias) for alias in aliases]
        case ast.ImportFrom(names=[ast.alias(name="*")]):
            module = "." * node.level + (node.module or "")
            return [Import(module, name, name) for name in _public(module)]
        case ast.ImportFrom(names=aliases):
            module = "." * node.level + (node.module or "")
            return [Import(module, alias.name, alias.asname or alias.name) for alias in aliases]
    return []


def _plain(alias: ast.alias) -> Import:
    return Import(alias.name, "", alias.asname or alias.name.partition(".")[0])


def _public(module: str) -> list[str]:
    """List what `from module import *` gives."""
    try:
        loaded = import_module(module)
    except Exception:  # whatever a module raises: its names are not known then
        return []
    public = [name for name in dir(loaded) if not name.startswith("_")]
    return [*getattr(loaded, "__all__", public)]
