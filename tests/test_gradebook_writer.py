"""The gradebook after a class run: whole students, true marks, and nothing of an earlier run."""

from __future__ import annotations

import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from nbformat.v4 import new_notebook
from nbgrader.dbutil import _temp_alembic_ini
from nbgrader.plugins import CsvExportPlugin, LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties
from sqlalchemy import event

from grader.gradebook import states
from grader.gradebook.database import GradebookError, open_gradebook
from grader.gradebook.writer import GONE, LATE_PENALTY, Change, Writer
from grader.outcome import ABSENT, GRADED, PARTLY, REPAIRED, UNREADABLE
from tests.conftest import ROOT
from tests.gradebook_course import FULL, STEM, WRITTEN, MarkedCourse, outcome

FULL_ROWS = {f"check_{name}": (points, None, False) for name, points in FULL.items()}
DUE, DAY_LATER = "2026-01-01 12:00:00 UTC", "2026-01-02 12:00:00 UTC"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return MarkedCourse.made(tmp_path_factory.mktemp("course")).place


@pytest.fixture
def lab00(template: Path, tmp_path: Path) -> MarkedCourse:
    return MarkedCourse.copied(template, tmp_path / "course")


def state(course: MarkedCourse, student: str) -> states.State:
    gradebook = open_gradebook(course.api)
    try:
        found = states.state_of(gradebook.db, STEM, student)
        assert found is not None
        return found
    finally:
        gradebook.close()


def test_all_of_a_student_is_written_in_one_commit(lab00: MarkedCourse) -> None:
    lab00.due(DUE)
    lab00.hand_in("ada", DAY_LATER)
    commits = []
    with lab00.writer() as writer:
        event.listen(writer._gradebook.engine, "commit", commits.append)
        said = outcome(
            "ada",
            REPAIRED,
            why="A check was put back.",
            mistakes={"embed": "off by one", "scores": ""},
            tampering=("Cell 7 rebinds `check`.", "Cell 9 too."),
        )
        assert writer.save(said) == []
        assert len(commits) == 1
        assert writer.absent("eve") == []
        assert len(commits) == 2
    assert lab00.rows("ada") == FULL_ROWS | {WRITTEN: (None, None, True)}
    kept = state(lab00, "ada")
    assert (kept.state, kept.why, kept.late) == (REPAIRED, "A check was put back.", 86400)
    assert kept.mistakes == {"embed": "off by one"}
    assert kept.tampering.splitlines() == list(said.tampering)
    assert (kept.hand_in, kept.course) == ("first", "as it is")
    assert abs((datetime.now(UTC).replace(tzinfo=None) - kept.graded_at).total_seconds()) < 60


