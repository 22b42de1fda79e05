"""Make the answer sheet of an exercise: its cases, what each should give, and what
the known mistakes give instead."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from typing import Any

import numpy as np

from attnlab.encode import Sheet
from attnlab.exercise import Case, Exercise, Failure, Key, Quantities
from attnlab.judge import fault, quantities
from attnlab.run import run_case
from grader.catalogue import entry, exercises, reference, wrong_answers

PUBLIC_SEED = "attention-labs"
MOST_SHEETS = 64  # kept at a time; with a seed for each student there would be ever more
SEED_VARIABLE = "ATTENTION_LABS_SEED"


def course_seed() -> str:
    """Read the seed of the kept-back cases: the course's own, or the public default."""
    return os.environ.get(SEED_VARIABLE) or PUBLIC_SEED


def digest(*parts: str) -> str:
    """Mix texts into one that none of them can be read from."""
    return sha256("\n".join(parts).encode()).hexdigest()


@lru_cache(maxsize=MOST_SHEETS)
def sheet(name: str, seed: str = PUBLIC_SEED, with_mistakes: bool = True) -> Sheet:
    """Make the whole sheet of an exercise, kept-back cases included.

    Parameters
    ----------
    name : the exercise
    seed : what kept-back inputs are drawn from; visible ones are the same for every seed
    with_mistakes : whether to work out what the known mistakes give
    """
    cases = cases_of_exercise(name, seed)
    return _sheet(entry(name).exercise, cases, with_mistakes, kept_back=0.0)


def cases_of_exercise(name: str, seed: str) -> tuple[Case, ...]:
    """Make the cases of an exercise, the kept-back ones from a seed."""
    rng = np.random.default_rng(list(bytes.fromhex(digest(seed, name))))
    return tuple(entry(name).make_cases(rng))


@cache
def visible_sheet(name: str) -> Sheet:
    """Make the part of a sheet that learners have."""
    whole = sheet(name, with_mistakes=False)
    cases = tuple(case for case in whole.cases if case.visible)
    kept_back = sum(case.points for case in whole.cases if not case.visible)
    return _sheet(whole.exercise, cases, True, kept_back)


def given_for(name: str) -> dict[str, Callable[..., Any]]:
    """List the reference versions that stand in for the exercises before one in its lab."""
    names = [exercise.name for exercise in exercises(entry(name).exercise.lab)]
    return {other: reference(other) for other in names[: names.index(name)]}


def _sheet(
    exercise: Exercise, cases: Sequence[Case], with_mistakes: bool, kept_back: float
) -> Sheet:
    right = reference(exercise.name)
    found = wrong_answers([exercise.name]) if with_mistakes else []
    keys = []
    for case in cases:
        expected = _expected(exercise, case, right)
        wrong = {
            number: given
            for number, specimen in enumerate(found)
            if (given := _given_instead(exercise, case, Key(expected, {}), specimen.answer))
            is not None
        }
        keys.append(Key(expected, wrong))
    mistakes = tuple(specimen.mistake for specimen in found)
    return Sheet(exercise, tuple(cases), tuple(keys), mistakes, kept_back)


def _expected(exercise: Exercise, case: Case, right: Callable[..., Any]) -> Quantities:
    record = run_case(right, exercise, case)
    if case.raises:
        return {}
    seen = quantities(case, record)
    if seen is None or isinstance(seen, Failure):
        raise RuntimeError(
            f"the reference of {exercise.name} fails on {case.name!r}: {record.error}"
        )
    return seen


def _given_instead(
    exercise: Exercise, case: Case, key: Key, answer: Callable[..., Any]
) -> Quantities | Failure | None:
    """What a wrong answer gives on a case; None where it is right."""
    record = run_case(answer, exercise, case)
    seen = quantities(case, record)
    if not fault(exercise, case, key, record, seen):
        return None
    if seen is None or isinstance(seen, Failure):
        return seen
    counted = case.compare or tuple(seen)
    return {name: value for name, value in seen.items() if name in counted}
