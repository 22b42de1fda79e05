"""`mark`: what stands in the hidden part of every graded cell.

It grades one exercise on every case, visible and kept back, and gives the points as a plain
float, which nbgrader reads as the cell's score.
"""

from __future__ import annotations

from collections.abc import Callable
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
    summary = {"exercise": name, "mistakes": [mistake.name for mistake in report.mistakes]}
    display(Shown(report, graded=True), metadata={SUMMARY: summary})
    return report.score


def grade(name: str, answer: Callable[..., Any], seed: str) -> Report:
    """Grade an answer on all cases drawn from a seed."""
    cases = sheet(name, seed, with_mistakes=False)
    complaint = why_not_an_answer(answer, cases)
    if complaint:
        records = [Record("unusable", error=("", complaint))] * len(cases.cases)
    else:
        records = run(answer, cases.exercise, cases.cases, given=given_for(name))
    report = judge(cases.exercise, cases.cases, cases.keys, (), records)
    if report.passed:
        return report
    known = sheet(name, seed)
    return judge(known.exercise, known.cases, known.keys, known.mistakes, records)
