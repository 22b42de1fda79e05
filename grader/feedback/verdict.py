"""Find the grader's table of an exercise in its graded cell, and nowhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from grader.feedback.safe import of_grader
from grader.feedback.text import short_paths
from grader.mark import SUMMARY

LARGEST = 2_000_000  # characters
NOT_WRITTEN = "Not written yet."  # as attnlab.errors says of an untouched stub


@dataclass(frozen=True)
class Verdict:
    """What the grader said of one exercise."""

    table: Markup
    mistake: str = ""
    not_written: bool = False


def find_verdict(grade_id: str, outputs: Sequence[Mapping[str, Any]]) -> Verdict | None:
    """Read the table that the grader wrote into a graded cell.

    It is the last one there under the cell's own exercise, since the grader writes after any
    code of the student's has run.
    """
    for output in reversed(outputs):
        summary = (output.get("metadata") or {}).get(SUMMARY)
        html = (output.get("data") or {}).get("text/html")
        if (
            output.get("output_type") == "display_data"
            and isinstance(summary, Mapping)
            and grade_id == f"check_{summary.get('exercise')}"
            and isinstance(html, str)
            and len(html) < LARGEST
        ):
            mistakes = summary.get("mistakes") or [""]
            return Verdict(of_grader(short_paths(html)), str(mistakes[0]), NOT_WRITTEN in html)
    return None
