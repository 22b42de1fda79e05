"""A lab that changes while hand-ins are marked: its rows follow, and marks set by hand stay."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from grader.gradebook.database import GradebookError
from grader.gradebook.prepare import prepare
from tests.gradebook_course import FULL, STEM, WRITTEN, MarkedCourse, outcome

NEW = "check_extra"


@pytest.fixture
def lab00(tmp_path: Path) -> MarkedCourse:
    course = MarkedCourse.made(tmp_path / "course")
    course.due("2026-01-01 12:00:00 UTC")
    return course


def edit(course: MarkedCourse, change: Any) -> None:
    path = course.source / f"{STEM}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    change(notebook.cells)
    nbformat.write(notebook, path)


def cell_called(cells: list[Any], name: str) -> Any:
    return next(c for c in cells if c.metadata.get("nbgrader", {}).get("grade_id") == name)


def add_an_exercise(cells: list[Any]) -> None:
    for name, id_ in (("scores", "extra"), ("check_scores", NEW)):
        cell = nbformat.from_dict(cell_called(cells, name))
        cell = nbformat.from_dict({**cell, "id": id_, "source": cell.source})
        cell.metadata = nbformat.from_dict({"nbgrader": {**cell.metadata.nbgrader}})
        cell.metadata.nbgrader["grade_id"] = id_
        cells.append(cell)


def test_what_fits_is_left_alone(lab00: MarkedCourse) -> None:
    released = lab00.place / "release" / STEM / f"{STEM}.ipynb"
    before = released.stat().st_mtime_ns
    assert prepare(lab00.api, STEM) == []
    assert released.stat().st_mtime_ns == before


def test_a_check_added_after_collection_exists_in_every_hand_in(lab00: MarkedCourse) -> None:
    with lab00.writer() as writer:
        writer.save(outcome("ada"))
        writer.save(outcome("eve"))
    lab00.by_hand("ada", WRITTEN, 1.5)
    edit(lab00, add_an_exercise)
    assert prepare(lab00.api, STEM) == ["extra is new, of 4 points."]
    assert prepare(lab00.api, STEM) == []
    for student in ("ada", "eve"):
        assert lab00.rows(student)[NEW] == (None, None, True)
    assert lab00.rows("ada")[WRITTEN] == (None, 1.5, False)
    assert lab00.rows("ada")["check_scores"][0] == FULL["scores"]
    with lab00.writer() as writer:
        assert not writer.is_current("ada", "first", "as it is")
        changes = writer.save(outcome("ada", points=FULL | {"extra": 3}, course="changed"))
        assert [(c.exercise, c.old, c.new) for c in changes] == [("extra", None, 3)]
        writer.save(outcome("bob", points=FULL | {"extra": 2}, course="changed"))
    assert lab00.rows("bob")[NEW] == (2, None, False)
    with lab00.gradebook as gradebook:
        assert gradebook.find_assignment(STEM).max_score == sum(FULL.values()) + 2 + 4
        assert gradebook.find_assignment(STEM).duedate is not None
        assert gradebook.find_comment("extra", STEM, STEM, "eve") is not None


def test_a_check_taken_out_takes_its_marks_along_and_says_which_were_set_by_hand(
    lab00: MarkedCourse,
) -> None:
    with lab00.writer() as writer:
        for student in ("ada", "eve"):
            writer.save(outcome(student))
    lab00.by_hand("ada", "check_scores", 3)
    lab00.by_hand("eve", "check_embed", 1)

    def without_scores(cells: list[Any]) -> None:
        for name in ("scores", "check_scores"):
            cells.remove(cell_called(cells, name))

    edit(lab00, without_scores)
    assert prepare(lab00.api, STEM) == [
        "scores is no longer in the lab, and with it the marks set by hand: ada 3."
    ]
    assert "check_scores" not in lab00.rows("ada")
    assert lab00.rows("eve")["check_embed"] == (FULL["embed"], 1, False)
    with lab00.gradebook as gradebook:
        assert gradebook.find_submission(STEM, "ada").score == sum(FULL.values()) - FULL["scores"]
    assert (lab00.place / "release" / STEM / f"{STEM}.ipynb").exists()


def test_other_points_or_another_text_reach_the_gradebook(lab00: MarkedCourse) -> None:
    with lab00.writer() as writer:
        writer.save(outcome("ada"))

    def change(cells: list[Any]) -> None:
        cell_called(cells, "check_scores").metadata.nbgrader["points"] = 5.0
        cell_called(cells, "given_1").source += "\n# a word more"

    edit(lab00, change)
    assert prepare(lab00.api, STEM) == ["scores is of 5 points now, not of 4."]
    with lab00.gradebook as gradebook:
        assert gradebook.find_grade_cell("check_scores", STEM, STEM).max_score == 5
        assert "a word more" in gradebook.find_source_cell("given_1", STEM, STEM).source
    assert lab00.rows("ada")["check_scores"][0] == FULL["scores"]


def test_a_lab_without_hand_ins_simply_becomes_the_new_one(lab00: MarkedCourse) -> None:
    edit(lab00, add_an_exercise)
    assert prepare(lab00.api, STEM) == []
    with lab00.writer() as writer:
        writer.save(outcome("ada", points=FULL | {"extra": 4}))
    assert lab00.rows("ada")[NEW] == (4, None, False)


def test_what_cannot_be_released_is_said(
    lab00: MarkedCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(GradebookError, match="source/lab09 is missing"):
        prepare(lab00.api, "lab09")
    edit(lab00, add_an_exercise)
    said = {"success": False, "error": "the disk is full"}
    with monkeypatch.context() as patched:
        patched.setattr(lab00.api, "generate_assignment", lambda _: said)
        with pytest.raises(GradebookError, match="the disk is full"):
            prepare(lab00.api, STEM)
    edit(lab00, lambda cells: cell_called(cells, NEW).metadata.nbgrader.pop("points"))
    with pytest.raises(GradebookError, match="is not as `python -m grader build` makes it"):
        prepare(lab00.api, STEM)
