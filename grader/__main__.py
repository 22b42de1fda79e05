"""The command line: `python -m grader build`, `release`, `run`, `grade`, `demo`.

Exit codes: 0 fine, 1 something to look at, 2 could not run.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer
from nbclient.exceptions import CellExecutionError
from rich.console import Console

from grader.build import build as build_texts
from grader.build import files_made_of
from grader.catalogue import LABS, READINGS
from grader.class_run import ClassRun, UnknownStudent
from grader.demo import demo as grade_demo_class
from grader.engine.cluster import ClusterError
from grader.engine.grade import How, NotReleased
from grader.engine.job import AnotherCourse
from grader.engine.sandbox import SandboxMissing
from grader.gradebook.database import GradebookError
from grader.markers import CourseError
from grader.nbgrader_api import course
from grader.progress import counted
from grader.release import ReleaseError
from grader.release import release as release_labs
from grader.run_notebook import run_notebook, warnings_in

ROOT = Path(__file__).resolve().parents[1]
SOMETHING_TO_LOOK_AT, COULD_NOT_RUN = 1, 2
CORES = os.cpu_count() or 1
WITHOUT = (
    "Hand-ins you trust can be graded without it: --no-sandbox. Their code then runs as you, with "
    "all that you may read and write."
)

app = typer.Typer(
    help="Build, release and grade the attention labs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console(soft_wrap=True)
errors = Console(stderr=True, soft_wrap=True)

Labs = Annotated[list[str] | None, typer.Argument(help="Labs to work on; all when left out.")]


Texts = Annotated[
    list[str] | None, typer.Argument(help="Labs and readings to work on; all when left out.")
]


def _chosen(
    stems: list[str] | None, known: tuple[str, ...] = LABS, kind: str = "lab"
) -> tuple[str, ...]:
    unknown = sorted(set(stems or []) - set(known))
    if unknown:
        errors.print(f"There is no {kind} called {unknown[0]!r}. There are {', '.join(known)}.")
        raise typer.Exit(COULD_NOT_RUN)
    return tuple(stems or known)


@app.command()
def build(
    texts: Texts = None,
    gate: Annotated[
        bool, typer.Option(help="Prove first that every wrong answer is caught and named.")
    ] = True,
) -> None:
    """Make source/, notebooks/ and the visible cases, and prove every wrong answer is caught."""
    chosen = _chosen(texts, LABS + READINGS, "text")
    try:
        steps = build_texts(ROOT, chosen, check=gate)
        for path in counted(steps, files_made_of(chosen), "building", console):
            console.print(f"made {path.relative_to(ROOT)}")
    except (CourseError, ModuleNotFoundError, ValueError) as error:
        errors.print("[bold]Not built.[/bold]", end=" ")
        errors.print(str(error), markup=False, highlight=False)
        raise typer.Exit(COULD_NOT_RUN) from error


@app.command()
def release(labs: Labs = None) -> None:
    """Make release/ from source/ through nbgrader, and search it for anything kept back."""
    chosen = _chosen(labs)
    try:
        for path in counted(release_labs(ROOT, chosen), len(chosen), "releasing", console):
            console.print(f"released {path.relative_to(ROOT)}")
    except (ReleaseError, CourseError) as error:
        errors.print("[bold]Not released.[/bold]", end=" ")
        errors.print(str(error), markup=False, highlight=False)
        raise typer.Exit(COULD_NOT_RUN) from error


@app.command()
def run(texts: Texts = None) -> None:
    """Run labs, answers included, and readings, top to bottom in fresh kernels."""
    chosen = _chosen(texts, LABS + READINGS, "text")
    noisy = False
    for stem in counted(chosen, len(chosen), "running", console):
        folder = ROOT / "notebooks" if stem in READINGS else ROOT / "source" / stem
        try:
            warned = warnings_in(run_notebook(folder / f"{stem}.ipynb"))
        except CellExecutionError as error:
            errors.print(f"{stem}: {error}", markup=False)
            raise typer.Exit(COULD_NOT_RUN) from error
        except FileNotFoundError as error:
            errors.print(f"{stem} is missing: run `python -m grader build` first.")
            raise typer.Exit(COULD_NOT_RUN) from error
        noisy |= bool(warned)
        console.print(f"ran {stem}" + "".join(f"\n  it warned: {text}" for text in warned))
    if noisy:
        raise typer.Exit(SOMETHING_TO_LOOK_AT)


@app.command()
def grade(
    lab: Annotated[str, typer.Argument(help="The lab to grade.")],
    jobs: Annotated[int, typer.Option(min=1, help="How many to grade at a time.")] = CORES,
    student: Annotated[
        list[str] | None, typer.Option(help="Whom to grade; everybody when left out.")
    ] = None,
    figures: Annotated[bool, typer.Option(help="Draw the course's figures too.")] = False,
    cluster: Annotated[str, typer.Option(help="Grade on the machines of a Dask scheduler.")] = "",
    sandbox: Annotated[
        bool, typer.Option(help="Run hand-ins in the sandbox. Without it they run as you.")
    ] = True,
    again: Annotated[bool, typer.Option(help="Grade also what has not changed.")] = False,
) -> None:
    """Grade a class: a mark or a reason for everyone, in gradebook.db, autograded/, grades.csv."""
    (stem,) = _chosen([lab])
    how = How(confined=sandbox, figures=figures)
    run_ = ClassRun(course(ROOT), stem, how, jobs, cluster, student or (), again)
    try:
        code = run_.grade(console)
    except SandboxMissing as error:
        errors.print("[bold]Not graded.[/bold]", end=" ")
        errors.print(f"{error}\n{WITHOUT}", markup=False, highlight=False)
        raise typer.Exit(COULD_NOT_RUN) from error
    except (NotReleased, GradebookError, ClusterError, AnotherCourse, UnknownStudent) as error:
        errors.print("[bold]Not graded.[/bold]", end=" ")
        errors.print(str(error), markup=False, highlight=False)
        raise typer.Exit(COULD_NOT_RUN) from error
    raise typer.Exit(code)


@app.command()
def demo() -> None:
    """Grade a made-up class of 12 in all labs, and check every mark."""
    if not grade_demo_class(ROOT, console):
        raise typer.Exit(SOMETHING_TO_LOOK_AT)


if __name__ == "__main__":
    sys.exit(app())
