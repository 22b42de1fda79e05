"""Build `source/`, `notebooks/` and the visible cases from the text masters of `course/`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import nbformat

from attnlab.encode import dumps
from attnlab.exercise import Case
from attnlab.judge import TOPICS
from attnlab.measures import MEASURES
from attnlab.probes import PROBES
from grader.catalogue import LABS, READINGS, exercises, has_reference
from grader.gate import slips
from grader.markers import Cell, CourseError, Lab, Text, read_lab, read_reading
from grader.sheets import PUBLIC_SEED, cases_of_exercise, visible_sheet

HIDDEN = """
### BEGIN HIDDEN TESTS
from grader.mark import mark
mark("{name}", {name})
### END HIDDEN TESTS"""

# nbgrader's flags for each role of a cell: grade, solution, locked.
_FLAGS = {
    "given": (False, False, True),
    "solution": (False, True, False),
    "check": (True, False, True),
    "manual": (True, True, False),
}


def build(
    root: Path, stems: tuple[str, ...] = LABS + READINGS, check: bool = True
) -> Iterator[Path]:
    """Build every text and yield each file as it is written.

    Parameters
    ----------
    root : the course's folder
    stems : which labs and readings
    check : whether to try every wrong answer and every variant first (see `grader.gate`)

    Raises
    ------
    CourseError : when a text or its cases do not hold together; nothing is written for that text
    """
    for stem in stems:
        path = root / "course" / f"{stem}.py"
        if stem in READINGS:
            made = notebook(read_reading(path))
            yield _write(root / "notebooks" / f"{stem}.ipynb", nbformat.writes(made) + "\n")
            continue
        lab = read_lab(path)
        _check_cases(lab)
        for slip in slips(lab, beside=False) if check else ():
            raise slip
        target = root / "source" / stem / f"{stem}.ipynb"
        yield _write(target, nbformat.writes(notebook(lab)) + "\n")
        sheets = [visible_sheet(cell.name) for cell in lab.of_role("check")]
        yield _write(root / "attnlab" / "visible" / f"{stem}.json", dumps(sheets))


def files_made_of(stems: tuple[str, ...]) -> int:
    """Count the files that `build` makes."""
    return sum(1 if stem in READINGS else 2 for stem in stems)


def notebook(text: Text, language: str = "en") -> nbformat.NotebookNode:
    """Make a text's notebook in one language; a lab's has its answers and hidden parts."""
    cells = [
        _cell(cell, grade_id, place)
        for place, (cell, grade_id) in enumerate(zip(text.cells, _grade_ids(text), strict=True))
        if cell.markers.get("lang", language) == language
    ]
    made: nbformat.NotebookNode = nbformat.v4.new_notebook(cells=cells, metadata=_metadata(text))
    nbformat.validate(made)
    return made


def _metadata(text: Text) -> dict[str, Any]:
    return {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python", "file_extension": ".py"},
        "made_from": f"course/{text.path.name} by `python -m grader build`; do not edit",
    }


def _cell(cell: Cell, grade_id: str, place: int) -> nbformat.NotebookNode:
    source = cell.source
    if cell.role == "check":
        source += HIDDEN.format(name=cell.name)
    make: Any = nbformat.v4.new_code_cell if cell.kind == "code" else nbformat.v4.new_markdown_cell
    made: nbformat.NotebookNode = make(source, id=grade_id or f"cell{place:02d}", metadata={})
    if cell.role:
        grade, solution, locked = _FLAGS[cell.role]
        made.metadata["nbgrader"] = {
            "grade_id": grade_id,
            "grade": grade,
            "solution": solution,
            "locked": locked,
            "task": False,
            "schema_version": 3,
        }
        if grade:
            made.metadata["nbgrader"]["points"] = float(cell.markers["points"])
    return made


def _grade_ids(text: Text) -> Iterator[str]:
    """Name each cell for nbgrader; "" for cells of no role.

    Names do not depend on prose, so that hand-ins of an earlier release still fit after a
    sentence has been added.
    """
    given = count(1)
    for cell in text.cells:
        if cell.role == "given":
            yield f"given_{next(given)}"
        else:
            yield f"check_{cell.name}" if cell.role == "check" else cell.name


def _check_cases(lab: Lab) -> None:
    """Stop when what the text promises and what the cases are worth differ."""
    known = {exercise.name: exercise for exercise in exercises(lab.stem)}
    for cell in lab.of_role("check"):
        points = cell.markers["points"]
        if cell.name not in known:
            raise CourseError(lab.path, cell.line, f"check of {cell.name!r} has no cases")
        if not has_reference(cell.name):
            raise CourseError(lab.path, cell.line, f"{cell.name!r} has no reference")
        if points != known[cell.name].points:
            reason = f"{points:g} points here, {known[cell.name].points:g} in the cases' file"
            raise CourseError(lab.path, cell.line, f"{cell.name!r} is worth {reason}")
        cases = cases_of_exercise(cell.name, PUBLIC_SEED)
        for case in cases:
            if reason := _complaint_about(case):
                raise CourseError(
                    lab.path, cell.line, f"case {case.name!r} of {cell.name!r} {reason}"
                )
        total = sum(case.points for case in cases)
        if total != points:
            reason = f"cases of {cell.name!r} add up to {total:g} points, not {points:g}"
            raise CourseError(lab.path, cell.line, reason)
        if f'check("{cell.name}", {cell.name})' not in cell.source:
            reason = f'the cell does not call check("{cell.name}", {cell.name})'
            raise CourseError(lab.path, cell.line, reason)
    unused = set(known) - {cell.name for cell in lab.of_role("check")}
    if unused:
        raise CourseError(lab.path, 1, f"no check cell for {min(unused)!r}")


def _complaint_about(case: Case) -> str:
    """Say what is wrong with how a case is written down; empty when nothing is."""
    if case.points % 0.25:
        return "is worth no multiple of 0.25 points"
    for what, value, known in (
        ("topic", case.topic or next(iter(TOPICS)), TOPICS),
        ("probe", case.probe, PROBES),
        ("measure", case.measure, MEASURES),
    ):
        if value not in known:
            return f"has a {what} {value!r}; known are {', '.join(known)}"
    return ""


def _write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path
