"""Run an answer on cases and record what it gave. No expected value is known here.

On Linux the cases run in a forked child with limits on time and memory, so that a loop,
a crash or a memory bomb costs its own case and nothing else. Elsewhere they run in place.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import os
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from attnlab import wire
from attnlab.exercise import Case, Exercise, materialise
from attnlab.probes import PROBES, Answer, Unusable

LARGEST_RESULT = 20_000_000  # bytes; the largest result of any case is a few kB
LONGEST_TEXT = 2_000  # characters kept of a message or of what was printed
LONGEST_NAME = 60  # characters kept of an error's name


@dataclass(frozen=True)
class Limits:
    """What one exercise may use: seconds per case and in all, and bytes beyond what is in use."""

    case_seconds: float = 5.0
    seconds: float = 15.0
    memory: int = 1 << 30


@dataclass(frozen=True)
class Record:
    """What an answer did on one case.

    Parameters
    ----------
    outcome : "returned", "raised", "unusable", "no answer", "timeout", "died" or "skipped"
    arrays : the named results, when it returned
    error : type and message, when it raised; "" and the reason, when it or its result was unusable
    value_error : whether the error is a ValueError
    changed : the arguments it changed
    warned : the texts of its warnings
    printed : what it printed
    """

    outcome: str
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    error: tuple[str, str] = ("", "")
    value_error: bool = False
    changed: tuple[str, ...] = ()
    warned: tuple[str, ...] = ()
    printed: str = ""


def run(
    answer: Answer,
    exercise: Exercise,
    cases: Sequence[Case],
    given: Mapping[str, Callable[..., Any]] | None = None,
    limits: Limits | None = None,
) -> list[Record]:
    """Run an answer on every case.

    Parameters
    ----------
    answer : the learner's function or class
    cases : what to try it on, in order
    given : right versions of other exercises, put in the place of the learner's while this runs
    limits : what the cases may use; not enforced where cases are not forked

    Returns
    -------
    one record a case
    """
    if sys.platform == "linux":
        return _run_in_child(answer, exercise, cases, given or {}, limits or Limits())
    put_back = put_in_place(answer, given or {}, keep=exercise.name)
    try:
        return [run_case(answer, exercise, case) for case in cases]
    finally:
        put_back()


def run_case(answer: Answer, exercise: Exercise, case: Case) -> Record:
    """Run an answer on one case in this process; whatever it raises is recorded."""
    inputs = {name: materialise(value) for name, value in case.inputs.items()}
    before = {name: np.copy(v) for name, v in inputs.items() if isinstance(v, np.ndarray)}
    printed = _Printed()
    with _quietly(printed) as caught:
        try:
            if case.probe == "call" and not _takes(answer, inputs):
                raise Unusable(f"It cannot be called as `{exercise.call}`: check its arguments.")
            raw = PROBES[case.probe](answer, exercise.results, **inputs)
            record = Record("returned", arrays={name: as_array(v, name) for name, v in raw.items()})
        except Unusable as reason:
            record = Record("unusable", error=("", str(reason)))
        except (Exception, SystemExit, GeneratorExit) as error:
            record = _raised(error)
        warned = sorted({str(w.message)[:LONGEST_TEXT] for w in caught})
    changed = tuple(n for n, old in before.items() if not _identical(old, inputs[n]))
    return replace(record, changed=changed, warned=tuple(warned), printed=printed.getvalue())


def _takes(answer: Answer, inputs: Mapping[str, Any]) -> bool:
    """Say whether an answer can be called with the inputs in order, as far as one can know."""
    try:
        signature = inspect.signature(answer)
    except (ValueError, TypeError):
        return True  # some built-in functions do not tell
    try:
        signature.bind(*inputs.values())
    except TypeError:
        return False
    return True


def as_array(value: Any, name: str) -> np.ndarray:
    """Read any value as a plain array of booleans, int64, float64 or complex numbers."""
    try:
        array = np.array(value, subok=False)
        if array.dtype == object:  # fractions, or numbers of mixed kinds
            array = array.astype(float)
    except (ValueError, TypeError) as error:
        if isinstance(value, tuple):
            raise Unusable(f"It returns {len(value)} things. Wanted is one: `{name}`.") from error
        raise Unusable(f"`{name}` is no array of numbers with rows of equal length.") from error
    if array.nbytes > LARGEST_RESULT:
        raise Unusable(f"`{name}` is far too large: its shape is {array.shape}.")
    plain = {"b": bool, "i": np.int64, "u": np.int64, "f": np.float64, "c": np.complex128}
    if array.dtype.kind not in plain:
        held = "text" if array.dtype.kind in "US" else "no numbers"
        raise Unusable(f"`{name}` holds {held}. Wanted is an array of numbers.")
    return array.astype(plain[array.dtype.kind])


def _identical(old: np.ndarray, new: Any) -> bool:
    return bool(np.array_equal(old, new, equal_nan=old.dtype.kind == "f"))


def _raised(error: BaseException) -> Record:
    try:
        message = str(error)
    except Exception:
        message = ""
    return Record(
        "raised",
        error=(type(error).__name__[:LONGEST_NAME], message[:LONGEST_TEXT]),
        value_error=isinstance(error, ValueError),
    )


class _Printed(io.StringIO):
    """Text of bounded length."""

    def write(self, text: str) -> int:
        room = LONGEST_TEXT - self.tell()
        return super().write(text[:room]) if room > 0 else len(text)


@contextlib.contextmanager
def _quietly(printed: io.StringIO) -> Iterator[list[warnings.WarningMessage]]:
    """Keep what is printed, record warnings, and let no setting of the learner's change either."""
    with (
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
        warnings.catch_warnings(record=True) as caught,
        np.errstate(all="warn"),
    ):
        warnings.simplefilter("always")
        yield caught


