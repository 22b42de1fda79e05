"""How much faster a class run is than stock nbgrader, on this machine and now.

    python benchmarks/grade_class.py --lab lab02_multi_head --n 60 --jobs 2
    python benchmarks/grade_class.py --scaling

Both grade the same class, one after the other, each with its own command and gradebook. Times
are of whole runs, process start included; CPU is the machine's, so leave it alone meanwhile.
Compare ratios: seconds are this machine's.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import psutil
import typer
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from nbgrader.api import Gradebook  # noqa: E402

from grader.hand_ins import demo_class, write  # noqa: E402
from grader.markers import read_lab  # noqa: E402

SEED = 15
SAMPLE_SECONDS = 0.5
COPIED = ("attnlab", "grader", "source", "release", "nbgrader_config.py")
# Graded cells call `grader`, and nbgrader calls `alembic` by name.
ENVIRONMENT = {
    "PYTHONPATH": str(ROOT),
    "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    "JUPYTER_PLATFORM_DIRS": "1",
}
console = Console(soft_wrap=True)


@dataclass(frozen=True)
class Cost:
    """What a run took: seconds on the clock, seconds of processors, bytes at its peak."""

    wall: float
    cpu: float
    memory: int


class Peak(threading.Thread):
    """Watches what a process and its descendants hold together; shared pages count once."""

    def __init__(self, pid: int) -> None:
        super().__init__(daemon=True)
        self.memory = 0
        self._root = psutil.Process(pid)
        self._over = threading.Event()

    def run(self) -> None:
        """Look again and again until it is stopped."""
        while not self._over.wait(SAMPLE_SECONDS):
            held = 0
            try:
                for process in (self._root, *self._root.children(recursive=True)):
                    try:
                        held += process.memory_full_info().pss
                    except (psutil.NoSuchProcess, psutil.AccessDenied):
                        continue
            except psutil.NoSuchProcess:
                return
            self.memory = max(self.memory, held)

    def stop(self) -> None:
        """Stop looking."""
        self._over.set()
        self.join()


def busy() -> float:
    """Say how many seconds the processors of this machine have worked, for whomever.

    What a sandbox used cannot be asked of it any more once it is gone.
    """
    times = psutil.cpu_times()
    return float(times.user + times.system)


def cost_of(words: list[str], place: Path, codes: tuple[int, ...]) -> Cost:
    """Run a command in a folder and say what it took."""
    before, start = busy(), time.monotonic()
    with (place / "run.log").open("w", encoding="utf-8") as log:
        process = subprocess.Popen(
            words,
            cwd=place,
            env=os.environ | ENVIRONMENT,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        peak = Peak(process.pid)
        peak.start()
        code = process.wait()
    wall = time.monotonic() - start
    peak.stop()
    cpu = busy() - before
    if code not in codes:
        tail = (place / "run.log").read_text(encoding="utf-8")[-3000:]
        raise SystemExit(f"{' '.join(words)} ended with {code}:\n{tail}")
    return Cost(wall, cpu, peak.memory)


def hand_in(place: Path, lab: str, n: int) -> None:
    """Write a class of n into a course's submitted/."""
    class_ = demo_class(read_lab(ROOT / "course" / f"{lab}.py"), n, SEED)
    released = place / "release" / lab / f"{lab}.ipynb"
    for student, answers in class_.items():
        write(answers, released, place / "submitted" / student / lab / f"{lab}.ipynb")


def marks(place: Path, lab: str) -> dict[tuple[str, str], float]:
    """Read every automatic mark from a gradebook."""
    with Gradebook(f"sqlite:///{place / 'gradebook.db'}") as gradebook:
        return {
            (submission.student.id, grade.cell.name): grade.auto_score
            for submission in gradebook.assignment_submissions(lab)
            for grade in submission.notebooks[0].grades
            if grade.cell.name.startswith("check_")
        }


