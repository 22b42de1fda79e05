"""No hand-in costs anybody else anything, learns what is kept back, or outlives its grading."""

from __future__ import annotations

import copy
import json
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import psutil
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from attnlab.judge import Report
from attnlab.run import Record
from grader.engine import assess as engine
from grader.engine.assess import Budget, Marked, assess
from grader.engine.meddling import meddles
from grader.engine.worker import Worker
from grader.hand_ins import answers
from grader.mark import judge_all
from grader.markers import read_lab
from grader.release import kept_numbers
from grader.sheets import sheet
from grader.submission.roles import grade_id
from tests.conftest import ROOT, needs_sandbox
from tests.hostile import ATTACKS, MARKER, POINTS, Attack

LAB = "lab00_qkv"
SEED = "a seed that nobody knows"
BUDGET = Budget(cell=2.0, cells=12.0, start=1.0, case=1.0, exercise=2.5, hand_in=40.0)
LONGEST = 60.0  # seconds: what the budget allows, and what starting anew takes
CANARY = "canary-5f1c9e7a"  # stands in everything that no hand-in may see
MOST_BETWEEN = 10  # attacks; each also stands where the one before it was
WON = ("SUC" + "CESS", "KE" + "PT", CANARY)

pytestmark = needs_sandbox


@dataclass
class Grounds:
    """A warm worker, a course with secrets, and ears for whoever calls."""

    worker: Worker
    course: Path
    tcp: socket.socket
    unix: list[socket.socket]
    released: NotebookNode
    solved: NotebookNode
    since: list[str] = field(default_factory=list)  # attacks since an honest hand-in was marked

    def put_in(self, attack: Attack) -> NotebookNode:
        """Write an attack into a solved notebook."""
        notebook = copy.deepcopy(self.solved)
        for place, code in attack.cells.items():
            where, _, exercise = place.rpartition(" ")
            names = [grade_id(cell) for cell in notebook.cells]
            cell = notebook.cells[names.index(exercise)]
            code = code.replace("@COURSE@", str(self.course))
            code = code.replace("@PORT@", str(self.tcp.getsockname()[1]))
            code = code.replace("@SOCKET@", str(self.course / "socket"))
            if where == "before":
                notebook.cells.insert(names.index(exercise), new_code_cell(code))
            else:
                cell.source = code if where == "instead of" else f"{code}\n{cell.source}"
        return notebook

    def mark(self, notebook: NotebookNode) -> Marked:
        return assess(notebook, self.released, LAB, SEED, self.worker, budget=BUDGET)

    def an_honest_one_earns_all(self) -> None:
        """Mark an honest hand-in where attacks have been."""
        after = self.mark(copy.deepcopy(self.solved))
        points = {name: report.score for name, report in after.reports.items()}
        assert points == POINTS, f"one of these spoilt it: {self.since}"
        self.since.clear()

    def called(self) -> bool:
        for ear in (self.tcp, *self.unix):
            try:
                ear.accept()
            except BlockingIOError:
                continue
            return True
        return False


@pytest.fixture(scope="module")
def grounds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grounds]:
    course = tmp_path_factory.mktemp("course")
    for name in ("gradebook.db", "seed.txt", "source/lab00_qkv/lab00_qkv.ipynb", "home/.ssh/id_rsa",
                 "submitted/other/lab00_qkv/lab00_qkv.ipynb", "home/secret.txt"):  # fmt: skip
        (course / name).parent.mkdir(parents=True, exist_ok=True)
        (course / name).write_text(CANARY)
    tcp = socket.create_server(("127.0.0.1", 0))
    unix = [socket.socket(socket.AF_UNIX) for _ in range(2)]
    for ear, address in zip(unix, (f"{course}/socket", f"\0{course}/socket"), strict=True):
        ear.bind(address)
        ear.listen()
    for ear in (tcp, *unix):
        ear.setblocking(False)
    notebook = nbformat.read(ROOT / "release" / LAB / f"{LAB}.ipynb", as_version=4)
    # Only what is graded: the cells in between would make the suite slow and say nothing here.
    notebook.cells = [
        cell for cell in notebook.cells if grade_id(cell) and "code" in cell.cell_type
    ]
    solved = copy.deepcopy(notebook)
    right = answers(read_lab(ROOT / "course" / f"{LAB}.py"))
    for cell in solved.cells:
        if grade_id(cell) in right:
            cell.source = right[grade_id(cell)].source
    with pytest.MonkeyPatch.context() as patch, Worker() as worker:
        patch.setenv("ATTENTION_LABS_SECRET", CANARY)
        patch.setenv("HOME", str(course / "home"))
        worker.start()
        made = Grounds(worker, course, tcp, unix, notebook, solved)
        yield made
        made.an_honest_one_earns_all()
    for ear in (tcp, *unix):
        ear.close()


