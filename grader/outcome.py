"""What grading one hand-in came to: the one thing that workers return and the gradebook keeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

GRADED = "graded"
REPAIRED = "graded after repair"
PARTLY = "partly graded"
UNREADABLE = "unreadable"
ABSENT = "absent"


@dataclass(frozen=True)
class Outcome:
    """What one student's hand-in of one lab came to.

    Parameters
    ----------
    student, lab : whose, and of which lab
    state : GRADED, REPAIRED, PARTLY, UNREADABLE or ABSENT
    why : what was repaired, which exercise stopped, or why it could not be read; in sentences
    points : exercise -> points; an exercise that could not be judged has 0
    mistakes : exercise -> the mistake named first; "" or left out when none was
    tampering : what the instructor may want to know about the hand-in; no mark depends on it
    unanswered : ids of the answer cells that are as they were released
    notebook : the marked copy as JSON text; empty when it could not be read
    hand_in : digest of what was handed in
    course : digest of everything it was marked with
    """

    student: str
    lab: str
    state: str
    why: str = ""
    points: Mapping[str, float] = field(default_factory=dict)
    mistakes: Mapping[str, str] = field(default_factory=dict)
    tampering: tuple[str, ...] = ()
    unanswered: frozenset[str] = frozenset()
    notebook: str = ""
    hand_in: str = ""
    course: str = ""