def stock(place: Path, lab: str, n: int) -> Cost:
    """Grade a class with nbgrader as it comes: no configuration at all."""
    nbgrader = [sys.executable, "-m", "nbgrader"]
    shutil.copytree(ROOT / "source", place / "source")
    cost_of([*nbgrader, "generate_assignment", lab], place, (0,))
    hand_in(place, lab, n)
    return cost_of([*nbgrader, "autograde", lab], place, (0,))


def ours(place: Path, lab: str, n: int, jobs: int) -> Cost:
    """Grade a class with a class run, in the sandbox."""
    for name in COPIED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, place / name)
    grade = [sys.executable, "-m", "grader", "grade", lab, "--jobs", str(jobs)]
    cost_of(grade, place, (0, 1))  # nobody has handed in yet: it makes the gradebook
    hand_in(place, lab, n)
    return cost_of(grade, place, (0, 1))


def report(name: str, cost: Cost, n: int) -> None:
    """Print what a run took."""
    console.print(
        f"{name:8} {cost.wall:7.1f} s, {1000 * cost.wall / n:6.0f} ms wall and "
        f"{1000 * cost.cpu / n:6.0f} ms CPU per hand-in, at most {cost.memory / 2**20:5.0f} MiB",
        highlight=False,
    )


def compare(lab: str, n: int, jobs: int) -> None:
    """Grade one class both ways, check that the marks agree, and print the ratio."""
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        console.print(f"{n} hand-ins of {lab}; class run with {jobs} jobs, sandboxed")
        mine = ours(Path(first), lab, n, jobs)
        report("class run", mine, n)
        theirs = stock(Path(second), lab, n)
        report("stock", theirs, n)
        ours_, theirs_ = marks(Path(first), lab), marks(Path(second), lab)
    different = {key for key in ours_.keys() | theirs_.keys() if ours_.get(key) != theirs_.get(key)}
    for student, cell in sorted(different):
        console.print(
            f"{student}, {cell}: {ours_.get((student, cell))} by us, "
            f"{theirs_.get((student, cell))} by stock"
        )
    if different:
        raise SystemExit(f"{len(different)} of {len(ours_)} marks differ")
    console.print(f"all {len(ours_)} marks agree")
    console.print(f"ratio {theirs.wall / mine.wall:.1f}x", highlight=False)


def scale(lab: str, sizes: list[int], jobs: list[int]) -> None:
    """Grade classes of several sizes with several numbers of jobs."""
    table = Table("hand-ins", "jobs", "seconds", "ms wall each", "ms CPU each", "MiB", title=lab)
    for n in sizes:
        for j in jobs:
            with tempfile.TemporaryDirectory() as place:
                cost = ours(Path(place), lab, n, j)
            each = (f"{1000 * x / n:.0f}" for x in (cost.wall, cost.cpu))
            table.add_row(str(n), str(j), f"{cost.wall:.1f}", *each, f"{cost.memory / 2**20:.0f}")
            console.print(f"{n} hand-ins, {j} jobs: {cost.wall:.1f} s", highlight=False)
    console.print(table)


def main(
    lab: Annotated[str, typer.Option()] = "lab02_multi_head",
    n: Annotated[int, typer.Option(min=3, help="How many hand in.")] = 60,
    jobs: Annotated[int, typer.Option(min=1)] = 2,
    scaling: Annotated[bool, typer.Option(help="Sizes and jobs instead of stock.")] = False,
    sizes: Annotated[str, typer.Option(help="For --scaling.")] = "30,60,120,240",
    many_jobs: Annotated[str, typer.Option(help="For --scaling.")] = "1,2,3",
) -> None:
    """Compare with stock nbgrader, or print how a class run scales."""
    if scaling:
        scale(lab, [int(x) for x in sizes.split(",")], [int(x) for x in many_jobs.split(",")])
    else:
        compare(lab, n, jobs)


if __name__ == "__main__":
    typer.run(main)
