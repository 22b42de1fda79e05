"""A class always ends with a mark or a reason for everyone, whatever happens on the way."""

from __future__ import annotations

import csv
import multiprocessing
import os
import random
import shutil
import signal
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import pytest

from grader import demo
from grader.catalogue import LABS, exercises
from grader.class_run import UnknownStudent
from grader.engine import pool
from grader.engine.assess import Budget
from grader.engine.grade import How
from grader.engine.job import Job
from grader.engine.sandbox import SandboxMissing, why_missing
from grader.gradebook.prepare import prepare
from grader.hand_ins import HandIn, answers, demo_class
from grader.markers import Lab, read_lab
from grader.outcome import ABSENT, GRADED, PARTLY, UNREADABLE, Outcome
from grader.seed import HiddenSeed
from grader.sheets import sheet
from tests.class_course import ClassCourse
from tests.conftest import ROOT
from tests.nbgrader_course import own

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="grading is on Linux")

STEM = "lab00_qkv"
LAB = read_lab(ROOT / "course" / f"{STEM}.py")
RIGHT = answers(LAB)
MOST = {exercise.name: exercise.points for exercise in exercises(STEM)}
LOOP = own("def project(*a):\n    while True: pass\n")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bring the lab into a gradebook without students."""
    course = ClassCourse(tmp_path_factory.mktemp("prepared"), STEM)
    prepare(course.api, STEM)
    return course.place / "gradebook.db"


@pytest.fixture
def lab00(tmp_path: Path, prepared: Path) -> ClassCourse:
    course = ClassCourse(tmp_path, STEM)
    shutil.copy(prepared, tmp_path)
    return course


def class_of(n: int) -> Mapping[str, HandIn]:
    return demo_class(LAB, n, 15)


def test_everyone_on_the_roster_gets_one_named_state(
    lab00: ClassCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.engine.assess.Budget", partial(Budget, case=1.0, exercise=2.0))
    lab00.hand_in({"ada": RIGHT, "bob": {**RIGHT, "project": LOOP}})
    (lab00.folder("cy")).mkdir(parents=True)
    (lab00.folder("cy") / f"{STEM}.ipynb").write_text("<html>log in</html>")
    (lab00.place / "submitted" / "dee").mkdir()
    code, said = lab00.grade()
    assert code == 1
    assert lab00.states() == {"ada": GRADED, "bob": PARTLY, "cy": UNREADABLE, "dee": ABSENT}
    assert MOST.items() <= lab00.points("ada").items()
    assert {**MOST, "project": 0.0}.items() <= lab00.points("bob").items()
    assert "project stopped: it did not finish in time" in said
    with (lab00.place / "grades.csv").open(encoding="utf-8") as file:
        rows = {(row["student"], row["part"]): row for row in csv.DictReader(file)}
    assert rows["cy", "embed"]["points"] == "0"
    assert rows["dee", "embed"]["points"] == ""  # absent is not zero


def test_a_class_that_is_all_graded_ends_with_0_and_is_passed_over_next_time(
    lab00: ClassCourse,
) -> None:
    lab00.hand_in(class_of(3))
    assert lab00.grade()[0] == 0
    before = lab00.frame()
    code, said = lab00.grade()
    assert (code, "0 to grade" in said) == (0, True)
    code, said = lab00.grade(again=True)
    assert (code, "3 to grade" in said, "→" in said) == (0, True, False)
    assert lab00.frame().equals(before)


def test_a_new_hand_in_is_graded_anew_and_the_difference_listed(lab00: ClassCourse) -> None:
    lab00.hand_in({"ada": RIGHT, "bob": RIGHT})
    lab00.grade()
    lab00.hand_in({"ada": {**RIGHT, "scores": own("def scores(q, k):\n    return q @ k.T\n")}})
    code, said = lab00.grade()
    assert (code, "1 to grade" in said) == (0, True)
    assert lab00.points("ada")["scores"] == 3.25
    assert "4 → 3.25" in said
    assert (lab00.place / "changes.csv").read_text().splitlines()[1:] == [
        '"ada","scores","4.0","3.25"'
    ]


def test_only_those_asked_for_are_graded(lab00: ClassCourse) -> None:
    lab00.hand_in({"ada": RIGHT, "bob": RIGHT})
    _, said = lab00.grade(students=["bob"])
    assert "1 to grade" in said
    assert lab00.states()["bob"] == GRADED
    assert lab00.states()["ada"] != GRADED
    with pytest.raises(UnknownStudent, match="zoe is neither"):
        lab00.grade(students=["zoe"])


def test_without_a_sandbox_nothing_is_graded_unless_asked_for(
    lab00: ClassCourse, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab00.hand_in({"ada": RIGHT})
    monkeypatch.setattr("grader.engine.sandbox.why_missing", lambda: "it is not installed")
    with pytest.raises(SandboxMissing, match="not installed"):
        lab00.grade(how=How())
    code, said = lab00.grade(how=How(confined=False))
    assert (code, "WITHOUT the sandbox" in said) == (0, True)


def test_figures_are_drawn_only_when_asked_for(lab00: ClassCourse) -> None:
    lab00.hand_in({"ada": RIGHT})
    marked = lab00.place / "autograded" / "ada" / STEM / f"{STEM}.ipynb"
    for figures in (False, True):
        lab00.grade(how=How(not why_missing(), figures))
        assert ("data:image/png" in marked.read_text(encoding="utf-8")) == figures


TALKS = (
    "print({0})",
    "raise ValueError(repr({0}))",
    "import warnings; warnings.warn(repr({0}))",
    "open('kept', 'a').write(repr({0}))",
)


@dataclass(frozen=True)
class Marked:
    """A class of one lab after its run: who was made with what, and what was printed."""

    course: ClassCourse
    lab: Lab
    class_: Mapping[str, HandIn]
    seed: str
    said: str


@pytest.fixture(scope="module", params=LABS)
def marked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Marked:
    stem = request.param
    course = ClassCourse(tmp_path_factory.mktemp(stem), stem)
    course.api.config.HiddenSeed.seed = "a sentence of our own"
    lab = read_lab(ROOT / "course" / f"{stem}.py")
    class_ = demo_class(lab, 5, 15)
    told = {}
    for number, talk in enumerate(TALKS):  # answers that say what they are called with
        right = class_["student01"].items()
        told[f"talks{number}"] = {n: own(talking(str(a.source), n, talk)) for n, a in right}
    course.hand_in(class_ | told)
    _, said = course.grade(jobs=2)
    seed = HiddenSeed(config=course.api.config).of("student01")
    return Marked(course, lab, class_, seed, said)


def test_every_mark_and_mistake_is_the_one_that_its_answer_was_made_with(
    marked: Marked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "PUBLIC_SEED", marked.seed)  # what it grades answers with
    marks = demo._marks(marked.course.api)
    marks = marks[marks.student.isin(marked.class_)]
    assert len(marks) == len(marked.class_) * len(exercises(marked.lab.stem))
    assert set(marks.state) == {GRADED}
    assert demo._differences(marked.lab, marked.class_, marks) == []


def test_no_kept_back_value_reaches_anything_that_students_may_see(marked: Marked) -> None:
    course = marked.course
    assert course.api.generate_feedback(course.stem)["success"]
    seen = [marked.said]
    for stage in ("release", "autograded", "feedback"):
        files = [path for path in (course.place / stage).rglob("*") if path.is_file()]
        assert files
        seen += [path.read_text(encoding="utf-8", errors="replace") for path in files]
    seen += [path.read_text(encoding="utf-8") for path in course.place.glob("*.log")]
    numbers = unmistakable(course.stem, marked.seed)
    assert len(numbers) > 10
    assert not [number for number in numbers for text in seen if number in text]


def unmistakable(stem: str, seed: str) -> set[str]:
    """Write out the numbers of kept-back cases, but not those that whole numbers lead to.

    A share of 0.33333333 may stand anywhere.
    """
    found: set[str] = set()
    for exercise in exercises(stem):
        made = sheet(exercise.name, seed, with_mistakes=False)
        for case, key in zip(made.cases, made.keys, strict=True):
            drawn = written(v for v in case.inputs.values() if isinstance(v, np.ndarray))
            if drawn and not case.visible:
                found |= drawn | written(key.expected.values())
    return found


def written(arrays: Iterable[np.ndarray]) -> set[str]:
    numbers = (repr(x) for array in arrays for x in np.ravel(array).tolist())
    return {number[:10] for number in numbers if len(number) >= 12 and "e" not in number}


def talking(source: str, name: str, talk: str) -> str:
    """Make an answer say what it is called with before it does its work."""
    if f"class {name}" in source:
        return source
    said = talk.format("(args, kwargs)")
    return (
        f"{source}\n\n_{name} = {name}\n\n\ndef {name}(*args, **kwargs):\n    {said}\n"
        f"    return _{name}(*args, **kwargs)\n"
    )


def deadly(job: Job) -> Outcome:
    """Grade nothing, and kill the process for one student."""
    if job.student == "evil":
        os.kill(os.getpid(), signal.SIGKILL)
    return Outcome(job.student, job.lab, GRADED)


def test_a_hand_in_that_kills_its_workers_is_given_up_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pool, "grade_job", deadly)
    names = ["a", "b", "evil", "c", "d", "e"]
    jobs = iter([Job(name, STEM, {}, "", "", How()) for name in names])
    outcomes = {outcome.student: outcome for outcome in pool.graded(jobs, 2)}
    assert sorted(outcomes) == sorted(names)
    assert outcomes["evil"].state == PARTLY
    assert "again and again" in outcomes["evil"].why
    assert {outcomes[name].state for name in names if name != "evil"} == {GRADED}


# ---- killed on the way ------------------------------------------------------------------

KILLS = 5  # for each of four seeds; where inside of a save, `test_gradebook_writer` tries
SIZE = 4


def run_to_its_end(place: Path) -> None:
    """Grade in a process of its own group."""
    os.setsid()
    course = ClassCourse.__new__(ClassCourse)
    from grader.nbgrader_api import course as open_course

    course.place, course.stem, course.api = place, STEM, open_course(ROOT, place)
    course.grade(jobs=2)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory, prepared: Path) -> ClassCourse:
    """Grade a class; each test begins anew, with nobody graded."""
    course = ClassCourse(tmp_path_factory.mktemp("killed"), STEM)
    shutil.copy(prepared, course.place / "gradebook.db")
    shutil.copy(prepared, course.place / "nobody.db")
    course.hand_in(class_of(SIZE))
    course.grade(jobs=2)
    return course


def begin_anew(course: ClassCourse) -> None:
    """Go back to where nobody is graded."""
    shutil.copy(course.place / "nobody.db", course.place / "gradebook.db")


@pytest.mark.parametrize("seed", range(4))
def test_a_run_or_a_worker_killed_at_any_moment_loses_and_doubles_nothing(
    killed: ClassCourse, seed: int
) -> None:
    undisturbed = killed.frame()
    assert set(undisturbed.state) == {GRADED}
    chance = random.Random(seed)
    context = multiprocessing.get_context("fork")
    finished = 0
    for turn in range(KILLS):
        if finished or turn == 0:  # begin anew, with nobody graded
            begin_anew(killed)
            finished = 0
        run = context.Process(target=run_to_its_end, args=(killed.place,))
        run.start()
        time.sleep(chance.uniform(0.2, 2.5))
        family = psutil.Process(run.pid).children(recursive=True) if run.is_alive() else []
        if turn % 2 and run.is_alive():
            workers = psutil.Process(run.pid).children()
            if workers:
                chance.choice(workers).kill()
            run.join(timeout=60)
            assert run.exitcode == 0  # it goes on with a new worker
            assert killed.frame().equals(undisturbed)
            finished = 1
        else:
            run.kill()
            run.join()
        _, alive = psutil.wait_procs(family, timeout=20)
        assert not alive, alive
    killed.grade(jobs=2)
    assert killed.frame().equals(undisturbed)


def test_an_interrupt_keeps_what_is_done_and_a_rerun_goes_on(killed: ClassCourse) -> None:
    undisturbed = killed.frame()
    begin_anew(killed)
    run = multiprocessing.get_context("fork").Process(target=run_to_its_end, args=(killed.place,))
    run.start()
    while run.is_alive() and GRADED not in killed.states().values():
        time.sleep(0.05)
    assert run.pid is not None
    os.kill(run.pid, signal.SIGINT)
    run.join(timeout=60)
    assert run.exitcode == 0
    graded = [s for s in killed.states().values() if s == GRADED]
    assert graded
    _, said = killed.grade(jobs=2)
    assert f"{SIZE - len(graded)} to grade" in said
    assert killed.frame().equals(undisturbed)