# ---- the forked child -------------------------------------------------------------------


def _run_in_child(
    answer: Answer,
    exercise: Exercise,
    cases: Sequence[Case],
    given: Mapping[str, Callable[..., Any]],
    limits: Limits,
) -> list[Record]:
    """Run the cases in a child; when a case ends the child, go on behind it in a new one."""
    records: list[Record] = []
    deadline = time.monotonic() + limits.seconds
    while len(records) < len(cases):
        if time.monotonic() > deadline:
            records += [Record("skipped")] * (len(cases) - len(records))
            break
        rest = cases[len(records) :]
        work = functools.partial(
            run_and_tell, answer=answer, exercise=exercise, cases=rest, given=given, limits=limits
        )
        with _child(work) as pipe:
            records += hear(wire.Reader(pipe), len(rest), limits.case_seconds, deadline)
    return records


@contextlib.contextmanager
def _child(work: Callable[[int], None]) -> Iterator[int]:
    """Fork, let the child work, and leave neither it nor its children behind.

    The child is handed the end of a pipe to write to; the end to read from is yielded.
    """
    receiver, sender = os.pipe()
    with warnings.catch_warnings():
        # Python ≥ 3.12 warns of forking beside threads: the child only computes and leaves.
        warnings.simplefilter("ignore", DeprecationWarning)
        pid = os.fork()
    if pid == 0:
        try:
            work(sender)
        finally:
            os._exit(0)
    os.close(sender)
    try:
        yield receiver
    finally:
        os.close(receiver)
        for kill in (os.killpg, os.kill):  # its group once it has one, and itself before that
            with contextlib.suppress(ProcessLookupError, PermissionError):
                kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):  # when SIGCHLD is ignored nobody is left
            os.waitpid(pid, 0)


def hear(reader: wire.Reader, n: int, seconds: float, deadline: float) -> list[Record]:
    """Receive the records that `run_and_tell` writes.

    Parameters
    ----------
    reader : the other end of its pipe
    n : how many records there will be
    seconds : how long each may take
    deadline : the `time.monotonic()` at which all must be there

    Returns
    -------
    n records; fewer when one did not come: then the last one is "timeout" or "died"
    """
    records: list[Record] = []
    while len(records) < n:
        try:
            message = reader.read(min(deadline, time.monotonic() + seconds))
            records.append(read_record(wire.unpack(message), number=len(records)))
        except TimeoutError:
            return [*records, Record("timeout")]
        except (EOFError, OSError, ValueError):
            return [*records, Record("died")]  # gone, or what came is not what we sent
    return records


