"""Run one hand-in: its cells in order, and then each answer as its check found it.

When a check is reached, the process is copied. The copy waits, with the names as they are at
that place, until it is handed the cases of its exercise; so cells below a check cannot change
its mark, and no case is in this process while a learner's cell runs.
"""

from __future__ import annotations

import ast
import contextlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import matplotlib.pyplot as plt

from attnlab import wire
from attnlab.encode import read_input
from attnlab.exercise import Case, Exercise
from attnlab.run import Limits, run_and_tell
from attnlab.self_check import why_not_an_answer

from .shell import Shell, captured
from .undrawn import Drawing


@dataclass
class Ground:
    """What is loaded before any hand-in comes."""

    shell: Shell
    drawing: Drawing


def play(ground: Ground, main: int, checks: list[int]) -> None:
    """Run the hand-in that comes through `main`; its n-th check answers through `checks[n]`."""
    reader = wire.Reader(main)
    program = wire.unpack(reader.read())
    show = not program["quietly"]
    if program["figures"]:
        ground.shell.draw_inline()
    waiting = []
    for number, cell in enumerate(program["cells"]):
        ground.drawing.on = program["figures"] or not cell["course"]
        if cell["code"] is not None:
            outputs = run_cell(ground, cell["code"], show)
            count = ground.shell.outputs.count
            wire.send(main, wire.pack({"cell": number, "outputs": outputs, "count": count}))
        if cell["check"]:
            pipe = checks.pop(0)
            if cell["check"] in ground.shell.user_ns:
                copy_for(ground, cell["check"], pipe)
            else:
                waiting.append((cell["check"], pipe))
    for name, pipe in waiting:
        copy_for(ground, name, pipe)
    wire.send(main, wire.pack({"end": True}))
    with contextlib.suppress(EOFError):
        reader.read()


def run_cell(ground: Ground, code: str, show: bool) -> list[dict[str, Any]]:
    """Run a cell and return its outputs; whatever it raises is one of them."""
    shell = ground.shell
    with captured(shell) as outputs:
        try:
            if show or "await" in code:
                shell.run_cell(code, store_history=True)
            else:
                _just_run(shell, code)
        except BaseException as error:  # a cell may have broken the shell
            shell.outputs.error(type(error).__name__, "", [])
        if plt.get_fignums():
            plt.close("all")
        return shell.outputs.found if show else outputs[:0]


def _just_run(shell: Shell, code: str) -> None:
    """Run a cell for the names it leaves."""
    with contextlib.suppress(BaseException):
        exec(compile(ast.parse(shell.transform_cell(code)), "cell", "exec"), shell.user_ns)


def copy_for(ground: Ground, name: str, pipe: int) -> None:
    """Copy this process; the copy tries the answer of that name on the cases it is sent."""
    if os.fork():
        os.close(pipe)
        return
    try:
        os.closerange(3, pipe)
        os.closerange(pipe + 1, os.sysconf("SC_OPEN_MAX"))
        job = wire.unpack(wire.Reader(pipe).read())
        try_answer(name, ground.shell.user_ns, job, pipe)
    finally:
        os._exit(0)


def try_answer(name: str, namespace: Mapping[str, Any], job: Mapping[str, Any], pipe: int) -> None:
    """Say whether there is an answer to try, and then what it gives on each case."""
    how = job["exercise"]
    exercise = Exercise(name, "", 0.0, how["call"], tuple(how["results"]))
    cases = [
        Case("", 0.0, {n: read_input(v) for n, v in case["inputs"].items()}, probe=case["probe"])
        for case in job["cases"]
    ]
    missing = name not in namespace
    answer = namespace.get(name)
    complaint = "" if missing else why_not_an_answer(answer, exercise, cases)
    wire.send(pipe, wire.pack({"missing": missing, "complaint": complaint}))
    if not missing and not complaint and answer is not None:
        given = _given(job["given"], job["names"])
        run_and_tell(pipe, answer, exercise, cases, given, Limits())


def _given(code: str, names: list[str]) -> dict[str, Any]:
    """Define the right versions of earlier exercises from their code."""
    namespace: dict[str, Any] = {"__name__": "given"}
    exec(compile(code, "given", "exec"), namespace)
    return {name: namespace[name] for name in names}