@pytest.mark.parametrize("where", ["put", "replace", "commit"])
def test_what_fails_in_the_middle_changes_nothing(
    lab00: MarkedCourse, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("pulled the plug")

    lab00.hand_in("ada")
    with lab00.writer() as writer:
        writer.save(outcome("ada"))
        before = state(lab00, "ada"), lab00.rows("ada")
        if where == "put":
            monkeypatch.setattr(states, "put", fail)
        elif where == "replace":
            monkeypatch.setattr(os, "replace", fail)
        else:
            event.listen(writer._gradebook.engine, "commit", fail, once=True)
        with pytest.raises(RuntimeError, match="plug"):
            writer.save(outcome("ada", points={}, hand_in="second", notebook="{}"))
        monkeypatch.undo()
        assert (state(lab00, "ada"), lab00.rows("ada")) == before
        assert not writer.is_current("ada", "second", "as it is")
        if where != "commit":
            text = (lab00.marked("ada") / f"{STEM}.ipynb").read_text(encoding="utf-8")
            assert text == '{"cells": []}'
        writer.save(outcome("eve"))  # the next student is none the worse
        writer.save(outcome("ada", points={}, hand_in="second", notebook="{}"))
    assert lab00.rows("eve")["check_embed"] == (FULL["embed"], None, False)
    assert lab00.rows("ada")["check_embed"] == (0.0, None, False)
    assert [path.name for path in lab00.marked("ada").iterdir()] == [f"{STEM}.ipynb"]


def test_the_same_outcome_twice_leaves_the_same(lab00: MarkedCourse) -> None:
    with lab00.writer() as writer:
        writer.save(outcome("ada"))
        once = lab00.rows("ada")
        assert writer.save(outcome("ada")) == []
    assert lab00.rows("ada") == once


def test_a_new_hand_in_lowers_marks_and_leaves_no_stale_one(lab00: MarkedCourse) -> None:
    with lab00.writer() as writer:
        writer.save(outcome("ada"))
        fewer = {"embed": 0.5, "lookup": FULL["lookup"]}
        changes = writer.save(outcome("ada", points=fewer, hand_in="second"))
    rows = lab00.rows("ada")
    assert {name: rows[f"check_{name}"][0] for name in FULL} == dict.fromkeys(FULL, 0.0) | fewer
    assert changes == [
        Change("ada", name, points, fewer.get(name, 0.0))
        for name, points in FULL.items()
        if name != "lookup"
    ]


def test_marks_set_by_hand_stay_and_ask_to_be_looked_at_again(lab00: MarkedCourse) -> None:
    with lab00.writer() as writer:
        writer.save(outcome("ada"))
        lab00.by_hand("ada", WRITTEN, 1.5)
        lab00.by_hand("ada", "check_scores", 3)
        assert writer.save(outcome("ada", points={}, hand_in="second"))
        rows = lab00.rows("ada")
        assert rows[WRITTEN] == (None, 1.5, True)
        assert rows["check_scores"] == (0.0, 3, True)
        writer.save(outcome("ada", UNREADABLE, notebook=""))
        assert lab00.rows("ada")["check_scores"] == (0.0, 3, False)


def test_an_answer_left_as_released_scores_zero_and_gets_nbgraders_comment(
    lab00: MarkedCourse,
) -> None:
    with lab00.writer() as writer:
        writer.save(outcome("ada", unanswered=frozenset({WRITTEN, "embed"})))
        assert lab00.rows("ada")[WRITTEN] == (0.0, None, False)
        with lab00.gradebook as gradebook:
            comments = gradebook.find_submission(STEM, "ada").notebooks[0].comments
            said = {comment.cell.name for comment in comments if comment.auto_comment}
            assert {c.auto_comment for c in comments} == {None, "No response."}
        assert said == {WRITTEN, "embed"}
        writer.save(outcome("ada"))
    assert lab00.rows("ada")[WRITTEN] == (None, None, True)
    with lab00.gradebook as gradebook:
        assert gradebook.find_comment("embed", STEM, STEM, "ada").auto_comment is None


@pytest.mark.parametrize("points", [float("nan"), float("inf"), -1.0, 2.25])
def test_points_that_cannot_be_count_nothing_and_are_said(
    lab00: MarkedCourse, points: float
) -> None:
    with lab00.writer() as writer:
        writer.save(outcome("ada", points=FULL | {"embed": points}))
    assert lab00.rows("ada")["check_embed"][0] == 0
    kept = state(lab00, "ada")
    assert kept.state == PARTLY
    assert "embed: the grader gave" in kept.why


def test_an_unreadable_hand_in_has_zeros_and_no_marked_copy(lab00: MarkedCourse) -> None:
    lab00.hand_in("ada")
    with lab00.writer() as writer:
        writer.save(outcome("ada"))
        assert lab00.marked("ada").exists()
        said = outcome("ada", UNREADABLE, why="The file is empty.", notebook="", points={})
        changes = writer.save(said)
    assert [change.new for change in changes] == [0.0] * len(FULL)
    assert set(lab00.rows("ada").values()) == {(0.0, None, False)}
    assert not lab00.marked("ada").exists()
    assert (state(lab00, "ada").state, state(lab00, "ada").why) == (
        UNREADABLE,
        "The file is empty.",
    )


def test_an_absent_student_keeps_no_mark_but_those_set_by_hand(lab00: MarkedCourse) -> None:
    lab00.due(DUE)
    lab00.hand_in("ada", DAY_LATER)
    lab00.api.config.LateSubmissionPlugin.penalty_method = "zero"
    with lab00.writer() as writer:
        writer.save(outcome("ada"))
        lab00.by_hand("ada", "check_scores", 3)
        changes = writer.absent("ada")
        assert Change("ada", "embed", FULL["embed"], None) in changes
        assert Change("ada", LATE_PENALTY, sum(FULL.values()), 0.0) in changes
        rows = lab00.rows("ada")
        assert rows.pop("check_scores") == (None, 3, False)
        assert set(rows.values()) == {(None, None, False)}
        assert lab00.penalty("ada") == 0
        assert not lab00.marked("ada").exists()
        assert (state(lab00, "ada").state, state(lab00, "ada").why) == (ABSENT, GONE)
        assert not writer.is_current("ada", "first", "as it is")
        # Said once; a rerun writes nothing, and a hand-in that comes after all is new.
        assert writer.absent("ada") == []
        assert writer.save(outcome("ada")) == []
    assert lab00.rows("ada")["check_embed"] == (FULL["embed"], None, False)


def test_being_late_costs_what_the_course_says_until_an_extension(lab00: MarkedCourse) -> None:
    lab00.api.config.LateSubmissionPlugin.penalty_method = "zero"
    lab00.due(DUE)
    lab00.hand_in("ada", DAY_LATER)
    full = sum(FULL.values())
    with lab00.writer() as writer:
        writer.save(outcome("ada"))
        assert lab00.penalty("ada") == full
        assert state(lab00, "ada").late == 86400
        assert writer.is_current("ada", "first", "as it is")
        lab00.by_hand("ada", WRITTEN, 1, extra=0.5)  # the score is another now
        assert not writer.is_current("ada", "first", "as it is")
        assert writer.save(outcome("ada")) == [Change("ada", LATE_PENALTY, full, full + 1.5)]
        with lab00.gradebook as gradebook:
            gradebook.grant_extension(STEM, "ada", days=1)
        assert not writer.is_current("ada", "first", "as it is")
        assert writer.save(outcome("ada")) == [Change("ada", LATE_PENALTY, full + 1.5, 0.0)]
        assert (lab00.penalty("ada"), state(lab00, "ada").late) == (0, 0)
        assert writer.is_current("ada", "first", "as it is")


def test_another_due_date_is_noticed_where_being_late_costs_nothing(lab00: MarkedCourse) -> None:
    lab00.due(DUE)
    lab00.hand_in("ada", DAY_LATER)
    with lab00.writer() as writer:
        writer.save(outcome("ada"))
        assert writer.is_current("ada", "first", "as it is")
        lab00.due(DAY_LATER)
        assert not writer.is_current("ada", "first", "as it is")
        assert writer.save(outcome("ada")) == []
    assert state(lab00, "ada").late == 0


def test_the_courses_own_penalty_plugin_is_asked_as_nbgrader_asks_it(lab00: MarkedCourse) -> None:
    class MoreThanAll(LateSubmissionPlugin):  # type: ignore[misc]
        def late_submission_penalty(self, student: str, score: float, late: float) -> float:
            asked.append((student, score, late))
            return score + 5 if student == "ada" else -1.0

    asked: list[tuple[str, float, float]] = []
    lab00.api.config.AssignLatePenalties.plugin_class = MoreThanAll
    lab00.due(DUE)
    with lab00.writer() as writer:
        for student in ("ada", "eve"):
            lab00.hand_in(student, DAY_LATER)
            writer.save(outcome(student))
    full = sum(FULL.values())
    assert asked == [("ada", full, 86400), ("eve", full, 86400)]
    assert (lab00.penalty("ada"), lab00.penalty("eve")) == (full, 0)
    # nbgrader's own step finds nothing to change.
    step = AssignLatePenalties(parent=lab00.api)
    about = {"notebook": STEM, "assignment": STEM, "student": "ada"}
    about["db_url"] = lab00.api.coursedir.db_url
    step.preprocess(new_notebook(), {"nbgrader": about})
    assert lab00.penalty("ada") == full


@pytest.mark.parametrize("text", ["soon", "2026-13-45", "\ufeff\0\0", "x" * 10_000, "9" * 150])
def test_an_unreadable_timestamp_counts_as_on_time_and_is_said(
    lab00: MarkedCourse, text: str
) -> None:
    lab00.due(DUE)
    lab00.hand_in("ada", DAY_LATER)
    with lab00.writer() as writer:
        writer.save(outcome("ada"))
        assert state(lab00, "ada").late > 0
        lab00.hand_in("ada", text)
        assert not writer.is_current("ada", "first", "as it is")
        writer.save(outcome("ada", why="A check was put back."))
        assert writer.is_current("ada", "first", "as it is")
    kept = state(lab00, "ada")
    assert kept.late == 0
    assert kept.why.startswith("A check was put back. ")
    assert "timestamp.txt" in kept.why


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="links and pipes are of Unix")
def test_a_timestamp_that_leads_elsewhere_is_not_followed(lab00: MarkedCourse) -> None:
    lab00.due(DUE)
    secret = lab00.place / "secret.txt"
    secret.write_text(DAY_LATER, encoding="utf-8")
    (lab00.hand_in("ada") / "timestamp.txt").symlink_to(secret)
    os.mkfifo(lab00.hand_in("eve") / "timestamp.txt")
    with lab00.writer() as writer:
        for student in ("ada", "eve"):
            writer.save(outcome(student))
            assert state(lab00, student).late == 0
            assert "timestamp.txt" in state(lab00, student).why


