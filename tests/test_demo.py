"""The demo class ends with the marks it was made for, and says so."""

from __future__ import annotations

import io
import shutil
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rich.console import Console

from grader import demo as demo_module
from grader.catalogue import LABS, exercises
from grader.demo import SEED, SIZE, demo
from grader.engine.grade import How
from grader.hand_ins import BLANK, OTHER_STYLE, RIGHT, WRONG, demo_class
from grader.markers import Lab
from grader.nbgrader_api import course
from tests.conftest import ROOT

DEMO_LABS, DEMO_SIZE = LABS[:2], 4
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="grading is on Linux")


def test_a_class_has_one_right_one_blank_one_in_other_styles_and_a_mixed_rest(lab: Lab) -> None:
    class_ = demo_class(lab, SIZE, SEED)
    kinds = [Counter(answer.kind for answer in hand_in.values()) for hand_in in class_.values()]
    n = len(exercises(lab.stem))
    assert len(class_) == 12
    assert kinds[:2] == [Counter({RIGHT: n}), Counter({BLANK: n})]
    assert kinds[2][OTHER_STYLE] == n
    assert sum(kind[WRONG] for kind in kinds) >= 10
    assert all(kind[RIGHT] < n for kind in kinds[3:])
    assert demo_class(lab, SIZE, SEED) == class_


@dataclass(frozen=True)
class Shown:
    """What a demo came to."""

    place: Path
    fine: bool
    said: str
    marks: pd.DataFrame


def shown(place: Path) -> Shown:
    for name in ("course", "source", "grader"):
        if not (place / name).exists():
            (place / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "nbgrader_config.py", place)
    text = io.StringIO()
    fine = demo(place, Console(file=text, width=200), DEMO_LABS)
    marks = demo_module._marks(course(place, place / "demo"))
    return Shown(place, fine, text.getvalue(), marks)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    """Run a small demo; `test_class_run` compares every mark in every lab."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo_module, "SIZE", DEMO_SIZE)
        return shown(tmp_path_factory.mktemp("demo"))


@needs_linux
def test_every_mark_is_the_one_the_class_was_made_for(done: Shown) -> None:
    assert done.fine, done.said
    for words in ("How each exercise went", "Mistakes named most often", "demo/feedback"):
        assert words in done.said
    marks = pd.read_csv(done.place / "demo" / "grades.csv")
    for stem in DEMO_LABS:
        names = {exercise.name: exercise.points for exercise in exercises(stem)}
        of_lab = marks[(marks.lab == stem) & marks.part.isin(names)]
        assert len(of_lab) == DEMO_SIZE * len(names)
        totals = of_lab.groupby("student").points.sum()
        most = sum(names.values())
        assert totals[["student01", "student02", "student03"]].tolist() == [most, 0, most]
        assert set(of_lab.state) == {"graded"}
        assert len(list((done.place / "demo" / "feedback").rglob(f"{stem}.html"))) == DEMO_SIZE


@pytest.fixture
def graded_already(done: Shown, monkeypatch: pytest.MonkeyPatch) -> list[How]:
    """Put the marks of the demo that was run in the place of grading; note how it was to go."""
    asked: list[How] = []

    def note(*about: Any) -> list[str]:
        asked.extend(each for each in about if isinstance(each, How))
        return []

    monkeypatch.setattr(demo_module, "SIZE", DEMO_SIZE)
    monkeypatch.setattr(demo_module, "_grade", note)
    monkeypatch.setattr(demo_module, "_marks", lambda api: done.marks.copy())
    return asked


@needs_linux
def test_a_mark_that_is_not_as_made_is_said(
    graded_already: list[How], done: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tampered = done.marks.copy()
    tampered.loc[tampered.index[0], "points"] += 0.25
    monkeypatch.setattr(demo_module, "_marks", lambda api: tampered)
    again = shown(tmp_path)
    assert not again.fine
    assert "Not as made: student01, embed" in again.said


@needs_linux
def test_without_bubblewrap_it_runs_and_says_so_in_a_line(
    graded_already: list[How], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_module, "why_missing", lambda: "bubblewrap is not installed")
    again = shown(tmp_path)
    assert again.fine, again.said
    assert graded_already == [How(confined=False)] * len(DEMO_LABS)
    (line,) = [line for line in again.said.splitlines() if "without the sandbox" in line]
    assert "apt-get install bubblewrap" in line
