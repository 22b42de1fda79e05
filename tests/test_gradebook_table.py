"""The table of a class: every student, true numbers, and nothing a name could break."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import pytest
from rich.console import Console

from grader.gradebook.database import GradebookError
from grader.gradebook.grades_csv import write_csv
from grader.gradebook.plain import duration, number, on_one_line
from grader.gradebook.printed import LISTED, MANY, print_table
from grader.gradebook.states import create_table, from_outcome, put
from grader.gradebook.table import BY_NBGRADER, NOT_YET, exit_code, grades
from grader.gradebook.writer import Change
from grader.outcome import ABSENT, GRADED, PARTLY, REPAIRED, UNREADABLE
from tests.gradebook_course import FULL, STEM, WRITTEN, MarkedCourse, outcome

EVIL = '=cmd|"/C calc"!A0'
LOUD = "[red]\x1b[31mbob[/red"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return MarkedCourse.made(tmp_path_factory.mktemp("course")).place


@pytest.fixture
def lab00(template: Path, tmp_path: Path) -> MarkedCourse:
    return MarkedCourse.copied(template, tmp_path / "course")


@pytest.fixture
def class_(lab00: MarkedCourse) -> MarkedCourse:
    """One student of each kind."""
    lab00.api.config.LateSubmissionPlugin.penalty_method = "zero"
    lab00.due("2026-01-01 12:00:00 UTC")
    lab00.hand_in("late", "2026-01-03 18:00:00 UTC")
    lab00.hand_in("missing")
    with lab00.writer() as writer:
        writer.save(outcome("ada", mistakes={"embed": "counts from one"}))
        writer.save(outcome(EVIL, REPAIRED, why="The check of embed was put back."))
        writer.save(outcome(LOUD, tampering=("Cell 7 rebinds `check`.", "=1+1")))
        writer.save(outcome("late", points=dict.fromkeys(FULL, 1 / 7)))
        writer.save(outcome("partly", PARTLY, why="scores did not finish in time."))
        writer.save(outcome("unread", UNREADABLE, why="The file is empty.", notebook=""))
        writer.save(outcome("blank", points={}, unanswered=frozenset({WRITTEN})))
        writer.absent("missing")
    lab00.by_hand("ada", WRITTEN, 1.5, extra=0.25)
    lab00.by_hand("partly", "check_scores", 3)
    return lab00


def row(frame: pd.DataFrame, student: str, part: str) -> pd.Series:
    return frame[(frame.student == student) & (frame.part == part)].iloc[0]


def printed(frame: pd.DataFrame, changes: Iterable[Change] = (), width: int = 80) -> str:
    text = io.StringIO()
    print_table(frame, STEM, Console(file=text, width=width), list(changes))
    return text.getvalue()


def test_every_student_has_a_row_for_every_part_in_the_labs_order(class_: MarkedCourse) -> None:
    frame = grades(class_.api)
    assert list(frame.part[:7]) == [*FULL, WRITTEN]
    assert list(frame.student.unique()) == sorted(
        ["ada", EVIL, LOUD, "late", "partly", "unread", "blank", "missing"]
    )
    assert len(frame) == 8 * 7
    assert dict(zip(frame.student, frame.state, strict=True)) == {
        "ada": GRADED,
        EVIL: REPAIRED,
        LOUD: GRADED,
        "late": GRADED,
        "partly": PARTLY,
        "unread": UNREADABLE,
        "blank": GRADED,
        "missing": ABSENT,
    }
    assert row(frame, "ada", "embed").mistake == "counts from one"
    assert row(frame, "late", "embed").late == 54 * 3600
    assert row(frame, "late", "embed").penalty == pytest.approx(6 / 7)


def test_nothing_is_not_zero(class_: MarkedCourse) -> None:
    frame = grades(class_.api, [STEM])
    assert frame[frame.student == "missing"].points.isna().all()
    assert pd.isna(row(frame, "late", WRITTEN).points)  # waits to be marked
    assert row(frame, "blank", WRITTEN).points == 0
    assert (frame[frame.student == "unread"].points == 0).all()


def test_marks_set_by_hand_count_and_are_told_from_the_graders(class_: MarkedCourse) -> None:
    frame = grades(class_.api)
    written, override = row(frame, "ada", WRITTEN), row(frame, "partly", "scores")
    assert (written.points, written.set_by_hand) == (1.75, True)
    assert pd.isna(written.by_grader)
    assert (override.points, override.by_grader, override.set_by_hand) == (3, FULL["scores"], True)
    text = printed(frame)
    assert "partly: scores: mark set by hand: 3, grader says 4" in text
    assert "ada: " not in text
    with class_.gradebook as gradebook:
        for student in ("ada", "partly", "blank", "unread"):
            mine = frame[frame.student == student].points.sum()
            assert mine == gradebook.find_submission(STEM, student).score


def test_the_csv_is_quoted_exact_and_harmless(class_: MarkedCourse, tmp_path: Path) -> None:
    path = tmp_path / "grades.csv"
    path.write_text("old", encoding="utf-8")
    write_csv(grades(class_.api), path)
    raw = path.read_bytes().decode("utf-8")
    rows = list(csv.DictReader(io.StringIO(raw)))
    assert all(line.startswith('"') and line.endswith('"') for line in raw.splitlines())
    assert len(rows) == 8 * 7
    by = {(r["student"], r["part"]): r for r in rows}
    assert by["missing", "embed"]["points"] == ""
    assert by["unread", "embed"]["points"] == "0"
    assert by["late", "embed"]["points"] == "0.1429"
    assert by["partly", "scores"]["set_by_hand"] == "yes"
    assert by[f"'{EVIL}", "embed"]["why"] == "The check of embed was put back."
    assert not any(v.startswith(("=", "+", "-", "@", "\t")) for r in rows for v in r.values())
    assert by[LOUD, "embed"]["tampering"] == "Cell 7 rebinds `check`.; =1+1"
    assert not list(tmp_path.glob(".*"))


def test_a_csv_that_cannot_be_written_leaves_the_old_one(
    class_: MarkedCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(frame: pd.DataFrame, path: Path, **_: object) -> None:
        Path(path).write_text("half", encoding="utf-8")
        raise OSError("disk full")

    path = tmp_path / "grades.csv"
    path.write_text("old", encoding="utf-8")
    monkeypatch.setattr(pd.DataFrame, "to_csv", fail)
    with pytest.raises(OSError, match="disk full"):
        write_csv(grades(class_.api), path)
    assert path.read_text(encoding="utf-8") == "old"
    assert not list(tmp_path.glob(".*"))


def test_the_printed_table_fits_80_columns_and_says_what_to_look_at(class_: MarkedCourse) -> None:
    changes = [Change("ada", "embed", 1.0, 2.0), Change("ada", "scores", None, 4.0)]
    text = printed(grades(class_.api), changes)
    table, _, lists = text.partition("To look at")
    assert max(map(len, table.splitlines())) <= 80
    words = " ".join(table.split())
    assert "ada 2 4 2 4 4 2 1.75 19.75 graded" in words
    assert "late 0.14 0.14 0.14 0.14 0.14 0.14 … 0 graded 2 d" in words
    assert "missing – – – – – – – – absent" in words
    assert "3*" in words
    assert (
        "4 graded · 1 graded after repair · 1 partly graded · 1 unreadable · 1 absent · 1 late"
        in words
    )
    for line in (
        "unread: unreadable. The file is empty.",
        "partly: partly graded. scores did not finish in time.",
        "The check of embed was put back.",
        "Cell 7 rebinds `check`.",
        "ada: embed 1 → 2, scores – → 4",
    ):
        assert line in lists


def test_a_narrow_terminal_breaks_headers_and_no_number(class_: MarkedCourse) -> None:
    frame = grades(class_.api)
    frame = frame[frame.student.isin(["ada", "unread"])]
    words = " ".join(printed(frame, width=64).split())
    assert "ada 2 4 2 4 4 2 1.75 19.75 graded" in words
    assert "unread 0 0 0 0 0 0 0 0 unreadable" in words
    assert "student of 2 of 4 of 2 of 4 of 4 of 2 of 2 of 20 state" in words


def test_a_name_cannot_colour_or_break_the_terminal(class_: MarkedCourse) -> None:
    text = printed(grades(class_.api), width=200)
    assert "\x1b" not in text
    assert text.count("[red]\ufffd[31mbob[/red") == 3  # in the table, and its two remarks


def test_of_a_large_class_only_those_to_look_at_are_shown(lab00: MarkedCourse) -> None:
    size = MANY + 40
    with lab00.writer() as writer:
        for at in range(size):
            said = (PARTLY, "scores did not finish.") if at % 10 == 0 else (GRADED, "")
            writer.save(outcome(f"student{at:03d}", said[0], why=said[1]))
    text = printed(grades(lab00.api))
    assert f"{size} students; shown are the 10 to look at" in text
    assert "student010" in text
    assert "student011" not in text
    assert "90 graded · 10 partly graded" in text
    assert "mean" in text
    frame = grades(lab00.api)
    frame["why"] = "Everybody's check was put back."
    text = printed(frame)
    assert f"and {size - LISTED} more" in text
    assert len(text.splitlines()) < MANY + LISTED + 30


def test_a_class_of_nobody_and_one_that_is_all_absent_are_printed_too(
    lab00: MarkedCourse, tmp_path: Path
) -> None:
    assert "Nobody is on the roster." in printed(grades(lab00.api, [STEM]))
    with lab00.gradebook as gradebook:
        gradebook.add_student("zoe")
    frame = grades(lab00.api, [STEM])
    assert "1 absent" in printed(frame)
    assert "mean" not in printed(frame)
    write_csv(frame.iloc[:0], tmp_path / "grades.csv")
    assert len((tmp_path / "grades.csv").read_text(encoding="utf-8").splitlines()) == 1


def test_the_exit_code_says_whether_there_is_something_to_look_at(lab00: MarkedCourse) -> None:
    assert exit_code(grades(lab00.api, [STEM])) == 1  # nobody at all
    lab00.due("2026-01-01 12:00:00 UTC")
    lab00.hand_in("late", "2026-01-03 12:00:00 UTC")
    lab00.hand_in("eve")
    with lab00.writer() as writer:
        writer.save(outcome("late"))
        writer.save(outcome("eve", REPAIRED, why="The check of embed was put back."))
        assert exit_code(grades(lab00.api)) == 0
        for state in (PARTLY, UNREADABLE):
            writer.save(outcome("eve", state, why="Something."))
            assert exit_code(grades(lab00.api)) == 1
        writer.absent("eve")
        assert exit_code(grades(lab00.api)) == 1


def test_who_was_not_graded_by_a_class_run_has_a_state_too(lab00: MarkedCourse) -> None:
    lab00.hand_in("ada")
    with lab00.gradebook as gradebook:
        gradebook.add_student("zoe")
        gradebook.add_student("bob")
        gradebook.add_submission(STEM, "bob")
    frame = grades(lab00.api, [STEM])
    states = dict(zip(frame.student, frame.state, strict=True))
    assert states == {"ada": NOT_YET, "bob": NOT_YET, "zoe": ABSENT}
    with lab00.gradebook as gradebook:
        for grade in gradebook.find_submission(STEM, "bob").notebooks[0].grades:
            grade.auto_score = 1.0
        gradebook.db.commit()
    about = row(grades(lab00.api, [STEM]), "bob", "embed")
    assert (about.state, about.why) == (GRADED, BY_NBGRADER)
    with lab00.gradebook as gradebook:
        create_table(gradebook.engine)
        put(gradebook.db, from_outcome(outcome("bob", REPAIRED, why="Put back."), late=0.0))
        gradebook.db.commit()
    assert row(grades(lab00.api, [STEM]), "bob", "embed").state == REPAIRED


def test_a_student_taken_out_of_the_course_is_gone(lab00: MarkedCourse) -> None:
    with lab00.writer() as writer:
        writer.save(outcome("ada"))
        writer.save(outcome("eve"))
    with lab00.gradebook as gradebook:
        gradebook.remove_student("eve")
    assert set(grades(lab00.api).student) == {"ada"}


def test_a_lab_nobody_knows_is_named(lab00: MarkedCourse) -> None:
    with pytest.raises(GradebookError, match="lab09 is not in the gradebook"):
        grades(lab00.api, ["lab09"])
    assert grades(lab00.api).empty


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (4.000000001, "4"),
        (sum([1 / 7] * 7), "1"),
        (0, "0"),
        (-1e-9, "0"),
        (12.25, "12.25"),
        (1234.5, "1234.5"),
        (100, "100"),
    ],
)
def test_numbers_have_no_crumbs(points: float, said: str) -> None:
    assert number(points) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, ""), (0.2, "1 s"), (59, "59 s"), (60, "1 min"), (7200, "2 h"), (86400 * 2, "2 d")],
)
def test_durations_are_in_their_largest_fitting_unit(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_text_is_kept_on_one_line() -> None:
    assert on_one_line("a\nb\x1b[2J \t c√") == "a b\ufffd[2J c√"
