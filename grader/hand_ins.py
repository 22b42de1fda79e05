"""Make hand-ins: a lab's release with chosen answers written into it."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import nbformat

from grader.catalogue import exercises, right_variants, wrong_answers
from grader.markers import BEGIN, END, Lab

BLANK, RIGHT, WRONG, OTHER_STYLE = "blank", "right", "wrong", "other style"


@dataclass(frozen=True)
class Answer:
    """What a made-up student wrote in one exercise.

    Parameters
    ----------
    kind : BLANK, RIGHT, WRONG or OTHER_STYLE
    source : the code in the cell; None leaves the stub
    mistake : the name of what is wrong with it
    """

    kind: str
    source: str | None = None
    mistake: str = ""


HandIn = Mapping[str, Answer]  # exercise -> answer


def answers(lab: Lab) -> dict[str, Answer]:
    """Take the answers out of a text master."""
    marks = (BEGIN, END)
    return {
        cell.name: Answer(
            RIGHT,
            "\n".join(
                line for line in cell.source.splitlines() if not any(m in line for m in marks)
            ),
        )
        for cell in lab.of_role("solution")
    }


def demo_class(lab: Lab, size: int, seed: int) -> dict[str, HandIn]:
    """Make up a class: one all right, one blank, one in other styles, the rest mixed.

    In the mixed ones each exercise is right, wrong or blank by chance, but every wrong answer
    is drawn from those that have not come up yet, so a class shows many of them.
    """
    chance = random.Random(f"{lab.stem} {seed}")
    names = [exercise.name for exercise in exercises(lab.stem)]
    right = answers(lab)
    blank = {name: Answer(BLANK) for name in names}
    styles = {name: right_variants([name]) for name in names}
    wrong = {name: chance.sample(found := wrong_answers([name]), len(found)) for name in names}
    other = {
        name: Answer(OTHER_STYLE, chance.choice(found).source) if found else right[name]
        for name, found in styles.items()
    }
    class_: dict[str, HandIn] = {"student01": right, "student02": blank, "student03": other}
    for number in range(4, size + 1):
        hand_in = {}
        surely_wrong = chance.choice(names)
        for name in names:
            kind = chance.choices((RIGHT, WRONG, BLANK), (62, 30, 8))[0]
            kind = WRONG if name == surely_wrong else kind
            kind = RIGHT if not wrong[name] else kind  # no wrong answer is known yet
            if kind == WRONG:
                specimen = wrong[name].pop(0)
                wrong[name].append(specimen)
                hand_in[name] = Answer(WRONG, specimen.source, specimen.mistake.name)
            else:
                hand_in[name] = right[name] if kind == RIGHT else blank[name]
        class_[f"student{number:02d}"] = hand_in
    return class_


def write(hand_in: HandIn, released: Path, target: Path) -> None:
    """Write a hand-in: the released notebook with the answers in its solution cells."""
    notebook = nbformat.read(released, as_version=4)
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        answer = hand_in.get(about.get("grade_id", ""))
        if about.get("solution") and answer is not None and answer.source is not None:
            cell.source = answer.source
    target.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(notebook, target)
