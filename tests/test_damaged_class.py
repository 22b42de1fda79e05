"""A class with every damage we know in it: nobody else is affected, nothing stops."""

from __future__ import annotations

import sys

import pytest

from grader.catalogue import exercises
from grader.engine.sandbox import why_missing
from grader.gradebook.prepare import prepare
from grader.hand_ins import answers
from grader.markers import read_lab
from grader.outcome import GRADED
from tests.class_course import ClassCourse
from tests.conftest import ROOT
from tests.damage import DAMAGES

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="grading is on Linux")

STEM = "lab00_qkv"
MOST = {exercise.name: exercise.points for exercise in exercises(STEM)}
BY_NBGRADER = 5  # every fifth damage is graded by nbgrader's own command too, which is slower


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> ClassCourse:
    """Hand in a class: damaged ones between good ones."""
    made = ClassCourse(tmp_path_factory.mktemp("class"), STEM)
    prepare(made.api, STEM)
    right = answers(read_lab(ROOT / "course" / f"{STEM}.py"))
    made.hand_in({f"{number:03d} good": right for number in range(0, len(DAMAGES), 20)})
    return made


def name_of(number: int) -> str:
    return f"{number:03d} damaged"


def test_each_ends_in_its_state_with_its_marks_and_nobody_else_is_affected(
    course: ClassCourse,
) -> None:
    may_lose = {}
    for number, damage in enumerate(DAMAGES.values()):
        may_lose[name_of(number)] = damage.hand_in(STEM, course.folder(name_of(number)))
    files = [path for path in course.place.glob("submitted/**/*.*") if path.is_file()]
    before = {path: path.read_bytes() for path in files}
    code, _ = course.grade(jobs=2)
    assert code == 1
    frame = course.frame()
    wrong = []
    for number, (name, damage) in enumerate(DAMAGES.items()):
        rows = frame[frame.student == name_of(number)]
        state, why = rows.state.iloc[0], rows.why.iloc[0]
        points = dict(zip(rows.part, rows.points, strict=True))
        if state != damage.state:
            wrong.append(f"{name}: {state} instead of {damage.state}: {why}")
        for exercise, most in MOST.items():
            earns = 0 if damage.state == "unreadable" else most
            fits = points[exercise] == earns or (
                exercise in may_lose[name_of(number)] and points[exercise] < most
            )
            if not fits:
                wrong.append(f"{name}: {points[exercise]} points in {exercise}: {why}")
    assert not wrong, "\n".join(wrong)
    good = frame[frame.student.str.endswith("good") & frame.part.isin(MOST)]
    assert set(good.state) == {GRADED}
    assert (good.points == good.of).all()
    assert {path: path.read_bytes() for path in files} == before  # what was handed in stays


def test_nbgraders_own_command_does_not_stop_either(course: ClassCourse) -> None:
    course.api.config.Mark.confined = not why_missing()
    chosen = dict(list(enumerate(DAMAGES.values()))[::BY_NBGRADER])
    for number, damage in chosen.items():
        damage.hand_in(STEM, course.folder(name_of(number)))
        course.api.autograde(STEM, name_of(number))
    last = course.api.autograde(STEM, "000 good")
    assert last["success"], last["error"]
    frame = course.frame()
    good = frame[(frame.student == "000 good") & frame.part.isin(MOST)]
    assert (good.points == good.of).all()
