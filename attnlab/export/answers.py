"""The learner's answers in the labs: which are there, what they need, and what is missing."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from attnlab.export.interface import TRIALS
from attnlab.export.labs import Lab
from attnlab.export.layer import LAYER, NoForward, with_masks
from attnlab.export.needs import Names, Needed
from attnlab.export.statements import Statement

BUILDING_BLOCKS = tuple(TRIALS)  # later parts import these; the other exercises are experiments


class Answers:
    """Each exercise's answer, with what it needs or why it cannot be had.

    Parameters
    ----------
    labs : the labs that were found, by stem
    homes : the lab of each exercise
    """

    def __init__(self, labs: Mapping[str, Lab], homes: Mapping[str, str]) -> None:
        self.labs = labs
        self.homes = homes
        self.needed = Needed()
        self.names: list[str] = []
        self.left_out: list[str] = []
        self.problems: list[str] = []
        here = Names(labs, homes)
        own = here.last(homes[LAYER], LAYER) or []
        layer = None
        try:
            # The class that stands on the learner's own is made of the last lab's given cell.
            if own and homes["masked_attention"] in labs:
                layer = with_masks(labs[homes["masked_attention"]], own)
        except NoForward as reason:
            self.problems.append(str(reason))
        self.meanings = Names(labs, homes, layer)
        for name, stem in homes.items():
            if stem in labs:
                self._take(name, stem, [layer] if layer and name == LAYER else [])

    def _take(self, name: str, stem: str, with_it: list[Statement]) -> None:
        own = self.meanings.last(stem, name) or []
        reasons = [self._why_not(name, own)] if self._why_not(name, own) else []
        if not reasons:
            needed = self.meanings.needed_by([*own, *with_it])
            reasons = needed.problems + self._unwritten(name, needed)
        if not reasons:
            self.names.append(name)
            self.needed.add(needed)
        elif name in BUILDING_BLOCKS:
            self.problems += [r for r in reasons if r not in self.problems]
        else:
            self.left_out += [f"{name}: {reason}" for reason in reasons]

    def _why_not(self, name: str, own: list[Statement]) -> str:
        """Say why an exercise has no answer; empty when it has one."""
        lab = self.labs[self.homes[name]]
        if not own:
            for cell in lab.broken:
                if cell.is_about(name):
                    return f"{lab.name}, cell {cell.cell}: `{name}` is not Python: {cell.reason}."
            return f"{lab.name}: `{name}` is not defined. Write it in its cell, and save."
        if _is_stub(own[-1].node, name):
            others = [s.cell for s in lab.statements if name in s.binds and s is not own[-1]]
            also = (
                f" Cell {others[-1]} has one too: delete the one that is empty." if others else ""
            )
            return f"{lab.name}, cell {own[-1].cell}: `{name}` is not written yet.{also}"
        return ""

    def _unwritten(self, name: str, needed: Needed) -> list[str]:
        """Name the unwritten experiments that an answer calls; other answers are named anyway."""
        called = {n for s in needed.statements for n in s.reads_now | s.reads_later}
        others = (called & self.homes.keys()) - {name, *BUILDING_BLOCKS}
        lab = self.labs[self.homes[name]].name
        return [
            f"{lab}: `{name}` calls `{other}`, which is not written."
            for other in sorted(others)
            if self.homes[other] in self.labs
            and self._why_not(other, self.meanings.last(self.homes[other], other) or [])
        ]


def _is_stub(node: ast.stmt, name: str) -> bool:
    """Say whether a definition of a name is still as it was handed out, or empty."""
    match node:
        case ast.FunctionDef(body=body) | ast.AsyncFunctionDef(body=body):
            return _is_empty(body)
        case ast.ClassDef(body=body):
            methods = [n for n in body if isinstance(n, ast.FunctionDef)]
            to_write = [m.body for m in methods if m.name in ("__init__", "forward")]
            return any(map(_is_empty, to_write)) or any(_gives_up(m.body) for m in methods)
        case ast.Assign(targets=[ast.Name(id=bound)], value=ast.Constant()):
            return bound == name  # `softmax = ...`
    return False


def _is_empty(body: list[ast.stmt]) -> bool:
    filling = (ast.Pass, ast.Expr)  # the docstring and `...` are expressions
    constant = [n for n in body if not isinstance(n, ast.Expr) or isinstance(n.value, ast.Constant)]
    only_filling = constant == body and all(isinstance(n, filling) for n in body)
    return only_filling or _gives_up(body)


def _gives_up(body: list[ast.stmt]) -> bool:
    """Say whether a body always comes to `raise NotImplementedError`, the mark of a stub."""
    for statement in body:
        match statement:
            case ast.Return():
                return False
            case (
                ast.Raise(exc=ast.Name(id="NotImplementedError"))
                | ast.Raise(exc=ast.Call(func=ast.Name(id="NotImplementedError")))
            ):
                return True
    return False
