"""Whatever an answer does, it costs its own case at most, and the process goes on."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import struct
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from attnlab.exercise import Case, Exercise, Layer, Rng
from attnlab.run import Limits, Record, run
from tests.conftest import ROOT

DOUBLE = Exercise("double", "lab", 1, "double(x)", ("y",))
PAIR = Exercise("pair", "lab", 1, "pair(x)", ("a", "b"))
LIMITS = Limits(case_seconds=0.5, seconds=4.0, memory=1 << 28)

needs_fork = pytest.mark.skipif(sys.platform != "linux", reason="cases are forked on Linux only")


def one(answer: Callable[..., Any], exercise: Exercise = DOUBLE, **inputs: Any) -> Record:
    case = Case("a case", 1, inputs or {"x": np.arange(3.0)})
    (record,) = run(answer, exercise, [case], limits=LIMITS)
    return record


def test_a_result_comes_back_as_plain_arrays() -> None:
    record = one(lambda x: 2 * x)
    assert record.outcome == "returned"
    np.testing.assert_array_equal(record.arrays["y"], [0, 2, 4])
    assert type(record.arrays["y"]) is np.ndarray


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ([[1, 2], [3, 4]], np.int64),
        ((1.0, 2.0), np.float64),
        (np.float32(0.5), np.float64),
        (np.True_, np.bool_),
        ([[Fraction(1, 4), Fraction(3, 4)]], np.float64),
        (np.zeros(2).view(np.recarray), np.float64),
        (np.ma.masked_array([1.0, 2.0], mask=[False, True]), np.float64),
        (range(3), np.int64),
    ],
)
def test_anything_like_an_array_is_read_as_one(value: object, dtype: type) -> None:
    record = one(lambda x: value)
    assert record.outcome == "returned"
    assert record.arrays["y"].dtype == dtype


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (None, "nothing"),
        ("text", "text"),
        ([[1, 2], [3]], "no array"),
        (object(), "no array"),
        ({"a": 1}, "no array"),
        (np.zeros(10_000_000), "too large"),
        ((np.zeros(2), np.zeros(3)), "2 things"),
        (np.array("2020-01-01", dtype="datetime64[D]"), "no numbers"),
    ],
)
def test_what_cannot_be_read_is_said_in_words(value: object, word: str) -> None:
    record = one(lambda x: value)
    assert record.outcome == "unusable"
    assert word in record.error[1]


@pytest.mark.parametrize("value", [1.0, (1, 2, 3), [np.zeros(2)], None])
def test_the_number_of_results_is_counted(value: object) -> None:
    assert one(lambda x: value, PAIR).outcome == "unusable"


def test_two_results_may_come_in_a_list() -> None:
    record = one(lambda x: [x, x + 1], PAIR)
    assert set(record.arrays) == {"a", "b"}


@needs_fork
@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (lambda x: os._exit(0), "died"),
        (lambda x: os.kill(os.getpid(), 9), "died"),
        (lambda x: os.kill(os.getpid(), 11), "died"),
        (lambda x: sys.exit(0), "raised"),
        (lambda x: time.sleep(60), "timeout"),
        (lambda x: [None for _ in iter(int, 1)], "timeout"),
        (lambda x: np.ones(1 << 33), "raised"),
        (lambda x: bytearray(1 << 33), "raised"),
        (lambda x: input("?"), "raised"),
    ],
)
def test_one_bad_case_costs_itself_only(answer: Callable[..., Any], outcome: str) -> None:
    def now_and_then(x: np.ndarray) -> Any:
        return answer(x) if x[0] == 1 else x

    cases = [Case(f"case {i}", 1, {"x": np.array([float(i == 2)])}) for i in range(4)]
    outcomes = [record.outcome for record in run(now_and_then, DOUBLE, cases, limits=LIMITS)]
    assert outcomes == ["returned", "returned", outcome, "returned"]


@needs_fork
def test_loops_everywhere_end_within_the_exercise_time() -> None:
    def loop(x: np.ndarray) -> None:
        while True:
            pass

    cases = [Case(f"case {i}", 1, {"x": np.zeros(1)}) for i in range(30)]
    start = time.monotonic()
    outcomes = [record.outcome for record in run(loop, DOUBLE, cases, limits=LIMITS)]
    assert time.monotonic() - start < LIMITS.seconds + 2
    assert outcomes[0] == "timeout"
    assert outcomes[-1] == "skipped"


@needs_fork
def test_a_loop_that_swallows_interrupts_is_ended() -> None:
    def stubborn(x: np.ndarray) -> None:
        while True:
            try:
                time.sleep(1)
            except BaseException:
                continue

    assert one(stubborn).outcome == "timeout"


@needs_fork
def test_nothing_an_answer_starts_outlives_it(tmp_path: Any) -> None:
    mark = tmp_path / "alive"

    def spawn(x: np.ndarray) -> np.ndarray:
        if os.fork() == 0:
            time.sleep(1.0)
            mark.write_text("still here")
            os._exit(0)
        return x

    assert one(spawn).outcome == "returned"
    time.sleep(1.5)
    assert not mark.exists()


@needs_fork
def test_what_an_answer_changes_stays_in_the_child() -> None:
    def vandal(x: np.ndarray) -> np.ndarray:
        np.exp = None  # type: ignore[assignment]
        os.environ["VANDAL"] = "1"
        return x

    assert one(vandal).outcome == "returned"
    assert np.exp is not None
    assert "VANDAL" not in os.environ


def test_what_is_printed_is_kept_and_bounded(capfd: pytest.CaptureFixture[str]) -> None:
    def chatty(x: np.ndarray) -> np.ndarray:
        print("looking at", x)
        print("warned", file=sys.stderr)
        print("x" * 100_000)
        return x

    record = one(chatty)
    assert record.printed.startswith("looking at")
    assert len(record.printed) <= 2_000
    assert capfd.readouterr() == ("", "")


@needs_fork
def test_writing_to_the_streams_themselves_reaches_nobody(
    capfd: pytest.CaptureFixture[str],
) -> None:
    def loud(x: np.ndarray) -> np.ndarray:
        os.write(2, b"stderr")
        os.write(1, b"stdout")
        return x

    assert one(loud).outcome == "returned"
    assert capfd.readouterr() == ("", "")


def test_a_warning_is_recorded_and_costs_nothing() -> None:
    def warns(x: np.ndarray) -> np.ndarray:
        warnings.warn("careful", UserWarning, stacklevel=1)
        return np.log(x * 0) * 0 + x

    with np.errstate(all="raise"):  # a learner's own setting must not decide
        record = one(warns)
    assert record.outcome == "returned"
    assert "careful" in record.warned


def test_changed_arguments_are_named() -> None:
    def in_place(x: np.ndarray) -> np.ndarray:
        x -= 1
        return x

    assert one(in_place).changed == ("x",)
    assert one(lambda x: x - 1).changed == ()


def test_every_case_gets_fresh_inputs() -> None:
    def in_place(x: np.ndarray) -> np.ndarray:
        x += 1
        return x

    case = Case("a case", 1, {"x": np.zeros(2)})
    records = run(in_place, DOUBLE, [case, case], limits=LIMITS)
    assert [record.arrays["y"].tolist() for record in records] == [[1, 1], [1, 1]]
    assert case.inputs["x"].tolist() == [0, 0]  # type: ignore[union-attr]


def test_generators_and_layers_are_made_for_each_case() -> None:
    draws = Case("a case", 1, {"rng": Rng(3)})
    records = run(lambda rng: rng.normal(size=2), DOUBLE, [draws, draws], limits=LIMITS)
    assert records[0].arrays["y"].tolist() == records[1].arrays["y"].tolist()
    record = one(lambda layer, x: layer.forward(x)[0], layer=Layer("mean"), x=np.ones((3, 2)))
    assert record.arrays["y"].shape == (3, 2)


def test_methods_partials_and_objects_are_answers_too() -> None:
    class Doubler:
        def __call__(self, x: np.ndarray) -> np.ndarray:
            return 2 * x

    for answer in (Doubler(), functools.partial(np.multiply, 2), Doubler().__call__):
        assert one(answer).arrays["y"].tolist() == [0, 2, 4]


NOTEBOOK = """
import functools
def softmax(x): return "mine"
alias = softmax
def attention(x): return [softmax(x) == "right", alias(x) == "right"]
class Layer:
    def __call__(self, x): return attention(x)