def run_and_tell(
    pipe: int,
    answer: Answer,
    exercise: Exercise,
    cases: Sequence[Case],
    given: Mapping[str, Callable[..., Any]],
    limits: Limits,
) -> None:
    """Run cases in this process, which is given up for it, and write their records to a pipe."""
    _confine(limits, pipe)
    put_in_place(answer, given, keep=exercise.name)
    for number, case in enumerate(cases):
        wire.send(pipe, wire.pack(write_record(run_case(answer, exercise, case), number)))


def _confine(limits: Limits, pipe: int) -> None:
    """Cut the child off from its parent's files, group and input, and bound its memory."""
    import builtins
    import resource

    with contextlib.suppress(PermissionError):  # it may lead its group already
        os.setsid()
    os.closerange(3, pipe)
    os.closerange(pipe + 1, os.sysconf("SC_OPEN_MAX"))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    in_use = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    bound = in_use + limits.memory
    bound = bound if most == resource.RLIM_INFINITY else min(bound, most)
    resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def no_input(prompt: object = "") -> str:
        raise EOFError("input() has nobody to ask while an answer is checked")

    builtins.input = no_input


def put_in_place(
    answer: Answer, given: Mapping[str, Callable[..., Any]], keep: str
) -> Callable[[], None]:
    """Rebind other exercises, in the namespace the answer reads, to their given versions.

    Names that stand for the learner's version of such an exercise are rebound with it. A call
    that does not fit the contract still goes to the learner's own version.

    Returns
    -------
    a function that puts everything back
    """
    namespace = namespace_of(answer)
    before: dict[str, Any] = {}
    for name, right in given.items():
        own = namespace.get(name)
        if name == keep or own is answer or not callable(own):
            continue
        aliases = {key: value for key, value in namespace.items() if value is own}
        before |= aliases
        namespace.update(dict.fromkeys(aliases, _right_or_own(right, own)))
    return functools.partial(namespace.update, before)


def _right_or_own(right: Callable[..., Any], own: Any) -> Callable[..., Any]:
    signature = inspect.signature(right)

    @functools.wraps(right)
    def version(*args: Any, **kwargs: Any) -> Any:
        try:
            signature.bind(*args, **kwargs)
        except TypeError:
            return own(*args, **kwargs)
        return right(*args, **kwargs)

    return version


def namespace_of(answer: Any) -> dict[str, Any]:
    """Find the globals in which an answer looks names up: its module's or its notebook's."""
    while isinstance(answer, functools.partial):
        answer = answer.func
    if isinstance(answer, type):
        methods = [m for m in vars(answer).values() if inspect.isfunction(m)]
        answer = methods[0] if methods else answer
    elif not (inspect.isfunction(answer) or inspect.ismethod(answer)):
        answer = getattr(type(answer), "__call__", answer)  # noqa: B004  (the method itself)
    namespace = getattr(inspect.unwrap(answer), "__globals__", {})
    return namespace if isinstance(namespace, dict) else {}


def write_record(record: Record, number: int) -> dict[str, Any]:
    """Write a record as named fields, with its place among the others."""
    return asdict(record) | {"number": number}


def read_record(fields: Any, number: int) -> Record:
    """Read the record of that number from its fields.

    Raises
    ------
    ValueError : when it is another one's, or no record
    """
    try:
        if fields["number"] != number:
            raise ValueError("a record out of its turn")
        arrays = {str(name): array for name, array in fields["arrays"].items()}
        if not all(isinstance(array, np.ndarray) for array in arrays.values()):
            raise ValueError("a result that is no array")
        return Record(
            outcome=str(fields["outcome"]),
            arrays=arrays,
            error=(str(fields["error"][0]), str(fields["error"][1])),
            value_error=bool(fields["value_error"]),
            changed=tuple(map(str, fields["changed"])),
            warned=tuple(map(str, fields["warned"])),
            printed=str(fields["printed"]),
        )
    except (TypeError, KeyError, AttributeError, IndexError) as error:
        raise ValueError("not a record") from error
