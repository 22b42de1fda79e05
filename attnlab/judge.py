"""Judge what an answer gave against what it should give. No learner's code runs here."""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from attnlab.errors import in_plain_words, kind_of
from attnlab.exercise import Case, Exercise, Failure, Key, Mistake, Quantities, Rng
from attnlab.measures import MEASURES, PROPERTIES
from attnlab.run import Record

# Right answers in float32 differ from the reference by up to 2e-6 of the largest value, and
# an epsilon of 1e-5 in a denominator by 1e-5; the nearest wrong answer by more than 1e-3.
TOLERANCE = 2e-5

TOPICS = {
    "batch": "Right for one sentence, but not for a batch. Any number of axes may stand in "
    "front: leave those alone, and count the axes that matter from the end (-1, -2, -3).",
    "large": "Right for small scores, but not for large ones: e to the 1000 is too large for a "
    "float. What may be taken off every score of a row without changing its shares?",
    "masked row": "Right where some key is allowed, but not for a row that may attend to "
    "nothing. Its weights and its output are all zero here.",
}

MANY = 3  # numbers that two different formulas hardly ever have in common by chance

Seen = Quantities | Failure | None


@dataclass(frozen=True)
class Verdict:
    """What is said of one case; values are quoted, and `expected` is filled, in visible ones."""

    case: Case
    score: float
    message: str = ""
    mistake: Mistake | None = None
    printed: str = ""
    expected: Quantities = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether the case earned all its points."""
        return self.score == self.case.points


@dataclass(frozen=True)
class Report:
    """All that is said of one answer."""

    exercise: Exercise
    verdicts: tuple[Verdict, ...]
    mistakes: tuple[Mistake, ...]
    kept_back: float = 0.0

    @property
    def score(self) -> float:
        """The points earned, a plain float."""
        return float(sum(verdict.score for verdict in self.verdicts))

    @property
    def passed(self) -> bool:
        """Whether every case earned all its points."""
        return all(verdict.passed for verdict in self.verdicts)


def judge(
    exercise: Exercise,
    cases: Sequence[Case],
    keys: Sequence[Key],
    mistakes: Sequence[Mistake],
    records: Sequence[Record],
    kept_back: float = 0.0,
) -> Report:
    """Judge the records of one answer.

    Parameters
    ----------
    exercise : what was asked for
    cases, keys, records : one of each a case, in the same order
    mistakes : the known wrong answers that `keys` refer to
    kept_back : points of cases that are not among these

    Returns
    -------
    the report, with a verdict for every case that is worth points
    """
    seen = [quantities(case, record) for case, record in zip(cases, records, strict=True)]
    faults = [
        fault(exercise, case, key, record, quantity)
        for case, key, record, quantity in zip(cases, keys, records, seen, strict=True)
    ]
    named = _name(cases, keys, seen, faults, len(mistakes))
    verdicts = []
    plain_ones_pass = not any(f for f, c in zip(faults, cases, strict=True) if f and not c.topic)
    for case, key, record, wrong, which in zip(cases, keys, records, faults, named, strict=True):
        if case.clue:
            continue
        expected = key.expected if case.visible else {}
        if not wrong:
            verdicts.append(Verdict(case, case.points, "", None, record.printed, expected))
            continue
        mistake = mistakes[which] if which is not None else None
        message = wrong
        warned = [line for text in record.warned for line in text.splitlines() if line.strip()]
        if case.visible and record.outcome == "returned" and warned:
            message = f"{wrong} It warned: {warned[0].rstrip('.')}."
        if case.topic and plain_ones_pass and mistake is None:
            message = f"{message} {TOPICS[case.topic]}"
        verdicts.append(Verdict(case, 0.0, message, mistake, record.printed, expected))
    shown = [which for which, case in zip(named, cases, strict=True) if not case.clue]
    order = [which for which in shown if which is not None]
    most_first = sorted(dict.fromkeys(order), key=lambda which: -order.count(which))
    return Report(exercise, tuple(verdicts), tuple(mistakes[w] for w in most_first), kept_back)


def quantities(case: Case, record: Record) -> Seen:
    """Read off a record what is compared, or that the answer raised."""
    if record.outcome == "raised":
        return Failure(record.error[0], kind_of(record.error[1]))
    if record.outcome != "returned":
        return None
    try:
        return MEASURES[case.measure](record.arrays)
    except (ValueError, KeyError, TypeError, IndexError):
        return Failure("", "shape")


def same(a: np.ndarray, b: np.ndarray, tolerance: float = TOLERANCE) -> bool:
    """Say whether two arrays hold the same numbers, within the tolerance of the larger ones."""
    if a.shape != b.shape:
        return False
    a, b = a.astype(complex), b.astype(complex)
    size = max([1.0, *np.abs(b[np.isfinite(b)])])
    return bool(np.allclose(a, b, rtol=0, atol=tolerance * size, equal_nan=True))


def _same_quantities(a: Quantities, b: Quantities, case: Case) -> bool:
    names = [name for name in (case.compare or tuple(b)) if name in b]
    return all(
        name in a
        and (not case.boolean or (a[name].dtype == bool) == (b[name].dtype == bool))
        and same(a[name], b[name], _width(case, name))
        for name in names
    )


def _width(case: Case, name: str) -> float:
    """How far from each other two values of a quantity may be and still tell the same story.

    What depends on random draws differs from run to run as much as its bounds allow.
    """
    drawn = case.probe == "draw_layer" or any(isinstance(v, Rng) for v in case.inputs.values())
    if name not in case.bounds or not drawn:
        return TOLERANCE
    low, high = case.bounds[name]
    return float((high - low) / (high + low))


# ---- what is wrong ----------------------------------------------------------------------


def fault(exercise: Exercise, case: Case, key: Key, record: Record, seen: Seen) -> str:
    """Say what is wrong with one record; empty when nothing is."""
    if record.outcome == "no answer":
        return record.error[1]
    if record.outcome == "timeout":
        return "It did not finish in time. Is there a loop that never ends?"
    if record.outcome == "died":
        return "It ended Python itself (an exit, a crash or too much memory)."
    if record.outcome == "skipped":
        return "Not tried: the cases before it used up the time of this exercise."
    if record.error[0] == "NotImplementedError":
        return in_plain_words(*record.error)
    if case.raises:
        return _fault_of_error(case, record)
    if record.outcome == "unusable":
        hidden = "It cannot be called as asked, or what it returns cannot be read as arrays."
        return record.error[1] if case.visible else hidden
    if record.outcome == "raised":
        return _fault_of_raising(exercise, case, record)
    if not isinstance(seen, dict):
        return _fault_of_shapes(case, record)
    for name in case.compare or tuple(key.expected):
        wrong = _fault_of_quantity(case, name, seen.get(name), key.expected[name])
        if wrong:
            return wrong
    if case.untouched and record.changed:
        names = " and ".join(f"`{name}`" for name in record.changed)
        return f"It changes {names}, which belongs to the caller. Work on a new array."
    return ""


def _fault_of_shapes(case: Case, record: Record) -> str:
    got = ", ".join(f"`{name}` {array.shape}" for name, array in record.arrays.items())
    found = f": {got}" if case.visible else ""
    return f"What it returns does not have the shapes asked for{found}."


def _fault_of_error(case: Case, record: Record) -> str:
    wanted = " and ".join(str(number) for number in case.raises) if case.visible else "both numbers"
    if record.outcome == "returned":
        return f"It should refuse with a ValueError that names {wanted}, but it returns a result."
    if not record.value_error:
        got = _error_name(case, record.error[0]) or "no ValueError"
        return f"It should raise a ValueError that names {wanted}; it gave {got}."
    numbers = {int(number) for number in re.findall(r"\d+", record.error[1])}
    if not set(case.raises) <= numbers:
        return f"Its ValueError should name {wanted}, so that the reader knows what to change."
    return ""


def _error_name(case: Case, name: str) -> str:
    """Name an error; in a kept-back case only Python's own, since others can carry values."""
    return name if case.visible or not name or hasattr(builtins, name) else "an error of its own"


