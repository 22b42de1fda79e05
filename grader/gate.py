"""The gate: no lab is built whose wrong answers slip through or whose right ones lose marks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from types import CodeType
from typing import Any

from attnlab.judge import Report, judge
from attnlab.run import run
from grader.catalogue import Specimen, exercises, right_variants, wrong_answers
from grader.mark import grade
from grader.markers import CourseError, Lab
from grader.sheets import PUBLIC_SEED, visible_sheet

Namespace = dict[str, Any]


def answered(lab: Lab) -> Namespace:
    """Run a lab's given and solution cells in order and return the names they leave.

    Raises
    ------
    CourseError : when a cell raises
    """
    namespace: Namespace = {"__name__": "__main__"}
    for cell in lab.cells:
        if cell.role in ("given", "solution"):
            try:
                exec(compile(cell.source, f"{lab.path}:{cell.line}", "exec"), namespace)
            except Exception as error:
                reason = f"the {cell.role} cell raises {type(error).__name__}: {error}"
                raise CourseError(lab.path, cell.line, reason) from error
    return namespace


def slips(lab: Lab, seed: str = PUBLIC_SEED, beside: bool = True) -> Iterator[CourseError]:
    """Say of every specimen of a lab what goes wrong with it; nothing when all is well.

    The answers and the right variants must earn full marks. A wrong answer must lose marks
    in its own exercise, be named there, both when graded and in the learner's own check, and
    cost nothing in any other exercise of the notebook it stands in (tried when `beside`: where
    an answer reads what the wrong one's cell has bound, and once for wrong ones that bind the
    same names, since a right version stands in for them).
    """
    names = [exercise.name for exercise in exercises(lab.stem)]
    namespace = answered(lab)
    lines = {cell.name: cell.line for cell in lab.of_role("solution")}
    for name in names:
        if name not in namespace:
            yield CourseError(lab.path, lines[name], f"the cell defines no {name!r}")
        elif not (report := grade(name, namespace[name], seed)).passed:
            reason = f"the answer to {name!r} loses marks: {first_fault(report)}"
            yield CourseError(lab.path, lines[name], reason)
    for specimen in right_variants(names):
        report = grade(specimen.exercise, planted(specimen, namespace), seed)
        if not report.passed:
            reason = f"{_title(specimen)} is right but loses marks: {first_fault(report)}"
            yield CourseError(*specimen.place, reason)
    tried: set[frozenset[str]] = set()
    for specimen in wrong_answers(names):
        namespace = answered(lab)
        before = dict(namespace)
        reasons = list(_slips_of(specimen, planted(specimen, namespace), seed))
        bound = frozenset(n for n, value in namespace.items() if before.get(n) is not value)
        if beside and bound not in tried:
            tried.add(bound)
            others = [name for name in names if name != specimen.exercise]
            reasons += _harm(bound, others, namespace, seed)
        for reason in reasons:
            yield CourseError(*specimen.place, f"{_title(specimen)} {reason}")


def _slips_of(specimen: Specimen, answer: Callable[..., Any], seed: str) -> Iterator[str]:
    report = grade(specimen.exercise, answer, seed)
    if report.passed:
        yield "earns full marks"
    elif _first_name(report) != specimen.mistake.name:
        yield f"is graded as {_first_name(report)!r}: {first_fault(report)}"
    if seed != PUBLIC_SEED:  # the learner's own check knows no seed: once is enough
        return
    own = own_check(specimen.exercise, answer)
    if _first_name(own) != specimen.mistake.name:
        yield f"is called {_first_name(own)!r} in the learner's own check"


def _harm(
    bound: frozenset[str], names: Sequence[str], namespace: Namespace, seed: str
) -> Iterator[str]:
    """Say which right answers lose marks by names that were bound anew."""
    for name in names:
        if bound & _reached(namespace[name], namespace):
            report = grade(name, namespace[name], seed)
            if not report.passed:
                yield f"costs marks in {name!r}: {first_fault(report)}"


def _reached(answer: Callable[..., Any], namespace: Namespace) -> set[str]:
    """List the names that an answer's code reads, and those that what they stand for reads."""
    found: set[str] = set()
    new = _names(answer)
    while new:
        found |= new
        new = {name for known in new for name in _names(namespace.get(known))} - found
    return found


def _names(thing: Any) -> set[str]:
    """List the names in the code of a function or of a class's methods."""
    if isinstance(thing, type):
        return set().union(*map(_names, vars(thing).values()))
    code = getattr(thing, "__code__", thing)
    if not isinstance(code, CodeType):
        return set()
    return set(code.co_names).union(*map(_names, code.co_consts))


def own_check(name: str, answer: Callable[..., Any]) -> Report:
    """Judge an answer as the learner's own notebook does: visible cases, nothing put in place."""
    part = visible_sheet(name)
    records = run(answer, part.exercise, part.cases)
    return judge(part.exercise, part.cases, part.keys, part.mistakes, records, part.kept_back)


def planted(specimen: Specimen, namespace: Namespace) -> Callable[..., Any]:
    """Run a specimen's cell in a notebook's names, as if the learner had written it there."""
    exec(compile(specimen.source, specimen.mistake.name, "exec"), namespace)
    answer: Callable[..., Any] = namespace[specimen.exercise]
    return answer


def first_fault(report: Report) -> str:
    """Quote the first case of a report that did not pass."""
    verdict = next(v for v in report.verdicts if not v.passed)
    return f"{verdict.case.name}: {verdict.message}"


def _first_name(report: Report) -> str | None:
    return report.mistakes[0].name if report.mistakes else None


def _title(specimen: Specimen) -> str:
    return f"{specimen.exercise}: {specimen.mistake.name!r}"
