"""The layer of heads that obeys masks: lab 02's class with lab 03's `forward` on top."""

from __future__ import annotations

import ast

from attnlab.export.labs import Lab
from attnlab.export.statements import Statement

LAYER = "MultiHeadAttention"
BASE = f"{LAYER}_lab02"  # what the learner's own class is called in the module

_CLASS = f'''\
class {LAYER}({BASE}):
    """Your layer of lab 02 with the `forward` of lab 03, so that masks count."""
'''
_HEADS = (
    "\n    def __init__(self, d_model, n_heads=1, seed=0):"
    "\n        super().__init__(d_model, n_heads, seed)"
    "\n        self.n_heads = n_heads  # `forward` asks for it\n"
)


class NoForward(Exception):
    """Why lab 03's `forward` cannot be had, with what to do."""


def with_masks(lab: Lab, own: list[Statement]) -> Statement:
    """Make the class that later parts import, from the given cell of lab 03.

    Parameters
    ----------
    lab : lab 03
    own : the learner's class of lab 02, and what was done to it

    Raises
    ------
    NoForward : when lab 03 has no cell with the class and its `forward`
    """
    classes = [s for s in lab.statements if LAYER in s.binds and isinstance(s.node, ast.ClassDef)]
    with_forward = [s for s in classes if _method(s.node, "forward")]
    given = [s for s in with_forward if s.given] or with_forward
    if not given:
        raise NoForward(
            f"{lab.name}: the given cell that lets {LAYER} obey masks is missing. Copy the cell "
            f"that begins with `class {LAYER}:` from a fresh copy of the lab."
        )
    source = given[-1]
    forward = _method(source.node, "forward")
    assert forward is not None
    first, last = forward.lineno, forward.end_lineno or forward.lineno
    text = _CLASS + ("" if _has_heads(own) else _HEADS)
    above = [*text.split("\n"), *source.lines[first - 1 : last]]
    above += [f"\n    {name} = forward" for name in _other_names(own)]
    lines = "\n".join(above).split("\n")
    start = source.numbers[first - 1] - text.count("\n") - 1
    numbers = tuple(max(1, start + n) for n in range(len(lines)))
    return Statement(lab.stem, source.cell, source.order, True, tuple(lines), numbers)


def _method(node: ast.AST, name: str) -> ast.FunctionDef | None:
    body = node.body if isinstance(node, ast.ClassDef) else []
    found = [n for n in body if isinstance(n, ast.FunctionDef) and n.name == name]
    return found[-1] if found else None


def _has_heads(own: list[Statement]) -> bool:
    """Say whether the learner's class keeps `n_heads`, as lab 03's `forward` wants it."""
    for node in (n for s in own for n in ast.walk(s.node)):
        match node:
            case ast.Attribute(attr="n_heads", ctx=ast.Store()):
                return True
            case ast.FunctionDef(name="n_heads"):  # a property
                return True
    return False


def _other_names(own: list[Statement]) -> list[str]:
    """List the names that the class has for its `forward`, as in `__call__ = forward`."""
    found = []
    for node in (n for s in own if isinstance(s.node, ast.ClassDef) for n in s.node.body):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id="forward")):
                found.append(name)
    return found


def to_base(statement: Statement) -> set[ast.AST]:
    """List the places of a statement of lab 02 where the layer's name means the class itself.

    Those are what happens when the module is made (`class …`, a decorator, a method attached
    later), and `super(MultiHeadAttention, self)`. Functions mean the layer that obeys masks.
    """
    nodes = {use.node for use in statement.uses if use.name == LAYER and not use.later}
    for node in ast.walk(statement.node):
        match node:
            case ast.Call(func=ast.Name(id="super"), args=[ast.Name(id=name) as first, *_]):
                if name == LAYER:
                    nodes.add(first)
    return nodes