def _fault_of_raising(exercise: Exercise, case: Case, record: Record) -> str:
    type_name, message = record.error
    words = in_plain_words(type_name, message)
    if type_name == "TypeError" and "forward() " in message:
        return "Its `forward` cannot be called as `forward(x)` and `forward(x, mask)`."
    if type_name == "TypeError" and "__init__() " in message:
        return f"It cannot be made as `{exercise.call}`: check its arguments."
    if not case.visible:  # the message may quote what is kept back
        return f"It raised {_error_name(case, type_name)}. {words}".strip()
    if sizes := re.search(r"size (\d+) is different from (\d+)", message):
        return f"{words} Here {sizes[2]} meets {sizes[1]}."
    short = message.splitlines()[0][:160].rstrip(".") if message else ""
    said = f"{type_name}: {short}" if short else type_name
    return f"{words} ({said}.)" if words else f"It raised {said}."


def _fault_of_quantity(case: Case, name: str, got: np.ndarray | None, expected: np.ndarray) -> str:
    if got is None:
        return f"`{name}` is missing."
    if got.shape != expected.shape:
        return _fault_of_shape(case, name, got.shape, expected.shape)
    if case.boolean and got.dtype != bool:
        return f"`{name}` holds numbers; wanted are True and False."
    if name in case.bounds:
        return _fault_of_bounds(case, name, got)
    if got.dtype.kind == "c":
        return f"`{name}` holds complex numbers."
    if same(got, expected):
        return ""
    broken = ~np.isfinite(got) & np.isfinite(expected)
    if broken.any():
        return f"`{name}` holds {'nan' if np.isnan(got).any() else 'infinity'}."
    if name in PROPERTIES:
        return PROPERTIES[name]
    if name.endswith("_shape"):
        return _fault_of_shape(case, name.removesuffix("_shape"), got, expected)
    if not case.visible:
        return f"`{name}` has wrong values."
    return _first_difference(name, got, expected)