layer = Layer()
partial = functools.partial(attention)
def extended(x): return [softmax(x, 3) == "right", True]
def softmax_with_axis(x, axis=None): return "mine"
"""


@needs_fork
@pytest.mark.parametrize("name", ["attention", "layer", "partial"])
def test_a_right_version_of_other_exercises_is_put_in_place(name: str) -> None:
    namespace: dict[str, Any] = {}
    exec(NOTEBOOK, namespace)
    own = namespace["softmax"]
    case = Case("a case", 1, {"x": np.zeros(1)})
    given = {"softmax": lambda x: "right"}
    (record,) = run(namespace[name], DOUBLE, [case], given=given, limits=LIMITS)
    assert record.arrays["y"].tolist() == [True, True]
    assert namespace["softmax"] is own


@needs_fork
def test_calls_that_do_not_fit_the_contract_go_to_the_learners_own() -> None:
    namespace: dict[str, Any] = {}
    exec(NOTEBOOK, namespace)
    namespace["softmax"] = lambda x, axis: "mine"
    case = Case("a case", 1, {"x": np.zeros(1)})
    given = {"softmax": lambda x: "right"}
    (record,) = run(namespace["extended"], DOUBLE, [case], given=given, limits=LIMITS)
    assert record.arrays["y"].tolist() == [False, True]


@needs_fork
def test_running_beside_threads_works() -> None:
    stop = threading.Event()
    threads = [threading.Thread(target=stop.wait) for _ in range(8)]
    for thread in threads:
        thread.start()
    try:
        assert all(one(lambda x: x @ x).outcome == "returned" for _ in range(20))
    finally:
        stop.set()
        for thread in threads:
            thread.join()


PICKLE = b"cos\nsystem\n(S'true'\ntR."  # runs a command when it is unpickled


def write_to_the_pipe(message: bytes) -> None:
    """Write to whatever file is open besides the three streams: the pipe to the parent."""
    for descriptor in range(3, 64):
        with contextlib.suppress(OSError):
            os.write(descriptor, message)


@needs_fork
@pytest.mark.parametrize(
    ("message", "outcome"),
    [
        (struct.pack("!Q", len(PICKLE)) + PICKLE, "died"),
        (struct.pack("!Q", 1 << 60), "died"),
        (struct.pack("!Q", 1000) + b"and then nothing", "timeout"),
    ],
)
def test_a_message_that_is_not_ours_is_no_result(message: bytes, outcome: str) -> None:
    def forge(x: np.ndarray) -> None:
        write_to_the_pipe(message)
        time.sleep(60)

    start = time.monotonic()
    assert one(forge).outcome == outcome
    assert time.monotonic() - start < LIMITS.seconds


@needs_fork
def test_an_answer_that_returns_twice_shifts_no_record() -> None:
    def twin(x: np.ndarray) -> np.ndarray:
        if x[0] == 0:
            os.fork()
        return x

    cases = [Case(f"case {i}", 1, {"x": np.array([float(i)])}) for i in range(3)]
    for _ in range(5):
        records = run(twin, DOUBLE, cases, limits=LIMITS)
        got = [r.arrays["y"].tolist() if r.outcome == "returned" else None for r in records]
        assert all(y in (None, [float(i)]) for i, y in enumerate(got))


@needs_fork
def test_a_tight_limit_that_is_already_set_does_not_end_a_right_answer() -> None:
    code = (
        "import resource, numpy as np\n"
        "from tests.test_run import one\n"
        "resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))\n"
        "assert one(lambda x: 2 * x).outcome == 'returned'\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


@needs_fork
def test_a_parent_that_ignores_its_children_is_served() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert one(lambda x: 2 * x).outcome == "returned"
    finally:
        signal.signal(signal.SIGCHLD, before)


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_what_is_put_in_place_is_put_back(monkeypatch: pytest.MonkeyPatch, platform: str) -> None:
    if platform == "linux" and sys.platform != "linux":
        pytest.skip("cases are forked on Linux only")
    monkeypatch.setattr(sys, "platform", platform)
    namespace: dict[str, Any] = {"softmax": None, "mask": None}
    exec("def attention(x): return [softmax is None, mask is None]", namespace)
    case, given = Case("a case", 1, {"x": np.zeros(1)}), {"softmax": lambda x: "right"}
    (record,) = run(namespace["attention"], DOUBLE, [case], given=given, limits=LIMITS)
    assert record.arrays["y"].tolist() == [True, True]  # nothing there to stand in for
    exec(NOTEBOOK, namespace)
    own = namespace["softmax"]
    (record,) = run(namespace["attention"], DOUBLE, [case], given=given, limits=LIMITS)
    assert record.arrays["y"].tolist() == [True, True]
    assert namespace["softmax"] is namespace["alias"] is own


@pytest.mark.parametrize(
    "answer", [lambda: 0, lambda x, y: 0, lambda *, x: 0], ids=["none", "two", "by name"]
)
def test_an_answer_that_takes_other_arguments_is_told_so(answer: Callable[..., Any]) -> None:
    record = one(answer)
    assert record.outcome == "unusable"
    assert "cannot be called as `double(x)`" in record.error[1]


def test_a_wrong_call_inside_an_answer_is_its_own_error() -> None:
    assert one(lambda x: np.swapaxes(x, -1)).error[0] == "TypeError"


def test_where_processes_cannot_be_forked_cases_run_in_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert one(lambda x: 2 * x).arrays["y"].tolist() == [0, 2, 4]
    assert one(lambda x: 1 / 0).error[0] == "ZeroDivisionError"
