"""What came of each hand-in, in a table of ours beside nbgrader's.

nbgrader knows marks only. The table stands in the same database, so that a student's marks and
state are written in one commit. nbgrader and `nbgrader db upgrade` leave it alone. It refers to
no other table, so a student or a lab can be removed from the gradebook as before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import JSON, Column, DateTime, Float, MetaData, String, Table, Text
from sqlalchemy import delete as delete_rows
from sqlalchemy.engine import Engine

from grader.outcome import Outcome

TABLE = Table(
    "attnlab_state",
    MetaData(),
    Column("lab", String(128), primary_key=True),
    Column("student", String(255), primary_key=True),
    Column("state", String(32), nullable=False),
    Column("why", Text, nullable=False),
    Column("late", Float, nullable=False),
    Column("tampering", Text, nullable=False),
    Column("mistakes", JSON, nullable=False),
    Column("hand_in", String(128), nullable=False),
    Column("course", String(128), nullable=False),
    Column("graded_at", DateTime, nullable=False),
)


@dataclass(frozen=True)
class State:
    """What came of one student's hand-in of one lab.

    Parameters
    ----------
    lab, student, state, why, mistakes, hand_in, course : as in `grader.outcome.Outcome`
    late : by how many seconds it came after its due date and extension
    tampering : what the instructor may want to know, one remark per line
    graded_at : when, in UTC
    """

    lab: str
    student: str
    state: str
    why: str
    late: float
    tampering: str
    hand_in: str
    course: str
    graded_at: datetime
    mistakes: Mapping[str, str] = field(default_factory=dict)


def from_outcome(outcome: Outcome, late: float) -> State:
    """Make the state that is kept of an outcome."""
    return State(
        lab=outcome.lab,
        student=storable(outcome.student),
        state=outcome.state,
        why=storable(outcome.why),
        late=late,
        tampering=storable("\n".join(outcome.tampering)),
        mistakes={storable(k): storable(v) for k, v in outcome.mistakes.items() if v},
        hand_in=outcome.hand_in,
        course=outcome.course,
        graded_at=datetime.now(UTC).replace(tzinfo=None, microsecond=0),
    )


def storable(text: str) -> str:
    """Replace what no database can hold: PostgreSQL no NUL, none a lone surrogate."""
    return text.encode("utf-8", errors="replace").decode("utf-8").replace("\0", "\ufffd")


def create_table(engine: Engine) -> None:
    """Create the table if it is not there."""
    TABLE.create(engine, checkfirst=True)


def state_of(db: Any, lab: str, student: str) -> State | None:
    """Read one student's state; None when there is none."""
    found = db.execute(TABLE.select().where(_of(lab, student))).one_or_none()
    return State(**found._mapping) if found else None


def states_of(db: Any, lab: str) -> dict[str, State]:
    """Read the states of all students of a lab."""
    rows = db.execute(TABLE.select().where(TABLE.c.lab == lab))
    return {row.student: State(**row._mapping) for row in rows}


def put(db: Any, state: State) -> None:
    """Write a state whose place `forget` has emptied."""
    db.execute(TABLE.insert().values(vars(state)))


def forget(db: Any, lab: str, student: str) -> None:
    """Remove one student's state, if there is one."""
    db.execute(delete_rows(TABLE).where(_of(lab, student)))


def _of(lab: str, student: str) -> Any:
    return (TABLE.c.lab == lab) & (TABLE.c.student == student)
