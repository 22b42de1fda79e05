"""The judge says what is wrong, with values only where they may be seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from attnlab.exercise import Case, Exercise, Failure, Key, Mistake
from attnlab.judge import TOLERANCE, Report, judge, same
from attnlab.run import Record

EXERCISE = Exercise("double", "lab", 1, "double(x)", ("y",))
EXPECTED = np.array([[0.5, 1.25], [2.0, 4.0]])
SLIPS = (Mistake("added", "multiply"), Mistake("squared", "do not square"))


def verdict(record: Record, wrong: Any = None, **how: Any) -> Report:
    case = Case("a case", 1, {}, **how)
    return judge(EXERCISE, [case], [Key({"y": EXPECTED}, wrong or {})], SLIPS, [record])


def returned(y: Any, **more: Any) -> Record:
    return Record("returned", {"y": np.asarray(y)}, **more)


def message(record: Record, **how: Any) -> str:
    (only,) = verdict(record, **how).verdicts
    return only.message


def test_equal_values_pass_within_the_tolerance_only() -> None:
    assert verdict(returned(EXPECTED)).passed
    assert verdict(returned(EXPECTED.astype(np.float32))).passed
    assert verdict(returned(EXPECTED + 4 * TOLERANCE * 0.9)).passed
    assert not verdict(returned(EXPECTED + 4 * TOLERANCE * 1.1)).passed


def test_a_score_is_a_plain_float() -> None:
    assert type(verdict(returned(EXPECTED)).score) is float
    assert type(verdict(returned(EXPECTED * 2)).score) is float


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (returned(EXPECTED + np.array([[0, 0.5], [0, 0]])), "`y[0, 1]` is 1.75; wanted is 1.25"),
        (returned(EXPECTED[0]), "shape (2,); wanted is (2, 2)"),
        (returned(EXPECTED * np.nan), "nan"),
        (returned(EXPECTED * np.inf), "infinity"),
        (returned(EXPECTED * 1j), "complex"),
        (Record("returned", {"z": EXPECTED}), "`y` is missing"),
        (Record("timeout"), "never ends"),
        (Record("died"), "ended Python"),
        (Record("skipped"), "Not tried"),
        (Record("raised", error=("NotImplementedError", "")), "Not written yet."),
        (Record("raised", error=("MemoryError", "")), "more memory"),
        (Record("raised", error=("KeyError", "'a'")), "It raised KeyError: 'a'."),
        (
            Record("raised", error=("TypeError", "Layer.__init__() got an unexpected argument")),
            "cannot be made as `double(x)`",
        ),
        (
            Record(
                "raised",
                error=("ValueError", "its core dimension (size 4 is different from 5)"),
            ),
            "Here 5 meets 4",
        ),
        (Record("unusable", error=("", "It returns nothing.")), "It returns nothing."),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence_or_two(record: Record, words: str) -> None:
    assert words in message(record)


SECRET = "0.987654"


@pytest.mark.parametrize(
    "record",
    [
        returned(EXPECTED + float(SECRET)),
        returned(np.full((7, 3), float(SECRET))),
        Record("raised", error=("ValueError", f"x was {SECRET}")),
        Record("raised", error=("TypeError", f"f() argument {SECRET}")),
        Record("raised", error=(f"[{SECRET}]", "a name can carry a value too")),
        Record("unusable", error=("", f"`y` is {SECRET}")),
        Record("returned", {"y": EXPECTED}, changed=("x",), printed=SECRET),
    ],
)
def test_a_kept_back_case_quotes_nothing(record: Record) -> None:
    for how in ({}, {"untouched": True}, {"raises": (123, 456)}, {"bounds": {"y": (1.0, 2.0)}}):
        (only,) = verdict(record, visible=False, **how).verdicts
        for quoted in (SECRET, "0.5", "1.25", "(7, 3)", "(2, 2)", "123", "456"):
            assert quoted not in only.message


def test_a_warning_is_quoted_where_values_may_be_seen() -> None:
    record = returned(EXPECTED * np.nan, warned=("overflow encountered in exp",))
    assert message(record).endswith("It warned: overflow encountered in exp.")
    assert "warned" not in message(record, visible=False)
    assert message(returned(EXPECTED * 2, warned=("", "\n"))).endswith(".")
    assert verdict(returned(EXPECTED, warned=("careful",))).passed


def test_an_argument_that_was_changed_costs_the_case_that_asks_for_it() -> None:
    record = returned(EXPECTED, changed=("x",))
    assert verdict(record).passed
    assert "`x`" in message(record, untouched=True)


def test_numbers_for_booleans_cost_the_case_that_asks_for_them() -> None:
    case = Case("a case", 1, {})
    strict = Case("a case", 1, {}, boolean=True)
    key = Key({"y": np.array([True, False])}, {})
    numbers = returned([1.0, 0.0])
    assert judge(EXERCISE, [case], [key], (), [numbers]).passed
    assert not judge(EXERCISE, [strict], [key], (), [numbers]).passed
    assert judge(EXERCISE, [strict], [key], (), [returned([True, False])]).passed


@pytest.mark.parametrize(
    ("error", "value_error", "passes"),
    [
        (("ValueError", "10 is not divisible by 3"), True, True),
        (("Mine", "d_model=10, n_heads=3"), True, True),
        (("AssertionError", "10 and 3"), False, False),
        (("ValueError", "cannot reshape array of size 100 into shape (2,5,3,3)"), True, False),
        (("ValueError", ""), True, False),
    ],
)
def test_a_refusal_is_the_learners_own_and_names_both_numbers(
    error: tuple[str, str], value_error: bool, passes: bool
) -> None:
    record = Record("raised", error=error, value_error=value_error)
    assert verdict(record, raises=(10, 3)).passed is passes


def test_returning_where_a_refusal_is_wanted_is_said() -> None:
    assert "names 10 and 3" in message(returned(EXPECTED), raises=(10, 3))


def test_bounds_accept_all_between_them() -> None:
    bounds = {"y": (3.0, 5.0)}
    key = Key({"y": np.array(4.0)}, {})
    case = Case("a case", 1, {}, bounds=bounds)
    for value, passes in ((3.1, True), (4.9, True), (5.1, False), (np.nan, False)):
        assert judge(EXERCISE, [case], [key], (), [returned(value)]).passed is passes


def test_a_known_wrong_value_is_named_and_an_unknown_one_is_not() -> None:
    wrong = {0: {"y": EXPECTED + 2}, 1: {"y": EXPECTED**2}}
    assert [m.name for m in verdict(returned(EXPECTED**2), wrong).mistakes] == ["squared"]
    assert verdict(returned(EXPECTED * 7), wrong).mistakes == ()
    assert verdict(returned(EXPECTED), wrong).mistakes == ()


def test_the_mistake_that_explains_every_case_is_believed() -> None:
    cases = [Case(f"case {i}", 1, {}) for i in range(2)]
    keys = [
        Key({"y": np.array(2.0)}, {0: {"y": np.array(4.0)}, 1: {"y": np.array(4.0)}}),
        Key({"y": np.array(6.0)}, {0: {"y": np.array(5.0)}, 1: {"y": np.array(9.0)}}),
    ]
    report = judge(EXERCISE, cases, keys, SLIPS, [returned(4.0), returned(9.0)])
    assert [v.mistake.name for v in report.verdicts if v.mistake] == ["squared", "squared"]


def test_an_error_names_a_mistake_only_when_nothing_speaks_against_it() -> None:
    cases = [Case(f"case {i}", 1, {}) for i in range(2)]
    slip = Failure("ValueError", "inner sizes")
    keys = [
        Key({"y": np.array(2.0)}, {0: slip, 1: {"y": np.array(4.0)}}),
        Key({"y": np.array(6.0)}, {0: slip}),
    ]
    error = Record("raised", error=("ValueError", "mismatch in its core dimension"))
    both = judge(EXERCISE, cases, keys, SLIPS, [error, error])
    assert [m.name for m in both.mistakes] == ["added"]
    one = judge(EXERCISE, cases, keys, SLIPS, [error, returned(6.0)])
    assert one.mistakes == ()


def test_what_only_a_clue_shows_is_not_held_against_a_right_answer() -> None:
    cases = [Case("plain", 1, {}), Case("clue", 0, {})]
    keys = [Key({"y": EXPECTED}, {}), Key({"y": EXPECTED}, {0: {"y": EXPECTED + 2}})]
    report = judge(EXERCISE, cases, keys, SLIPS, [returned(EXPECTED), returned(EXPECTED + 2)])
    assert report.passed
    assert report.mistakes == ()


def test_what_could_be_equal_by_chance_names_nothing_that_a_case_speaks_against() -> None:
    cases = [Case(f"case {i}", 1, {}) for i in range(2)]
    for value, named in ((np.array(True), []), (np.arange(3.0), ["added"])):
        keys = [
            Key({"y": np.zeros(value.shape)}, {0: {"y": value}}),
            Key({"y": np.array(6.0)}, {0: {"y": np.array(5.0)}}),
        ]
        report = judge(EXERCISE, cases, keys, SLIPS, [returned(value), returned(6.0)])
        assert [mistake.name for mistake in report.mistakes] == named


def test_properties_and_shapes_are_said_in_words() -> None:
    key = Key({"seed_matters": np.array(True), "w_q_shape": np.array([3, 2])}, {})
    said = []
    for name, got in (("seed_matters", np.array(False)), ("w_q_shape", np.array([2, 3]))):
        record = Record("returned", {name: got})
        report = judge(EXERCISE, [Case("a", 1, {}, compare=(name,))], [key], (), [record])
        said.append(report.verdicts[0].message)
    assert said == [
        "Another seed should give other weights.",
        "`w_q` has shape (2, 3); wanted is (3, 2).",
    ]


def test_a_failure_in_a_batch_alone_is_explained() -> None:
    cases = [Case("plain", 1, {}), Case("batch", 1, {}, topic="batch")]
    keys = [Key({"y": EXPECTED}, {})] * 2
    report = judge(EXERCISE, cases, keys, (), [returned(EXPECTED), Record("raised")])
    assert "one sentence, but not for a batch" in report.verdicts[1].message
    report = judge(EXERCISE, cases, keys, (), [Record("raised"), Record("raised")])
    assert "one sentence" not in report.verdicts[1].message


def test_clues_are_worth_nothing_and_not_shown() -> None:
    report = judge(
        EXERCISE, [Case("clue", 0, {})], [Key({"y": EXPECTED}, {})], (), [Record("died")]
    )
    assert report.verdicts == ()
    assert report.score == 0


numbers = arrays(np.float64, (3,), elements=st.floats(-1e3, 1e3))


@given(numbers, numbers)
def test_same_is_no_wider_than_its_tolerance(a: np.ndarray, b: np.ndarray) -> None:
    gap = np.abs(a - b).max()
    size = max(1.0, np.abs(b).max())
    if gap > 1.01 * TOLERANCE * size:
        assert not same(a, b)
    if gap < 0.99 * TOLERANCE * size:
        assert same(a, b)


@given(numbers)
def test_equal_arrays_are_the_same_whatever_stands_beside(a: np.ndarray) -> None:
    with_specials = np.concatenate([a, [np.inf, -np.inf, np.nan]])
    assert same(with_specials, with_specials.copy())
    assert not same(with_specials, np.concatenate([a, [-np.inf, np.inf, np.nan]]))
