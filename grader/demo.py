"""The demo: a made-up class whose every mark is known beforehand, graded as a real one is."""

from __future__ import annotations

import multiprocessing
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table

from grader.catalogue import LABS, exercises
from grader.class_run import ClassRun
from grader.engine.grade import How
from grader.engine.sandbox import INSTALL, why_missing
from grader.gate import answered
from grader.gradebook.prepare import prepare
from grader.gradebook.table import grades
from grader.hand_ins import BLANK, HandIn, demo_class, write
from grader.mark import grade
from grader.markers import Lab, read_lab
from grader.nbgrader_api import course
from grader.sheets import PUBLIC_SEED

SIZE, SEED, JOBS = 12, 15, 2
SHOWN_MISTAKES = 10

Class = Mapping[str, HandIn]


def demo(root: Path, console: Console, labs: tuple[str, ...] = LABS) -> bool:
    """Grade a class of 12 in every lab and print who got what.

    Everything lies in `demo/` afterwards; the course's own gradebook is left alone.

    Returns
    -------
    whether every mark, and every mistake named first, is the one the class was made for
    """
    place = root / "demo"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(root / "source", place / "source")
    texts = [read_lab(root / "course" / f"{lab}.py") for lab in labs]
    classes = {lab.stem: demo_class(lab, SIZE, SEED) for lab in texts}
    api = course(root, place)
    how = How(confined=not why_missing())
    if not how.confined:
        console.print(f"Graded without the sandbox, since the class is our own. For it: {INSTALL}")
    problems: list[str] = []
    for lab in texts:
        problems += _grade(api, place, lab, classes[lab.stem], how, console)
    marks = _marks(api)
    console.print(_pass_rates(marks))
    console.print(_mistakes(marks))
    with ProcessPoolExecutor(JOBS, mp_context=multiprocessing.get_context("fork")) as pool:
        of_lab = [marks[marks.lab == lab.stem] for lab in texts]
        for found in pool.map(_differences, texts, [classes[lab.stem] for lab in texts], of_lab):
            problems += found
    _say_where(place, console)
    for problem in problems:
        console.print(f"[bold]Not as made:[/bold] {problem}", highlight=False)
    if not problems:
        console.print(f"Every one of the {len(marks)} marks is the one the class was made for.")
    return not problems


def _grade(
    api: Any, place: Path, lab: Lab, class_: Class, how: How, console: Console
) -> Iterator[str]:
    """Release a lab, write hand-ins, grade them and return feedback; yield what went wrong."""
    prepare(api, lab.stem)
    released = place / "release" / lab.stem / f"{lab.stem}.ipynb"
    for student, hand_in in class_.items():
        write(hand_in, released, place / "submitted" / student / lab.stem / f"{lab.stem}.ipynb")
    if ClassRun(api, lab.stem, how, JOBS).grade(console):
        yield f"{lab.stem}: there is something to look at"
    result = api.generate_feedback(lab.stem)
    if not result["success"]:
        yield f"feedback of {lab.stem}: {result.get('log') or result.get('error')}"


def _marks(api: Any) -> pd.DataFrame:
    """Read the marks of exercises from the gradebook, in the order of the labs."""
    names = [exercise.name for exercise in exercises()]
    marks = grades(api)
    marks = marks[marks.part.isin(names)].rename(columns={"part": "exercise"})
    place = marks.exercise.map({name: place for place, name in enumerate(names)})
    return marks.assign(place=place).sort_values(["lab", "student", "place"])


def _differences(lab: Lab, class_: Class, marks: pd.DataFrame) -> list[str]:
    """Compare every mark with that of the same answer graded on its own."""
    found = []
    for row in marks.itertuples():
        answer = class_[row.student][row.exercise]
        where = f"{row.student}, {row.exercise}"
        expected = 0.0
        if answer.kind != BLANK:
            namespace = answered(lab)
            exec(compile(str(answer.source), where, "exec"), namespace)
            expected = grade(row.exercise, namespace[row.exercise], PUBLIC_SEED).score
        if row.points != expected:
            found.append(f"{where}: {row.points:g} points, made for {expected:g}")
        if answer.mistake != row.mistake:
            found.append(f"{where}: named {row.mistake!r}, made with {answer.mistake!r}")
    return found


def _open_table(title: str) -> Table:
    """Begin a table without frames, narrow enough for a plain terminal."""
    title = f"\n{title}"
    return Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, padding=0)


def _pass_rates(marks: pd.DataFrame) -> Table:
    table = _open_table("How each exercise went")
    for name in ("lab", "exercise", "full marks", "mean"):
        table.add_column(name, justify="left" if name in ("lab", "exercise") else "right")
    for (lab, exercise), group in marks.groupby(["lab", "exercise"], sort=False):
        passed = (group.points == group.of).mean()
        mean = group.points.mean() / group.of.iloc[0]
        table.add_row(lab, exercise, f"{passed:.0%}", f"{mean:.0%}")
    return table


def _mistakes(marks: pd.DataFrame) -> Table:
    table = _open_table("Mistakes named most often")
    table.add_column("times", justify="right")
    table.add_column("exercise")
    table.add_column("mistake")
    named = marks[marks.mistake != ""]
    counts = Counter(zip(named.exercise, named.mistake, strict=True))
    for (exercise, mistake), times in counts.most_common(SHOWN_MISTAKES):
        table.add_row(str(times), exercise, mistake)
    return table


def _say_where(place: Path, console: Console) -> None:
    what = {
        "source": "the labs with answers",
        "release": "what students get",
        "submitted": "what the class handed in",
        "autograded": "the same, marked",
        "feedback": "what students get back: open one in a browser",
        "grades.csv": "every mark and every state",
        "gradebook.db": "the same, for nbgrader's formgrader",
    }
    for name, about in what.items():
        console.print(f"{place.name}/{name:13} {about}", highlight=False)
    console.print("The class left the written questions blank; what is written waits for a person.")
