"""Write statements of several notebooks as one module, with masks in lab 02's layer."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Sequence

from attnlab.export.labs import Lab
from attnlab.export.statements import Statement

MADE_BY = "Made by `attnlab export`"  # how a file of ours is known
_DOCSTRING = '''\
"""Attention in NumPy, as it was built in the labs of the course: one module to import.

{made_by} from the notebooks

{notebooks}

Edit the labs, not this file: the next export replaces it.
"""
'''
_MARKER = re.compile(r"\s*#+\s*((BEGIN|END) SOLUTION|YOUR CODE HERE)\b")

LAYER, HEADS, FORWARD = "MultiHeadAttention", "n_heads", "forward_with_masks"
_ATTACH = f"""\
# Your layer of lab 02 gets the `forward` you saw in lab 03, so that masks count.
{{targets}} = {FORWARD}"""
_KEEP_HEADS = f"""\
init_of_lab02 = {LAYER}.__init__


def init_that_keeps_heads(self, d_model, {HEADS}, seed=0):
    init_of_lab02(self, d_model, {HEADS}, seed)
    self.{HEADS} = {HEADS}  # `{FORWARD}` asks for it


{LAYER}.__init__ = init_that_keeps_heads"""


def put_masks(lab: Lab, own: str) -> list[Statement]:
    """Turn lab 03's given layer into statements that put its `forward` on the learner's class.

    Parameters
    ----------
    lab : lab 03; the statements take the place of the given class
    own : the text of the learner's class in lab 02

    Returns
    -------
    the statements; none when lab 03 has no such class
    """
    given = next((s for s in reversed(lab.statements) if LAYER in s.binds), None)
    inside = ast.walk(given.nodes[-1]) if given else ()
    methods = [n for n in inside if isinstance(n, ast.FunctionDef) and n.name == "forward"]
    if not given or not methods:
        return []
    method = methods[-1]
    lines = given.text.split("\n")[method.lineno - 1 : method.end_lineno]
    forward = textwrap.dedent("\n".join(lines)).replace("forward", FORWARD, 1)
    aliases = re.findall(r"^[ \t]+(\w+) = forward$", own, re.MULTILINE)  # `__call__ = forward`
    targets = " = ".join(f"{LAYER}.{name}" for name in ["forward", *aliases])
    texts = [forward, _ATTACH.format(targets=targets)]
    texts += [] if re.search(rf"(\.|def ){HEADS}\b", own) else [_KEEP_HEADS]
    line = given.line + method.lineno - 1
    made = [Statement(given.lab, given.cell, line, text) for text in texts]
    place = lab.statements.index(given)
    lab.statements[place : place + 1] = made
    return made


def assemble(labs: Sequence[Lab], statements: Sequence[Statement]) -> tuple[str, dict[int, str]]:
    """Write a module: the imports, then the statements of lab after lab as they stand there.

    Returns
    -------
    its text, and for each of its lines the lab, the cell and the line there
    """
    notebooks = "\n".join(f"* {lab.name}" for lab in labs)
    lines = _DOCSTRING.format(made_by=MADE_BY, notebooks=notebooks).split("\n")
    lines += sorted({s.text for s in statements if s.is_import})
    origins: dict[int, str] = {}
    written: dict[str, str] = {}
    lab, was_definition = "", False
    for statement in (s for s in statements if not s.is_import):
        if written.setdefault(statement.code, statement.lab) != statement.lab:
            continue  # a helper that an earlier lab has too
        if statement.lab != lab:
            lab = statement.lab
            lines += ["", "", f"# ---- {lab} ".ljust(88, "-"), "", ""]
        elif was_definition or statement.is_definition:
            lines += ["", ""]
        was_definition = statement.is_definition
        for number, line in enumerate(statement.text.split("\n"), statement.line):
            if not _MARKER.match(line):
                lines.append(line)
                origins[len(lines)] = f"{lab}, cell {statement.cell}, line {number}"
    return "\n".join(lines) + "\n", origins
