"""`mark`: what stands in the hidden part of every graded cell.

It grades one exercise on every case, visible and kept back, and gives the points as a plain
float, which nbgrader reads as the cell's score.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from IPython.display import display

from attnlab.judge import Report, judge
from attnlab.run import Record, run
from attnlab.self_check import why_not_an_answer
from attnlab.show import Shown
from grader.sheets import course_seed, given_for, sheet

SUMMARY = "attnlab"  # where an output's metadata says in short what the table says


def mark(name: str, answer: Callable[..., Any]) -> float:
    """Grade an answer, show the table, and return the points earned.

    Parameters
    ----------
    name : the exercise
    answer : the learner's function or class

    Returns
    -------
    a float between 0 and the exercise's points
    """
    report = grade(name, answer, course_seed())
    display(Shown(report, graded=True), metadata=summary(report))
    return report.score


def summary(report: Report) -> dict[str, Any]:
    """Say in short what a report says, for those who read marked notebooks by program."""
    mistakes = [mistake.name for mistake in report.mistakes]
    return {SUMMARY: {"exercise": report.exercise.name, "mistakes": mistakes}}


def grade(name: str, answer: Callable[..., Any], seed: str) -> Report:
    """Grade an answer on all cases drawn from a seed."""
    whole = sheet(name, seed, with_mistakes=False)
    complaint = why_not_an_answer(answer, whole.exercise, whole.cases)
    if complaint:
        records = [Record("no answer", error=("", complaint))] * len(whole.cases)
    else:
        records = run(answer, whole.exercise, whole.cases, given=given_for(name))
    return judge_all(name, seed, records)


def judge_all(name: str, seed: str, records: Sequence[Record]) -> Report:
    """Judge what an answer did on all cases drawn from a seed."""
    whole = sheet(name, seed, with_mistakes=False)
    report = judge(whole.exercise, whole.cases, whole.keys, (), records)
    if report.passed:
        return report
    known = sheet(name, seed)
    return judge(known.exercise, known.cases, known.keys, known.mistakes, records)
