"""Every wrong answer is caught, named and contained; every right one keeps full marks."""

from __future__ import annotations

import pkgutil
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import attnlab
from attnlab import wire
from attnlab.encode import Sheet
from attnlab.exercise import Case, Mistake
from attnlab.judge import judge, quantities
from attnlab.layers import LAYERS
from attnlab.run import Limits, Record, _child, _confine, hear, run_case, write_record
from grader import catalogue
from grader.catalogue import LABS, Specimen, exercises
from grader.gate import answered, slips
from grader.mark import grade
from grader.markers import Lab, read_lab
from grader.sheets import PUBLIC_SEED, cases_of_exercise, course_seed, sheet, visible_sheet
from tests.conftest import ROOT

SEEDS = (PUBLIC_SEED, "a sentence only you know")
Plant = Callable[[str, str, Callable[..., Any]], None]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("stem", LABS)
def test_nothing_slips_through(stem: str, seed: str) -> None:
    lab = read_lab(ROOT / "course" / f"{stem}.py")
    assert [str(slip) for slip in slips(lab, seed, beside=seed == PUBLIC_SEED)] == []


ALL = [(lab, exercise.name) for lab in LABS for exercise in exercises(lab)]


@pytest.mark.parametrize(("stem", "name"), ALL)
def test_cases_hold_what_the_course_promises(stem: str, name: str) -> None:
    made = sheet(name, "any", False)
    worth = {case.points for case in made.cases}
    assert all(points % 0.25 == 0 for points in worth)
    visible = sum(case.points for case in made.cases if case.visible)
    assert visible > 0
    batch = sum(case.points for case in made.cases if case.topic == "batch")
    assert batch <= made.exercise.points / 5


@pytest.mark.parametrize(("stem", "name"), ALL)
def test_visible_cases_are_the_same_for_every_seed_and_kept_ones_are_not(
    stem: str, name: str
) -> None:
    def written(cases: Sequence[Case], visible: bool) -> list[str]:
        return [repr(c) for c in cases if c.visible is visible]

    one, two, again = (cases_of_exercise(name, seed) for seed in ("one", "two", "one"))
    assert written(one, True) == written(two, True)
    kept = written(one, False)
    if any("array" in text for text in kept):
        assert kept != written(two, False)
    assert written(again, False) == kept


def weights_of(name: str, seed: str) -> list[np.ndarray]:
    made = sheet(name, seed, False)
    return [
        key.expected["weights"]
        for case, key in zip(made.cases, made.keys, strict=True)
        if case.points and "weights" in key.expected and not case.topic
    ]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("name", ["attention", "multi_head_attention"])
def test_no_weight_row_hides_a_wrong_formula_behind_a_single_choice(name: str, seed: str) -> None:
    for weights in weights_of(name, seed):
        assert weights.max() < 0.8


def test_the_gate_notices_a_wrong_answer_that_earns_full_marks(plant: Plant, sound: Lab) -> None:
    plant("_wrong", "scores", scores_fine)
    assert any("earns full marks" in str(slip) for slip in slips(sound))


def test_the_gate_notices_a_right_answer_that_loses_marks(plant: Plant, sound: Lab) -> None:
    plant("_right", "scores", scores_broken)
    assert any("is right but loses marks" in str(slip) for slip in slips(sound))


def test_the_gate_notices_a_wrong_answer_under_another_name(plant: Plant, sound: Lab) -> None:
    plant("_wrong", "scores", scores_twice)
    assert any("is graded as" in str(slip) for slip in slips(sound))


@pytest.fixture
def sound() -> Lab:
    return read_lab(ROOT / "course" / "lab00_qkv.py")


@pytest.fixture
def plant(monkeypatch: pytest.MonkeyPatch) -> Iterator[Plant]:
    """Put a specimen in the place of all others; sheets made with it are forgotten afterwards."""

    def plant(shelf: str, name: str, answer: Callable[..., Any]) -> None:
        specimen = Specimen(name, Mistake("planted by a test", "a hint of some length"), answer)
        monkeypatch.setattr(catalogue, shelf, {name: [specimen]})

    exercises()
    forget_sheets()
    yield plant
    monkeypatch.undo()
    forget_sheets()
    catalogue._load.cache_clear()
    catalogue._load()


