"""Every mark of a class as one table, read back from the gradebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd
from nbgrader.api import Assignment, Grade, SubmittedAssignment, SubmittedNotebook
from sqlalchemy import select
from sqlalchemy.exc import DBAPIError

from grader.gradebook.database import PATIENCE, GradebookError, in_words, open_gradebook
from grader.gradebook.late import seconds_late
from grader.gradebook.parts import Part
from grader.gradebook.roster import roster, submitted_folder
from grader.gradebook.rows import LabRows, known_lab
from grader.gradebook.states import State, states_of
from grader.outcome import ABSENT, GRADED, REPAIRED

NOT_YET = "not graded yet"  # a hand-in is there, and no class run has come to it
BY_NBGRADER = "Marked by nbgrader's own autograde, which notes no state."

COLUMNS = (
    "lab",
    "student",
    "state",
    "why",
    "late",  # seconds
    "part",
    "points",  # as they count: set by hand before the grader's, extra credit added
    "of",
    "by_grader",
    "set_by_hand",
    "penalty",  # for being late; of the whole hand-in, and so the same in each of its rows
    "mistake",
    "tampering",
)
NUMBERS = ("late", "points", "of", "by_grader", "penalty")


def grades(api: Any, labs: Iterable[str] | None = None, patience: float = PATIENCE) -> pd.DataFrame:
    """Read the marks of every student on the roster.

    Parameters
    ----------
    api : nbgrader's interface, as `grader.nbgrader_api.course` opens it
    labs : which labs; those that somebody has handed in when left out
    patience : how many seconds to wait for a gradebook that another program is writing

    Returns
    -------
    a row for each lab, student and part, with the columns of COLUMNS. Points are missing, not 0,
    where nothing was handed in and where a written answer waits to be marked

    Raises
    ------
    GradebookError : when the gradebook cannot be read, or does not have one of the labs
    """
    gradebook = open_gradebook(api, patience)
    try:
        chosen = _handed_in(gradebook.db) if labs is None else list(labs)
        rows = [row for lab in chosen for row in _rows(api, gradebook, lab)]
    except DBAPIError as error:
        raise GradebookError(in_words(error)) from error
    finally:
        gradebook.close()
    # Also where nobody has points yet, missing ones are numbers (nan).
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype(dict.fromkeys(NUMBERS, float))


def exit_code(frame: pd.DataFrame) -> int:
    """Say 0 when every hand-in on the roster is graded, 1 when there is something to look at."""
    return 0 if len(frame) and set(frame.state) <= {GRADED, REPAIRED} else 1


def _handed_in(db: Any) -> list[str]:
    found = select(Assignment.name).join(
        SubmittedAssignment, SubmittedAssignment.assignment_id == Assignment.id
    )
    return sorted(set(db.scalars(found)))


def _rows(api: Any, gradebook: Any, lab: str) -> Iterator[dict[str, object]]:
    db = gradebook.db
    rows = known_lab(db, api, lab)
    marks = _marks(db, rows)
    states = states_of(db, lab)
    submissions = _submissions(db, rows)
    for student in roster(gradebook, api.coursedir, lab):
        known = states.get(student)
        folder = submitted_folder(api.coursedir, student, lab)
        about = (
            _about(known)
            if known
            else _without_state(rows, submissions.get(student), marks, student, folder.is_dir())
        )
        for cell, part in rows.parts.items():
            grade = marks.get((student, cell))
            yield {
                "lab": lab,
                "student": student,
                **about,
                **_part(part, grade),
                "mistake": known.mistakes.get(part.name, "") if known else "",
            }


def _about(state: State) -> dict[str, object]:
    return {
        "state": state.state,
        "why": state.why,
        "late": state.late,
        "tampering": state.tampering,
    }


def _without_state(
    rows: LabRows, submission: Any, marks: Mapping[Any, Any], student: str, handed_in: bool
) -> dict[str, object]:
    """Say of a student whom no class run has come to what the gradebook lets one say."""
    marked = all(
        (grade := marks.get((student, cell))) is not None and grade.auto_score is not None
        for cell, part in rows.parts.items()
        if part.automatic
    )
    none = {"why": "", "late": 0.0, "tampering": ""}
    if submission is not None and marked:
        late = seconds_late(submission)
        return {**none, "state": GRADED, "why": BY_NBGRADER, "late": late}
    return {**none, "state": NOT_YET if submission is not None or handed_in else ABSENT}


def _part(part: Part, grade: Any) -> dict[str, object]:
    auto, manual, extra, penalty = (
        (grade.auto_score, grade.manual_score, grade.extra_credit, grade.late_submission_penalty)
        if grade
        else (None, None, None, None)
    )
    points = auto if manual is None else manual
    return {
        "part": part.name,
        "points": None if points is None else points + (extra or 0.0),
        "of": part.points,
        "by_grader": auto,
        "set_by_hand": manual is not None,
        "penalty": penalty or 0.0,
    }


def _marks(db: Any, rows: LabRows) -> dict[tuple[str, str], Any]:
    found = db.execute(
        select(
            SubmittedAssignment.student_id,
            SubmittedNotebook.late_submission_penalty,
            Grade.cell_id,
            Grade.auto_score,
            Grade.manual_score,
            Grade.extra_credit,
        )
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
        .where(SubmittedNotebook.notebook_id == rows.notebook)
    )
    return {(row.student_id, row.cell_id): row for row in found}


def _submissions(db: Any, rows: LabRows) -> dict[str, Any]:
    found = select(SubmittedAssignment).where(SubmittedAssignment.assignment_id == rows.assignment)
    return {submission.student_id: submission for submission in db.scalars(found)}
