"""A class with every damage we know in it: nobody else is affected, nothing stops."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest

from grader.catalogue import exercises
from grader.engine.sandbox import why_missing
from grader.gradebook.prepare import prepare
from grader.hand_ins import answers
from grader.markers import read_lab
from grader.outcome import GRADED, UNREADABLE
from tests.class_course import ClassCourse
from tests.conftest import ROOT
from tests.damage import DAMAGES, Damage

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="grading is on Linux")

STEM = "lab00_qkv"
MOST = {exercise.name: exercise.points for exercise in exercises(STEM)}
BY_NBGRADER = 20  # one damage in so many is graded by nbgrader's own command too, which is slower


@dataclass(frozen=True)
class Handed:
    """A class, and which exercises each damage may cost marks in."""

    course: ClassCourse
    may_lose: dict[str, frozenset[str]]


@pytest.fixture(scope="module")
def handed(tmp_path_factory: pytest.TempPathFactory) -> Handed:
    """Hand in a class: damaged ones between good ones."""
    course = ClassCourse(tmp_path_factory.mktemp("class"), STEM)
    prepare(course.api, STEM)
    right = answers(read_lab(ROOT / "course" / f"{STEM}.py"))
    course.hand_in({f"{number:03d} good": right for number in range(0, len(DAMAGES), 20)})
    may_lose = {
        name_of(number): damage.hand_in(STEM, course.folder(name_of(number)))
        for number, damage in enumerate(DAMAGES.values())
    }
    return Handed(course, may_lose)


def name_of(number: int) -> str:
    return f"{number:03d} damaged"


def wrong_marks(handed: Handed, number: int, damage: Damage) -> list[str]:
    """Name the marks of a damaged hand-in that are not what they should be."""
    student = name_of(number)
    points = handed.course.points(student)
    return [
        f"{damage.name}: {points[exercise]} points in {exercise}"
        for exercise, most in MOST.items()
        if points[exercise] != (0 if damage.state == UNREADABLE else most)
        if not (exercise in handed.may_lose[student] and points[exercise] < most)
    ]


def good_ones_keep_everything(course: ClassCourse) -> bool:
    frame = course.frame()
    good = frame[frame.student.str.endswith("good") & frame.part.isin(MOST)]
    return set(good.state) == {GRADED} and bool((good.points == good.of).all())


def test_each_ends_in_its_state_with_its_marks_and_nobody_else_is_affected(handed: Handed) -> None:
    course = handed.course
    files = [path for path in course.place.glob("submitted/**/*.*") if path.is_file()]
    before = {path: path.read_bytes() for path in files}
    code, said = course.grade(jobs=2)
    assert code == 1
    states = course.states()
    wrong = []
    for number, damage in enumerate(DAMAGES.values()):
        if states[name_of(number)] != damage.state:
            wrong.append(f"{damage.name}: {states[name_of(number)]} instead of {damage.state}")
        wrong += wrong_marks(handed, number, damage)
    assert not wrong, "\n".join([*wrong, said])
    assert good_ones_keep_everything(course)
    assert {path: path.read_bytes() for path in files} == before  # what was handed in stays


def test_nbgraders_own_command_does_not_stop_either(handed: Handed) -> None:
    course = handed.course
    course.api.config.Mark.confined = not why_missing()
    wrong = []
    for number, damage in list(enumerate(DAMAGES.values()))[::BY_NBGRADER]:
        if course.api.autograde(STEM, name_of(number))["success"]:
            wrong += wrong_marks(handed, number, damage)
    assert not wrong, "\n".join(wrong)
    last = course.api.autograde(STEM, "000 good")
    assert last["success"], last["error"]
    assert course.points("000 good").items() >= MOST.items()
