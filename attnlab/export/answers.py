"""The learner's answers in the labs: which are there, what they need, and what is missing."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping

from attnlab.export.labs import Lab
from attnlab.export.module import LAYER, put_masks
from attnlab.export.statements import Statement
from attnlab.export.trial import BUILDING_BLOCKS

_BUILT_IN = {*dir(builtins), "__name__", "__doc__", "__file__"}


class Answers:
    """The answers that are there, with all they need, and why others are not.

    Parameters
    ----------
    labs : the labs that were found, by stem
    homes : the lab of each exercise; there is the learner's own version of its name
    """

    def __init__(self, labs: Mapping[str, Lab], homes: Mapping[str, str]) -> None:
        self.labs = labs
        self.homes = homes
        self.names: list[str] = []
        self.left_out: list[str] = []
        self.problems: list[str] = []
        here = [name for name, stem in homes.items() if stem in labs]
        self._missing = {name: reason for name in here if (reason := self._why_missing(name))}
        own, last = self._meaning(LAYER, homes[LAYER]), labs.get(homes["masked_attention"])
        masks = put_masks(last, own[0].text) if own and last else []
        if own and last and not masks:
            where = f"{last.name}: the given cell that lets {LAYER} obey masks"
            self.problems.append(f"{where} is missing. Copy it from a fresh copy of the lab.")
        wanted: set[Statement] = set()
        for name in here:
            roots = [*self._meaning(name, homes[name]), *(masks if name == LAYER else [])]
            needed, reasons = self._needed_by(roots)
            reasons = [self._missing[name]] if name in self._missing else reasons
            if not reasons:
                self.names.append(name)
                wanted |= needed
            elif name in BUILDING_BLOCKS:
                self.problems += [reason for reason in reasons if reason not in self.problems]
            else:
                self.left_out += [f"{name}: {reason}" for reason in reasons]
        self.statements = [s for lab in labs.values() for s in lab.statements if s in wanted]
        self.problems += self._clashes()

    def _meaning(self, name: str, stem: str, reader: Statement | None = None) -> list[Statement]:
        """List what makes a name what it is at the end of a lab, or where a statement reads it."""
        statements = self.labs[stem].statements if stem in self.labs else []
        until = statements.index(reader) if reader else len(statements)
        binding = [place for place in range(until) if name in statements[place].binds]
        if not binding:
            # Bound further down, or perhaps in what `from … import *` brings.
            stars = [s for s in statements if s.is_import and s.text.endswith("*")]
            return self._meaning(name, stem) if reader else stars
        after = statements[binding[-1] + 1 : until]
        return [statements[binding[-1]], *(s for s in after if name in s.changes)]

    def _needed_by(self, roots: list[Statement]) -> tuple[set[Statement], list[str]]:
        """Follow everything that statements need; say what is not there."""
        needed: set[Statement] = set()
        problems: list[str] = []
        todo = [*roots]
        while todo:
            reader = todo.pop()
            if reader in needed:
                continue
            needed.add(reader)
            where = f"{self.labs[reader.lab].name}, cell {reader.cell}"
            for name in sorted(reader.needs_now | reader.needs_when_called):
                home = self.homes.get(name, reader.lab)
                now = name in reader.needs_now and home == reader.lab
                found = self._meaning(name, home, reader if now else None)
                todo += found
                if name in self._missing and name not in BUILDING_BLOCKS:
                    problems.append(f"{where}: `{name}` is called there and is not written.")
                elif not found and name not in _BUILT_IN | reader.binds and home in self.labs:
                    problems.append(
                        f"{where}: `{name}` is used and not defined. Define or import it."
                    )
        return needed, problems

    def _why_missing(self, name: str) -> str:
        """Say why an exercise has no answer; empty when it has one."""
        lab = self.labs[self.homes[name]]
        binding = [s for s in lab.statements if name in s.binds]
        if not binding:
            broken = [f"Cell {cell} is not Python: {why}." for cell, why in lab.broken.items()]
            to_do = " ".join(broken) or "Write it in its cell, and save."
            return f"{lab.name}: `{name}` is not defined. {to_do}"
        *others, last = binding
        if not any(map(_is_stub, last.nodes)):
            return ""
        also = f" Cell {others[-1].cell} has one too: delete the empty one." if others else ""
        return f"{lab.name}, cell {last.cell}: `{name}` is not written yet.{also}"

    def _clashes(self) -> Iterator[str]:
        """Name what two labs have under one name and not alike, Python's own names included."""
        binding: dict[str, dict[str, list[Statement]]] = {}
        for s in self.statements:
            for name in s.binds - self.homes.keys():
                binding.setdefault(name, {}).setdefault(s.lab, []).append(s)
        for name, by_lab in binding.items():
            first, *others = by_lab.values()
            unlike = [o[-1] for o in others if [s.code for s in o] != [s.code for s in first]]
            readers = [s for s in self.statements if s.lab not in by_lab]
            unlike += [s for s in readers if name in s.needs_now | s.needs_when_called]
            if unlike:
                one, other = (f"{s.lab}, cell {s.cell}" for s in (first[-1], unlike[0]))
                yield f"`{name}` is one thing in {one}, and another in {other}. Rename one of them."


def _is_stub(node: ast.stmt) -> bool:
    """Say whether a definition is empty, or comes to `raise NotImplementedError` in any case."""
    if isinstance(node, ast.ClassDef):
        handed_out = [n for n in node.body if getattr(n, "name", "") in ("__init__", "forward")]
        return any(map(_is_stub, handed_out))
    if not isinstance(node, ast.FunctionDef):
        return False
    ends = [ast.unparse(n) for n in node.body if isinstance(n, (ast.Raise, ast.Return))]
    gives_up = bool(ends) and ends[0].startswith("raise NotImplementedError")
    return gives_up or all(  # a docstring and `...` are expressions
        isinstance(n, ast.Pass) or (isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))
        for n in node.body
    )