def test_timestamps_are_stored_as_nbgrader_stores_them(lab00: MarkedCourse) -> None:
    folder = lab00.hand_in("ada", "2026-01-01 13:30:00.250000 Europe/Madrid")
    with lab00.writer() as writer:
        writer.save(outcome("ada"))
        stored = datetime(2026, 1, 1, 12, 30, 0, 250000)
        for place in (folder, lab00.marked("ada")):
            assert lab00.api.coursedir.get_existing_timestamp(str(place)) == stored
        with lab00.gradebook as gradebook:
            assert gradebook.find_submission(STEM, "ada").timestamp == stored
        (folder / "timestamp.txt").unlink()
        writer.save(outcome("ada"))
        with lab00.gradebook as gradebook:  # nbgrader too keeps what it knows
            assert gradebook.find_submission(STEM, "ada").timestamp == stored
        assert not (lab00.marked("ada") / "timestamp.txt").exists()


def test_the_marked_copy_stands_alone_and_is_read_only(lab00: MarkedCourse) -> None:
    lab00.hand_in("ada", DUE)
    folder = lab00.marked("ada")
    (folder / "old").mkdir(parents=True)
    (folder / "old" / "numpy.py").write_text("", encoding="utf-8")
    (folder / f"{STEM}.ipynb.new").write_text("half", encoding="utf-8")
    (folder / "away").symlink_to(lab00.source)
    with lab00.writer() as writer:
        writer.save(outcome("ada", notebook='{"cells": ["√ \udc80"]}'))
        writer.save(outcome("ada", notebook='{"cells": ["√ \udc80"]}'))
    assert sorted(path.name for path in folder.iterdir()) == [f"{STEM}.ipynb", "timestamp.txt"]
    text = (folder / f"{STEM}.ipynb").read_text(encoding="utf-8")
    assert text == '{"cells": ["√ ?"]}'
    assert all(stat.S_IMODE(path.stat().st_mode) == 0o444 for path in folder.iterdir())
    assert (lab00.source / f"{STEM}.ipynb").exists()