def forget_sheets() -> None:
    sheet.cache_clear()
    visible_sheet.cache_clear()


def scores_fine(q, k):  # type: ignore[no-untyped-def]
    return np.einsum("...td,...sd->...ts", q, k)


def scores_broken(q, k):  # type: ignore[no-untyped-def]
    return q @ np.swapaxes(k, -1, -2) + 1


def scores_twice(q, k):  # type: ignore[no-untyped-def]
    return None


def test_a_specimen_of_no_exercise_is_noticed(plant: Plant) -> None:
    plant("_wrong", "skores", scores_fine)
    catalogue._load.cache_clear()
    with pytest.raises(ValueError, match=r"test_gate.py:\d+: there is no exercise called 'skores'"):
        exercises()


def test_slips_say_where_the_specimen_is_written(plant: Plant, sound: Lab) -> None:
    plant("_wrong", "scores", scores_fine)
    (slip, *_) = slips(sound)
    assert re.match(r".*test_gate.py:\d+: scores: 'planted by a test' earns full marks", str(slip))


def test_the_seed_is_the_courses_own_where_it_sets_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ATTENTION_LABS_SEED", raising=False)
    assert course_seed() == PUBLIC_SEED
    monkeypatch.setenv("ATTENTION_LABS_SEED", "secret")
    assert course_seed() == "secret"


def test_a_constant_answer_earns_nothing_where_true_and_false_are_asked_for() -> None:
    for constant in (True, False):
        assert grade("is_permutation_equivariant", lambda *_, c=constant: c, "x").score == 0


def test_the_callables_of_the_students_package_answer_no_exercise() -> None:
    """`attnlab` holds no answer in any form: nothing in it earns a point."""
    names = [module.name for module in pkgutil.iter_modules(attnlab.__path__)]
    values = [value for name in names for value in vars(import_module(f"attnlab.{name}")).values()]
    found = {
        f"{value.__module__}.{value.__qualname__}": value
        for value in values
        if callable(value) and getattr(value, "__module__", "").startswith("attnlab.")
    }
    found |= {f"layer {name}": layer.forward for name, layer in LAYERS.items()}
    found |= {f"mix of {name}": layer.mix for name, layer in LAYERS.items()}
    assert len(found) > 40
    firsts = []  # an answer would pass the first case
    for exercise in exercises():
        part = visible_sheet(exercise.name)
        firsts.append(replace(part, cases=part.cases[:1], keys=part.keys[:1]))
    for what, candidate in found.items():
        for part, record in zip(firsts, tried_on_all(candidate, firsts), strict=True):
            report = judge(part.exercise, part.cases, part.keys, (), [record])
            assert report.score == 0, (part.exercise.name, what)


def tried_on_all(candidate: Callable[..., Any], parts: Sequence[Sheet]) -> list[Record]:
    """Run the first case of every exercise, in as few processes as the candidate leaves alive."""
    limits = Limits(case_seconds=0.5)
    records: list[Record] = []
    while len(records) < len(parts):
        rest = parts[len(records) :]

        def work(pipe: int, rest: Sequence[Sheet] = rest) -> None:
            _confine(limits, pipe)
            for number, part in enumerate(rest):
                record = run_case(candidate, part.exercise, part.cases[0])
                wire.send(pipe, wire.pack(write_record(record, number)))

        with _child(work) as pipe:
            deadline = time.monotonic() + limits.seconds
            records += hear(wire.Reader(pipe), len(rest), limits.case_seconds, deadline)
    return records


def test_the_answers_agree_with_the_reference_to_twelve_digits(lab: Lab) -> None:
    namespace = answered(lab)
    for exercise in exercises(lab.stem):
        made = sheet(exercise.name, "any", False)
        for case, key in zip(made.cases, made.keys, strict=True):
            if case.bounds or case.raises:
                continue
            seen = quantities(case, run_case(namespace[exercise.name], exercise, case))
            assert isinstance(seen, dict)
            for name, value in key.expected.items():
                if name not in ("spread",) and case.probe != "draw_layer":
                    np.testing.assert_allclose(seen[name], value, rtol=1e-12, atol=1e-12)
