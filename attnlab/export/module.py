"""Put statements of several notebooks together into the text of one module."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from attnlab.export.clashes import Clash, settle
from attnlab.export.labs import Lab
from attnlab.export.layer import BASE, LAYER, to_base
from attnlab.export.needs import Needed
from attnlab.export.rename import CannotRename, renamed
from attnlab.export.statements import Import, Statement

MADE_BY = "Made by `attnlab export`"  # how a file of ours is known
_DOCSTRING = '''\
"""Attention in NumPy, as it was built in the labs of the course: one module to import.

{made_by} from the notebooks

{notebooks}

Edit the labs, not this file: the next export replaces it.
"""
'''
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Module:
    """A module's text, and for each of its lines the statement and the line of the cell."""

    text: str
    origins: Mapping[int, tuple[Statement, int]] = field(default_factory=dict)


def assemble(needed: Needed, labs: Sequence[Lab], homes: Mapping[str, str]) -> Module:
    """Write a module of everything that is needed.

    Parameters
    ----------
    labs : the labs, in the order of the course
    homes : the lab of each exercise; the names of exercises are never changed

    Raises
    ------
    Clash : when a name that two labs use differently can be replaced in neither
    """
    order = {lab.stem: place for place, lab in enumerate(labs)}
    wanted = sorted(needed.statements, key=lambda s: (order[s.lab], s.order))
    kept, new_names = settle(wanted, needed, homes)
    kept = [_to_base(s, homes) for s in _sorted(kept, needed)]
    imports = {_renamed_import(s.imported, new_names[s.lab]) for s in kept if s.imported}
    if any(
        s.imported and s.imported.module == "__future__" for lab in labs for s in lab.statements
    ):
        imports.add(Import("__future__", "annotations", "annotations"))
    notebooks = "\n".join(f"* {lab.name}" for lab in labs)
    text = _DOCSTRING.format(made_by=MADE_BY, notebooks=notebooks.replace("\\", "/"))
    text += "\n" + _import_lines(imports)
    return _body(text, [s for s in kept if not s.imported], new_names)


# ---- order -------------------------------------------------------------------------------


def _sorted(kept: Sequence[Statement], needed: Needed) -> list[Statement]:
    """Order statements as they stand in the labs, but each behind what it needs at once."""
    done: dict[Statement, None] = {}
    open_: set[Statement] = set()

    def put(statement: Statement) -> None:
        if statement in done or statement in open_:
            return
        open_.add(statement)
        for earlier in needed.first.get(statement, []):
            if earlier in wanted:
                put(earlier)
        done[statement] = None

    wanted = {*kept}
    for statement in kept:
        put(statement)
    return [*done]


# ---- text --------------------------------------------------------------------------------


def _to_base(statement: Statement, homes: Mapping[str, str]) -> Statement:
    nodes = (
        to_base(statement) if statement.lab == homes[LAYER] and not statement.imported else set()
    )
    return _with_name(statement, nodes, LAYER, BASE) if nodes else statement


def _with_name(statement: Statement, nodes: set[ast.AST], old: str, new: str) -> Statement:
    try:
        text = renamed(statement.text, statement.node, nodes, old, new)
    except CannotRename as error:
        raise Clash(
            f"{statement.lab}, cell {statement.cell}: `{old}` means something else in another lab, "
            f"and it could not be renamed safely in this cell. Rename it here, as in `{new}`."
        ) from error
    return replace(statement, lines=tuple(text.split("\n")))


def _renamed_import(imported: Import, new_names: Mapping[str, str]) -> Import:
    return replace(imported, bound=new_names.get(imported.bound, imported.bound))


def _import_lines(imports: Iterable[Import]) -> str:
    groups: dict[int, list[str]] = {}
    from_modules: dict[str, list[str]] = {}
    for item in sorted(imports, key=lambda i: (i.module, i.name, i.bound)):
        if item.name:
            alias = "" if item.bound == item.name else f" as {item.bound}"
            from_modules.setdefault(item.module, []).append(item.name + alias)
        else:
            package = item.module.partition(".")[0]
            alias = "" if item.bound == package else f" as {item.bound}"
            groups.setdefault(_group(item.module), []).append(f"import {item.module}{alias}")
    for module, names in from_modules.items():
        line = f"from {module} import {', '.join(names)}"
        if len(line) > 88:
            line = f"from {module} import (\n    " + ",\n    ".join(names) + ",\n)"
        groups.setdefault(_group(module), []).append(line)
    return "\n\n".join("\n".join(groups[group]) for group in sorted(groups)) + "\n"


def _group(module: str) -> int:
    package = module.partition(".")[0]
    if package == "__future__":
        return 0
    if package in sys.stdlib_module_names:
        return 1
    return 3 if package in ("attnlab", "") else 2


def _body(
    text: str, statements: Sequence[Statement], new_names: Mapping[str, Mapping[str, str]]
) -> Module:
    lines = text.split("\n")[:-1]
    origins: dict[int, tuple[Statement, int]] = {}
    lab = ""
    was_definition = True
    for statement in statements:
        is_definition = isinstance(statement.node, _DEFINITIONS)
        if statement.lab != lab:
            lab = statement.lab
            lines += ["", "", f"# ---- {lab} ".ljust(88, "-"), "", ""]
        elif was_definition or is_definition:
            lines += ["", ""]
        was_definition = is_definition
        for old, new in new_names[lab].items():
            nodes = {use.node for use in statement.uses if use.name == old}
            if nodes:
                statement = _with_name(statement, nodes, old, new)
        for line, number in zip(statement.lines, statement.numbers, strict=True):
            lines.append(line)
            origins[len(lines)] = (statement, number)
    return Module("\n".join(lines) + "\n", origins)