KILLED = """
import sys
from pathlib import Path
from tests.conftest import ROOT
from tests.gradebook_course import MarkedCourse, outcome

course = MarkedCourse(Path(sys.argv[1]))
with course.writer() as writer:
    for number in range(200):
        student = f"student{number % 20:02d}"
        points = {"embed": number // 20 % 3}
        print(student, flush=True)
        text = str(number // 20)
        writer.save(outcome(student, points=points, hand_in=text, notebook=text))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows cannot kill so")
@pytest.mark.parametrize("after", [25, 77])
def test_a_run_that_is_killed_leaves_every_student_whole(lab00: MarkedCourse, after: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(lab00.place)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as run:
        assert run.stdout is not None
        for _ in range(after):
            run.stdout.readline()
        time.sleep(after % 10 / 1000)  # somewhere inside of a save
        run.kill()
    half = {}
    for number in range(20):
        student = f"student{number:02d}"
        kept = state(lab00, student)
        assert lab00.rows(student)["check_embed"][0] == int(kept.hand_in) % 3
        text = (lab00.marked(student) / f"{STEM}.ipynb").read_text(encoding="utf-8")
        if text != kept.hand_in:
            half[student] = int(kept.hand_in)
    # The copy goes first: a student caught in between is still the old one, and is marked again.
    assert len(half) <= 1
    with lab00.writer() as writer:
        for student, old in half.items():
            assert not writer.is_current(student, str(old + 1), "as it is")
        for number in range(20):
            writer.save(outcome(f"student{number:02d}", hand_in="last"))
            assert sorted(path.name for path in lab00.marked(f"student{number:02d}").iterdir()) == [
                f"{STEM}.ipynb"
            ]


def test_a_rerun_goes_on_where_the_last_one_stopped(lab00: MarkedCourse) -> None:
    lab00.hand_in("ada")
    with lab00.writer() as writer:
        assert not writer.is_current("ada", "first", "as it is")
        writer.save(outcome("ada"))
    with lab00.writer() as writer:
        assert writer.is_current("ada", "first", "as it is")
        assert not writer.is_current("ada", "second", "as it is")
        assert not writer.is_current("ada", "first", "changed")
        writer.save(outcome("eve", hand_in="", course=""))
        assert not writer.is_current("eve", "", "")  # no digest says nothing
        writer.save(outcome("bob", UNREADABLE, notebook=""))
        assert writer.is_current("bob", "first", "as it is")


@pytest.mark.parametrize("lost", ["copy", "mark", "submission"])
def test_what_was_lost_since_is_marked_again(lab00: MarkedCourse, lost: str) -> None:
    with lab00.writer() as writer:
        writer.save(outcome("ada"))
        with lab00.gradebook as gradebook:
            if lost == "copy":
                (lab00.marked("ada") / f"{STEM}.ipynb").unlink()
            elif lost == "mark":
                gradebook.find_grade("check_embed", STEM, STEM, "ada").auto_score = None
            else:
                gradebook.remove_submission(STEM, "ada")
            gradebook.db.commit()
        assert not writer.is_current("ada", "first", "as it is")
        writer.save(outcome("ada"))
        assert writer.is_current("ada", "first", "as it is")


def test_the_roster_is_the_gradebook_and_the_folders(lab00: MarkedCourse) -> None:
    with lab00.gradebook as gradebook:
        gradebook.add_student("zoe")
    lab00.hand_in("ada")
    submitted = lab00.place / "submitted"
    (submitted / "bob" / "another_lab").mkdir(parents=True)
    for other in (".ipynb_checkpoints", "__MACOSX"):
        (submitted / other).mkdir()
    (submitted / "a file.zip").write_text("", encoding="utf-8")
    with lab00.writer() as writer:
        assert writer.roster() == ["ada", "bob", "zoe"]
        writer.absent("bob")
        assert writer.roster() == ["ada", "bob", "zoe"]


def test_names_and_words_no_database_can_hold_end_no_batch(lab00: MarkedCourse) -> None:
    with lab00.writer() as writer:
        writer.save(
            outcome(
                "ad\udce1",
                why="odd \0 \udc80",
                mistakes={"embed": "\udc80"},
                tampering=("\0",),
            )
        )
        assert writer.is_current("ad\udce1", "first", "as it is")
        assert "ad?" in writer.roster()
    assert "\0" not in state(lab00, "ad?").why


def test_a_locked_gradebook_is_waited_for_and_then_named(lab00: MarkedCourse) -> None:
    file = lab00.place / "gradebook.db"

    def hold(seconds: float, held: threading.Event) -> None:
        other = sqlite3.connect(file)
        other.execute("BEGIN EXCLUSIVE")
        held.set()
        time.sleep(seconds)
        other.rollback()
        other.close()

    def while_held(seconds: float, patience: float) -> None:
        held = threading.Event()
        with lab00.writer(patience=patience) as writer:
            other = threading.Thread(target=hold, args=(seconds, held))
            other.start()
            held.wait()
            try:
                writer.save(outcome("ada"))
            finally:
                other.join()

    with pytest.raises(GradebookError, match="The gradebook is locked"):
        while_held(1.0, 0.1)
    while_held(1.0, 30.0)
    assert lab00.rows("ada")["check_embed"] == (FULL["embed"], None, False)


def test_a_commit_that_is_refused_does_not_ride_on_the_next_one(lab00: MarkedCourse) -> None:
    with lab00.writer(patience=0.1) as writer:
        writer.save(outcome("ada"))
        reader = sqlite3.connect(lab00.place / "gradebook.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM grade").fetchone()  # a reader lets write, but not commit
        with pytest.raises(GradebookError, match="locked"):
            writer.save(outcome("ada", points={}, hand_in="second"))
        assert not writer.is_current("ada", "second", "as it is")
        reader.rollback()
        reader.close()
        writer.save(outcome("eve"))
    assert lab00.rows("ada")["check_embed"] == (FULL["embed"], None, False)
    assert lab00.rows("eve")["check_embed"] == (FULL["embed"], None, False)


def test_a_lab_that_is_not_in_the_gradebook_is_named(lab00: MarkedCourse) -> None:
    with (
        pytest.raises(GradebookError, match="lab01 is not in the gradebook"),
        Writer(lab00.api, "lab01"),
    ):
        pass


def test_a_class_of_300_needs_few_queries_and_leaves_no_connection_open(
    lab00: MarkedCourse,
) -> None:
    queries: list[str] = []
    with lab00.writer() as writer:
        engine = writer._gradebook.engine
        event.listen(engine, "before_cursor_execute", lambda *said: queries.append(said[2]))
        for number in range(300):
            writer.save(outcome(f"student{number:03d}"))
        assert len(queries) / 300 < 16
        queries.clear()
        for number in range(60):
            writer.save(outcome(f"student{number:03d}"))
        assert len(queries) / 60 < 8
        assert engine.pool.checkedin() + engine.pool.checkedout() == 0  # workers are forked now
    with lab00.gradebook as gradebook:
        assert gradebook.average_assignment_score(STEM) == sum(FULL.values())


def test_nbgraders_own_commands_read_what_was_written(lab00: MarkedCourse) -> None:
    lab00.due(DUE)
    for student in ("ada", "eve"):
        lab00.hand_in(student, DAY_LATER)
    with lab00.writer() as writer:
        writer.save(outcome("ada"))
        writer.save(outcome("eve", UNREADABLE, notebook="", points={}))
        writer.absent("zoe")
    found = {about["student"]: about for about in lab00.api.get_submissions(STEM)}
    assert found["ada"]["score"] == sum(FULL.values())
    assert found["ada"]["autograded"]
    assert found["ada"]["needs_manual_grade"]
    assert not found["eve"]["needs_manual_grade"]
    with lab00.gradebook as gradebook:
        assert gradebook.average_assignment_score(STEM) == sum(FULL.values()) / 2
        sheet = CsvExportPlugin(parent=lab00.api, to=str(lab00.place / "nbgrader.csv"))
        sheet.export(gradebook)
    assert ",18.0," in (lab00.place / "nbgrader.csv").read_text(encoding="utf-8")
    # `nbgrader db upgrade` runs this.
    with _temp_alembic_ini(lab00.api.coursedir.db_url) as ini:
        done = subprocess.run(
            ["alembic", "-c", ini, "upgrade", "head"], capture_output=True, text=True, check=False
        )
    assert done.returncode == 0, done.stderr
    assert state(lab00, "ada").state == GRADED
    with lab00.gradebook as gradebook:
        gradebook.remove_student("ada")
        gradebook.remove_assignment(STEM)
