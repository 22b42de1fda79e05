"""What an exercise asks for, and the cases it is tried on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from attnlab.layers import LAYERS


@dataclass(frozen=True)
class Rng:
    """A random generator, made anew from `seed` whenever a case is run."""

    seed: int


@dataclass(frozen=True)
class Layer:
    """A layer of `attnlab.layers`, by name."""

    name: str


Input = np.ndarray | int | float | bool | None | Rng | Layer


@dataclass(frozen=True)
class Case:
    """One call of the learner's answer.

    Parameters
    ----------
    name : what the case tries, as the learner reads it
    points : what it is worth, a multiple of 0.25; a clue is worth nothing
    inputs : the arguments, in the order of the contract
    visible : shown to the learner with its values, or kept back until grading
    compare : the quantities that count here; empty for all of them
    raises : the answer must raise a ValueError of its own that names these whole numbers
    bounds : quantities that need only lie between two numbers, as (low, high)
    untouched : the answer must also leave its arguments as they were
    boolean : the answer must be True and False, not 0 and 1
    topic : what a failure here alone means: "batch", "large", "masked row" or nothing
    probe : how the answer is tried (see `attnlab.probes`)
    measure : what is read off its results (see `attnlab.measures`)
    """

    name: str
    points: float
    inputs: Mapping[str, Input]
    visible: bool = True
    compare: tuple[str, ...] = ()
    raises: tuple[int, ...] = ()
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    untouched: bool = False
    boolean: bool = False
    topic: str = ""
    probe: str = "call"
    measure: str = "results"

    @property
    def clue(self) -> bool:
        """A case without points: it tells wrong formulas apart and is never shown."""
        return self.points == 0


@dataclass(frozen=True)
class Mistake:
    """A known wrong answer: its name, and a hint that helps without giving the answer."""

    name: str
    hint: str


Quantities = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Failure:
    """That an answer raised: the error's type and its kind (see `attnlab.errors`)."""

    type: str
    kind: str


@dataclass(frozen=True)
class Key:
    """What one case should give, and what the known mistakes give instead.

    `wrong` maps a mistake's place in the exercise's list to what it gives; a mistake that
    is right on this case is left out.
    """

    expected: Quantities
    wrong: Mapping[int, Quantities | Failure]


@dataclass(frozen=True)
class Exercise:
    """What a learner is asked to write.

    Parameters
    ----------
    name : the function's or class's name
    lab : the stem of the lab it belongs to
    points : what it is worth in all
    call : how it is called, for messages: "softmax(x)"
    results : names of what it returns, in order
    """

    name: str
    lab: str
    points: float
    call: str
    results: tuple[str, ...]


def materialise(value: Input) -> object:
    """Turn one input of a case into the fresh object an answer is called with."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, Rng):
        return np.random.default_rng(value.seed)
    if isinstance(value, Layer):
        return LAYERS[value.name]
    return value
