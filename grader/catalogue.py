"""Where exercises, wrong answers and right variants are written down, lab by lab."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from attnlab.exercise import Case, Exercise, Input, Mistake

LABS = (
    "lab00_qkv",
    "lab01_scaled_dot_product",
    "lab02_multi_head",
    "lab03_masking",
)
READINGS = (  # texts that are read and played with, and not graded
    "theory00_motivation",
    "theory01_query_key_value",
    "theory02_scaled_dot_product",
    "theory03_multi_head",
    "theory04_masking",
    "explore_heatmaps",
)

CaseMaker = Callable[[np.random.Generator], Iterator[Case]]
Answer = TypeVar("Answer", bound=Callable[..., Any])


@dataclass(frozen=True)
class Entry:
    """An exercise with the function that makes its cases."""

    exercise: Exercise
    make_cases: CaseMaker


@dataclass(frozen=True)
class Specimen:
    """One answer to an exercise as a learner might write it, right or wrong.

    Parameters
    ----------
    exercise : the exercise's name
    mistake : what is wrong with it and what helps; for a right variant, what is unusual
    answer : the function or class
    """

    exercise: str
    mistake: Mistake
    answer: Callable[..., Any]

    @property
    def place(self) -> tuple[Path, int]:
        """The file and the line it is written in."""
        _, line = inspect.getsourcelines(self.answer)
        return Path(inspect.getfile(self.answer)), line

    @cached_property
    def source(self) -> str:
        """Its code as it would stand in the learner's cell, under the exercise's own name."""
        text = inspect.getsource(self.answer)
        (definition,) = ast.parse(text).body
        assert isinstance(definition, (ast.FunctionDef, ast.ClassDef))
        first = [d.end_lineno for d in definition.decorator_list[:1]]  # @wrong or @right
        lines = text.splitlines(keepends=True)[first[0] if first else 0 :]
        return re.sub(rf"\b{definition.name}\b", self.exercise, "".join(lines))


_entries: dict[str, Entry] = {}
_wrong: dict[str, list[Specimen]] = {}
_right: dict[str, list[Specimen]] = {}


def cases_of(exercise: Exercise) -> Callable[[CaseMaker], CaseMaker]:
    """Register the function below as the maker of an exercise's cases."""

    def register(make_cases: CaseMaker) -> CaseMaker:
        if exercise.name in _entries:
            labs = f"{_entries[exercise.name].exercise.lab} and {exercise.lab}"
            raise ValueError(f"two exercises are called {exercise.name!r}, in {labs}")
        _entries[exercise.name] = Entry(exercise, make_cases)
        return make_cases

    return register


def shown(name: str, points: float, inputs: Mapping[str, Input], **how: Any) -> Case:
    """Make a case that the learner sees with its values."""
    return Case(name, points, inputs, visible=True, **how)


def kept(name: str, points: float, inputs: Mapping[str, Input], **how: Any) -> Case:
    """Make a case that is kept back until grading."""
    return Case(name, points, inputs, visible=False, **how)


def clue(name: str, inputs: Mapping[str, Input], **how: Any) -> Case:
    """Make a case without points in which wrong formulas run on, so that they can be named.

    Its sizes are equal on purpose: what raises elsewhere gives a value here.
    """
    return Case(name, 0.0, inputs, visible=True, **how)


def wrong(exercise: str, name: str, hint: str) -> Callable[[Answer], Answer]:
    """Register the answer below as a known wrong one."""
    return _register(_wrong, exercise, Mistake(name, hint))


def right(exercise: str, name: str) -> Callable[[Answer], Answer]:
    """Register the answer below as a right one that must keep full marks."""
    return _register(_right, exercise, Mistake(name, ""))


def _register(
    shelf: dict[str, list[Specimen]], exercise: str, mistake: Mistake
) -> Callable[[Answer], Answer]:
    def register(answer: Answer) -> Answer:
        shelf.setdefault(exercise, []).append(Specimen(exercise, mistake, answer))
        return answer

    return register


@cache
def _load() -> None:
    for lab in LABS:
        for shelf in ("cases", "mistakes", "variants"):
            import_module(f"grader.{shelf}.{lab}")
    for name, specimens in (*_wrong.items(), *_right.items()):
        if name not in _entries:
            path, line = specimens[0].place
            raise ValueError(f"{path}:{line}: there is no exercise called {name!r}")


def exercises(lab: str | None = None) -> list[Exercise]:
    """List the exercises of a lab, or of all, in the order of the text."""
    _load()
    found = [entry.exercise for entry in _entries.values()]
    return [exercise for exercise in found if lab in (None, exercise.lab)]


def entry(name: str) -> Entry:
    """Find an exercise by name; KeyError when there is none."""
    _load()
    return _entries[name]


def wrong_answers(names: Iterable[str] | None = None) -> list[Specimen]:
    """List the known wrong answers of some exercises, or of all."""
    _load()
    return [s for n in (_names(names)) for s in _wrong.get(n, [])]


def right_variants(names: Iterable[str] | None = None) -> list[Specimen]:
    """List the accepted variants of some exercises, or of all."""
    _load()
    return [s for n in (_names(names)) for s in _right.get(n, [])]


def _names(names: Iterable[str] | None) -> Iterable[str]:
    return _entries if names is None else names


def has_reference(name: str) -> bool:
    """Say whether an exercise has a reference version."""
    return hasattr(import_module(f"grader.reference.{entry(name).exercise.lab}"), name)


def reference(name: str) -> Callable[..., Any]:
    """Find the reference version of an exercise."""
    module = import_module(f"grader.reference.{entry(name).exercise.lab}")
    found: Callable[..., Any] = getattr(module, name)
    return found