def _fault_of_shape(case: Case, name: str, got: Iterable[int], expected: Iterable[int]) -> str:
    if not case.visible:
        return f"`{name}` has the wrong shape."
    had, wanted = (tuple(int(size) for size in shape) for shape in (got, expected))
    return f"`{name}` has shape {had}; wanted is {wanted}."


def _fault_of_bounds(case: Case, name: str, got: np.ndarray) -> str:
    low, high = case.bounds[name]
    if got.dtype.kind != "c" and np.all((low <= got) & (got <= high)):
        return ""
    if not case.visible:
        return f"`{name}` is out of the range it should be in."
    return f"`{name}` is {_number(np.ravel(got)[0])}; wanted is {low:.4g} to {high:.4g}."


def _first_difference(name: str, got: np.ndarray, expected: np.ndarray) -> str:
    if got.ndim == 0:
        return f"`{name}` is {_number(got)}; wanted is {_number(expected)}."
    with np.errstate(invalid="ignore"):
        gap = np.abs(got.astype(float) - expected.astype(float))
    size = max([1.0, *np.abs(expected[np.isfinite(expected)].astype(float))])
    agree = (gap <= TOLERANCE * size) | (got == expected)
    where = tuple(int(i) for i in np.argwhere(~agree)[0])
    index = ", ".join(map(str, where))
    largest = float(np.max(gap[np.isfinite(gap)], initial=0.0))
    tail = f" The largest difference is {largest:.2g}." if largest and got.dtype != bool else ""
    return (
        f"`{name}[{index}]` is {_number(got[where])}; wanted is {_number(expected[where])}.{tail}"
    )


def _number(value: np.ndarray) -> str:
    item = value.item()
    return f"{item:.4g}" if isinstance(item, float) else str(item)


# ---- which mistake it is ----------------------------------------------------------------


def _name(
    cases: Sequence[Case],
    keys: Sequence[Key],
    seen: Sequence[Seen],
    faults: Sequence[str],
    n_mistakes: int,
) -> list[int | None]:
    """Name, for every case that failed, the known mistake that gives the very same.

    A mistake that agrees with the answer on every case is believed before one that agrees
    on some. Equal errors, and values that chance could make equal (a few booleans, one number),
    are evidence only in the first. Where draws leave several equally likely, the closest is
    named.
    """
    values = [
        [_agreement(c, k, s, f, m) for c, k, s, f in zip(cases, keys, seen, faults, strict=True)]
        for m in range(n_mistakes)
    ]
    strength = []
    for mistake, row in enumerate(values):
        against = sum(agreement == "no" for agreement in row)
        by_value = sum(agreement.endswith("value") for agreement in row)
        by_error = sum(agreement == "error" for agreement in row)
        gaps = [
            _gap(case, key.wrong[mistake], record)
            for case, key, record, agreement in zip(cases, keys, seen, row, strict=True)
            if agreement.endswith("value")
        ]
        strength.append((against, -by_value, -by_error, round(sum(gaps), 3)))
    named: list[int | None] = []
    for column, fault in enumerate(faults):
        fits = [
            m
            for m in range(n_mistakes)
            if values[m][column] == "telling value"
            or (values[m][column] in ("value", "error", "weak") and _explains(strength[m]))
        ]
        named.append(min(fits, key=lambda m: strength[m]) if fault and fits else None)
    return named


def _gap(case: Case, wrong: Seen, seen: Seen) -> float:
    """Say how far apart two agreeing results are where draws allow a gap, relative to them."""
    if not isinstance(wrong, Mapping) or not isinstance(seen, Mapping):
        return 0.0
    drawn = [n for n in case.bounds if n in wrong and _width(case, n) > TOLERANCE]
    pairs = [(float(wrong[n]), float(seen[n])) for n in drawn]
    gaps = [abs(a - b) / max(abs(a), abs(b), TOLERANCE) for a, b in pairs]
    return sum(gap for gap in gaps if np.isfinite(gap))


def _explains(strength: tuple[int, int, int, float]) -> bool:
    against, by_value, by_error, _ = strength
    return against == 0 and (by_value < 0 or by_error < 0)


def _agreement(case: Case, key: Key, seen: Seen, fault: str, mistake: int) -> str:
    """Say how an answer agrees with a mistake on one case.

    "telling value" when several numbers are equal, "value" when what is equal could be by
    chance, "error" when the same error is raised, "weak" when both raise or both are right,
    and "no".
    """
    wrong = key.wrong.get(mistake)
    if wrong is None:
        return "weak" if not fault else "no"
    if isinstance(wrong, Failure):
        if not isinstance(seen, Failure) or not fault:
            return "no"
        return "error" if wrong == seen else "weak"
    if not isinstance(seen, dict) or not fault:
        return "no"
    if not _same_quantities(seen, wrong, case):
        return "no"
    telling = any(array.dtype != bool and array.size >= MANY for array in wrong.values())
    return "telling value" if telling else "value"
