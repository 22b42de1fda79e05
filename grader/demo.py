"""The demo: a made-up class whose every mark is known beforehand, graded through nbgrader."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import nbformat
import pandas as pd
from nbgrader.api import Gradebook
from rich import box
from rich.console import Console
from rich.table import Table

from grader.catalogue import LABS, exercises
from grader.gate import answered
from grader.hand_ins import BLANK, HandIn, demo_class, write
from grader.mark import SUMMARY, grade
from grader.markers import Lab, read_lab
from grader.nbgrader_api import course
from grader.progress import counted
from grader.sheets import PUBLIC_SEED

SIZE, SEED = 12, 15
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
    steps = _grade(api, place, classes)
    total = sum(len(class_) + 1 for class_ in classes.values())
    problems = [problem for problem in counted(steps, total, "grading", console) if problem]
    marks = pd.concat([_marks(place, lab.stem) for lab in texts], ignore_index=True)
    marks.to_csv(place / "grades.csv", index=False)
    for lab in texts:
        console.print(_table(lab, marks[marks.lab == lab.stem]))
    console.print(_pass_rates(marks))
    console.print(_mistakes(marks))
    for lab in texts:
        problems += _differences(lab, classes[lab.stem], marks[marks.lab == lab.stem])
    _say_where(place, console)
    for problem in problems:
        console.print(f"[bold]Not as made:[/bold] {problem}", highlight=False)
    if not problems:
        console.print(f"Every one of the {len(marks)} marks is the one the class was made for.")
    return not problems


def _grade(api: Any, place: Path, classes: Mapping[str, Class]) -> Iterator[str]:
    """Release, write hand-ins, grade and return feedback; yield a problem, or "", a step."""
    for stem, class_ in classes.items():
        yield _problem(api.generate_assignment(stem), f"release of {stem}")
        released = place / "release" / stem / f"{stem}.ipynb"
        for student, hand_in in class_.items():
            write(hand_in, released, place / "submitted" / student / stem / f"{stem}.ipynb")
            done = _problem(api.autograde(stem, student), f"grading of {student}, {stem}")
            yield done or _problem(
                api.generate_feedback(stem, student), f"feedback of {student}, {stem}"
            )


def _problem(result: dict[str, Any], what: str) -> str:
    return "" if result["success"] else f"{what}: {result.get('log') or result.get('error')}"


def _marks(place: Path, stem: str) -> pd.DataFrame:
    """Read the marks from the gradebook and the named mistakes from the graded notebooks."""
    rows = []
    with Gradebook(f"sqlite:///{place / 'gradebook.db'}") as gradebook:
        for submission in gradebook.assignment_submissions(stem):
            student = submission.student.id
            named = _named(place / "autograded" / student / stem / f"{stem}.ipynb")
            for part in submission.notebooks[0].grades:
                if part.cell.name.startswith("check_"):
                    name = part.cell.name.removeprefix("check_")
                    rows.append(
                        {
                            "lab": stem,
                            "student": student,
                            "exercise": name,
                            "points": part.auto_score,
                            "of": part.max_score,
                            "mistake": named.get(name, ""),
                        }
                    )
    order = {exercise.name: place for place, exercise in enumerate(exercises(stem))}
    rows.sort(key=lambda row: (row["student"], order[row["exercise"]]))
    return pd.DataFrame(rows)


def _named(path: Path) -> dict[str, str]:
    """Read which mistake a graded notebook names first in each exercise."""
    found = {}
    for cell in nbformat.read(path, as_version=4).cells:
        for output in cell.get("outputs", []):
            if summary := output.get("metadata", {}).get(SUMMARY):
                found[summary["exercise"]] = next(iter(summary["mistakes"]), "")
    return found


def _differences(lab: Lab, class_: Class, marks: pd.DataFrame) -> Iterator[str]:
    """Compare every mark with that of the same answer graded on its own."""
    for row in marks.itertuples():
        answer = class_[row.student][row.exercise]
        where = f"{row.student}, {row.exercise}"
        expected = 0.0
        if answer.kind != BLANK:
            namespace = answered(lab)
            exec(compile(str(answer.source), where, "exec"), namespace)
            expected = grade(row.exercise, namespace[row.exercise], PUBLIC_SEED).score
        if row.points != expected:
            yield f"{where}: {row.points:g} points, made for {expected:g}"
        if answer.mistake != row.mistake:
            yield f"{where}: named {row.mistake!r}, made with {answer.mistake!r}"


def _open_table(title: str) -> Table:
    """Begin a table without frames, narrow enough for a plain terminal."""
    title = f"\n{title}"
    return Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, padding=0)


def _table(lab: Lab, marks: pd.DataFrame) -> Table:
    wide = marks.pivot_table("points", "student", "exercise", sort=False)
    title = f"{lab.title}: points of {len(wide)} hand-ins"
    table = _open_table(title)
    table.add_column("student")
    most = marks.drop_duplicates("exercise").set_index("exercise")["of"]
    for name in wide:
        broken = re.sub(r"(?<=_)|(?<=[a-z])(?=[A-Z])", "\n", name)  # so that all fit 80 columns
        table.add_column(f"{broken}\nof {most[name]:g}", justify="right", vertical="bottom")
    table.add_column(f"all\nof {most.sum():g}", justify="right")
    for student, row in wide.iterrows():
        table.add_row(str(student), *(f"{x:g}" for x in row), f"{row.sum():g}")
    return table


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
        "grades.csv": "every mark",
        "gradebook.db": "the same, for nbgrader's formgrader",
    }
    for name, about in what.items():
        console.print(f"{place.name}/{name:13} {about}", highlight=False)
    console.print("Written answers wait for a person; the points above leave them out.")
