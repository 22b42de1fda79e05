"""The demo class ends with the marks it was made for, and says so."""

from __future__ import annotations

import io
import shutil
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rich.console import Console

from grader import demo as demo_module
from grader.catalogue import LABS, exercises
from grader.demo import SEED, SIZE, demo
from grader.hand_ins import BLANK, OTHER_STYLE, RIGHT, WRONG, demo_class
from grader.markers import Lab
from tests.conftest import ROOT


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


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for name in ("course", "source", "grader"):
        (tmp_path / name).symlink_to(ROOT / name)
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    return tmp_path


@pytest.mark.skipif(sys.platform == "win32", reason="grading is on Linux first")
@pytest.mark.parametrize("stem", LABS)
def test_every_mark_is_the_one_the_class_was_made_for(
    copy: Path, stem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = SIZE if stem == LABS[0] else 5  # the gate tries every wrong answer of every lab
    monkeypatch.setattr(demo_module, "SIZE", size)
    text = io.StringIO()
    assert demo(copy, Console(file=text, width=200), (stem,)), text.getvalue()
    said = text.getvalue()
    for words in ("How each exercise went", "Mistakes named most often", "demo/feedback"):
        assert words in said
    marks = pd.read_csv(copy / "demo" / "grades.csv")
    names = {exercise.name: exercise.points for exercise in exercises(stem)}
    marks = marks[marks.part.isin(names)]
    assert len(marks) == size * len(names)
    totals = marks.groupby("student").points.sum()
    most = sum(names.values())
    assert totals[["student01", "student02", "student03"]].tolist() == [most, 0, most]
    assert set(marks.state) == {"graded"}
    pages = list((copy / "demo" / "feedback").rglob("*.html"))
    assert len(pages) == size


@pytest.mark.skipif(sys.platform == "win32", reason="grading is on Linux first")
def test_a_mark_that_is_not_as_made_is_said(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo_module, "SIZE", 2)
    real = demo_module._marks

    def tampered(api: Any) -> pd.DataFrame:
        marks = real(api)
        marks.loc[marks.index[0], "points"] += 0.25
        return marks

    monkeypatch.setattr(demo_module, "_marks", tampered)
    text = io.StringIO()
    assert not demo(copy, Console(file=text, width=200), (LABS[0],))
    assert "Not as made: student01, embed" in text.getvalue()


@pytest.mark.skipif(sys.platform != "linux", reason="grading is on Linux")
def test_without_bubblewrap_it_runs_and_says_so_in_a_line(
    copy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_module, "SIZE", 2)
    monkeypatch.setattr(demo_module, "why_missing", lambda: "bubblewrap is not installed")
    text = io.StringIO()
    assert demo(copy, Console(file=text, width=200), (LABS[0],))
    (line,) = [line for line in text.getvalue().splitlines() if "without the sandbox" in line]
    assert "apt-get install bubblewrap" in line