@pytest.fixture(scope="module")
def secrets() -> set[str]:
    return {CANARY, *WON, *kept_numbers(LAB, SEED)}


def processes() -> tuple[int, int]:
    """Count what runs under this process, the warm ones among them, and what bears the marker."""
    marked = sum(
        MARKER in (process.info["cmdline"] or ()) for process in psutil.process_iter(["cmdline"])
    )
    return len(psutil.Process().children(recursive=True)), marked


def left_files(course: Path) -> list[Path]:
    places = [Path("/"), Path("/tmp"), Path("/var/tmp"), Path("/dev"), Path("/dev/shm"), course]
    places += [ROOT, ROOT / "attnlab", ROOT / "grader" / "runner", *map(Path, sys.path)]
    return [path for place in places for path in place.glob(f"{MARKER}*")]


def outputs(notebook: NotebookNode) -> str:
    """Write all that a learner may get to see of a marked notebook besides their own code."""
    return json.dumps([cell.get("outputs", []) for cell in notebook.cells], allow_nan=False)


def test_an_honest_hand_in_earns_all(grounds: Grounds, secrets: set[str]) -> None:
    notebook = copy.deepcopy(grounds.solved)
    marked = grounds.mark(notebook)
    assert {name: report.score for name, report in marked.reports.items()} == POINTS
    assert not marked.left_out
    assert not any(secret in outputs(notebook) for secret in secrets)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_attack_costs_its_own_exercise_at_most(
    attack: Attack, grounds: Grounds, secrets: set[str]
) -> None:
    grounds.worker.try_out()
    before = processes()
    notebook = grounds.put_in(attack)
    start = time.monotonic()
    marked = grounds.mark(notebook)
    assert time.monotonic() - start < LONGEST
    points = {name: report.score for name, report in marked.reports.items()}
    assert {n: p for n, p in points.items() if n not in attack.most} == {
        n: p for n, p in POINTS.items() if n not in attack.most
    }
    assert all(points[name] <= most for name, most in attack.most.items())
    shown = outputs(notebook)
    assert [secret for secret in secrets if secret in shown] == []
    nbformat.validate(nbformat.reads(nbformat.v4.writes(notebook).encode().decode(), 4))
    assert processes() == before, "something outlived the hand-in"
    assert left_files(grounds.course) == []
    assert not grounds.called()
    grounds.since.append(attack.name)
    if len(grounds.since) == MOST_BETWEEN:
        grounds.an_honest_one_earns_all()


def test_results_that_the_judge_cannot_digest_cost_their_own_exercise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def picky(name: str, seed: str, records: Sequence[Record]) -> Report:
        if any(record.outcome == "returned" for record in records):
            raise ArithmeticError
        return judge_all(name, seed, records)

    monkeypatch.setattr(engine, "judge_all", picky)
    cases = sheet("scores", SEED, with_mistakes=False).cases
    assert engine._judged("scores", SEED, [Record("returned")] * len(cases)).score == 0.0


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("def f(x):\n    y = np.exp(x)\n    return y.T", False),
        ("import math\nfrom numpy.linalg import norm", False),
        ("class Layer:\n    def __init__(self):\n        self.w = 1", False),
        ("np.exp = abs", True),
        ("import os", True),
        ("import random as np", True),
        ("sum = 0", True),
        ("for max in range(3): pass", True),
        ("def len(x): return 0", True),
        ("del np", True),
        ("get_ipython().reset()", True),
        ("%reset -f", True),
        ("this is no Python", True),
    ],
)
def test_code_that_may_have_spoilt_something_is_told_from_other_code(
    code: str, found: bool
) -> None:
    assert meddles(code) is found
