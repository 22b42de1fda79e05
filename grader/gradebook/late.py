"""How late a hand-in is and what that costs, by nbgrader's own rules and the course's settings."""

from __future__ import annotations

from typing import Any

from nbgrader.preprocessors import AssignLatePenalties

from grader.gradebook.rows import StudentRows


class Lateness:
    """The course's penalty for late hand-ins.

    Parameters
    ----------
    api : nbgrader's interface; its configuration names the plugin and how it works
    """

    def __init__(self, api: Any) -> None:
        self._rules = AssignLatePenalties(parent=api)
        self._rules.init_plugin()

    def penalty(self, db: Any, student: str, rows: StudentRows) -> float | None:
        """Work out what being late costs a student; None when it costs nothing."""
        late = seconds_late(rows.submission)
        if late <= 0:
            return None
        db.flush()  # the database adds the score up, extra credit included
        penalty = self._rules.plugin_inst.late_submission_penalty(
            student, rows.notebook.score, late
        )
        if penalty is None:
            return None
        return float(self._rules._check_late_penalty(rows.notebook, penalty))


def seconds_late(submission: Any) -> float:
    """Say by how many seconds a hand-in came after its due date and extension."""
    if submission.timestamp is None or submission.assignment.duedate is None:
        return 0.0  # nbgrader cannot add an extension to no due date
    return float(submission.total_seconds_late)
