"""What the notebooks to read and play with promise: whole, offline, computed, answering no lab."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader.catalogue import LABS, READINGS, exercises
from grader.markers import Text, read_lab, read_reading
from grader.release import answer_lines, code_lines
from grader.run_notebook import warnings_in
from tests.conftest import ROOT, needs_sandbox
from tests.offline import OFFLINE, run_offline
from tests.test_course import PICTURE, without_worked_cases

THEORY = [stem for stem in READINGS if stem.startswith("theory")]
# A theory is read before its lab, so it may use what that lab gives, and answers nothing of it.
READ_BEFORE = dict(zip(THEORY, (LABS[0], *LABS), strict=True))

FORMULAS_AND_CODE = re.compile(r"```.*?```|\$\$.*?\$\$|`[^`]*`|\$[^$]+\$|^\|.*?$", re.S | re.M)
# Views that `explore_heatmaps` has beside the plots of the labs; all but the plots say their words.
WITH_WORDS = re.compile(r"\b(figure|panels|HeadView|two_maps|explore)\(")
DRAWS = re.compile(f"{PICTURE.pattern}|{WITH_WORDS.pattern}")
QUESTION = re.compile(r"\*\*Question for the picture:((?!\*\*).)*\?", re.S)
ANSWER = re.compile(r"<details><summary>Answer</summary>\n\n(.+?)\n\n</details>", re.S)

# Each idea of the two documents that the course grew from, and where it is told.
with (ROOT / "tests" / "ideas.csv").open(encoding="utf-8", newline="") as table:
    IDEAS = list(csv.DictReader(table, delimiter=";"))


def read(stem: str) -> Text:
    return read_reading(ROOT / "course" / f"{stem}.py")


def sections(text: Text) -> dict[str, str]:
    """Give a text's sections by heading, code included; "" holds what stands before the first."""
    told = {"": ""}
    heading = ""
    for cell in text.cells:
        for part in re.split(r"(?m)^(?=## )", cell.source) if cell.kind == "markdown" else [""]:
            if found := re.match(r"## (.+)", part):
                heading = found[1]
            told[heading] = told.get(heading, "") + part + "\n"
        if cell.kind == "code":
            told[heading] += cell.source + "\n"
    return told


@pytest.fixture(params=READINGS)
def reading(request: pytest.FixtureRequest) -> Text:
    return read(request.param)


@pytest.fixture(params=THEORY)
def theory(request: pytest.FixtureRequest) -> Text:
    return read(request.param)


@needs_sandbox
@pytest.mark.parametrize("stem", READINGS)  # labs are run in `test_nbgrader`
def test_it_runs_from_a_fresh_kernel_without_a_network_or_a_warning(
    stem: str, tmp_path: Path
) -> None:
    ran = run_offline(ROOT / "notebooks" / f"{stem}.ipynb", tmp_path / "ran.ipynb")
    assert warnings_in(ran) == []
    assert "<figure" in json.dumps(ran)


@needs_sandbox
def test_without_a_network_means_that_nothing_is_reached() -> None:
    reach = "import socket; socket.create_connection(('192.0.2.1', 80), timeout=5)"
    command = [*OFFLINE, sys.executable, "-c", reach]
    ran = subprocess.run(command, capture_output=True, text=True)
    assert "Network is unreachable" in ran.stderr


def test_its_title_asks_a_question_and_says_how_long_it_takes(reading: Text) -> None:
    title, question, *_ = reading.cells[0].source.split("\n\n")
    assert re.match(r"# (Theory 0\d|Explore) · ", title)
    assert question.startswith("**")
    assert question.endswith("?**")
    assert reading.minutes.replace("-", "–") in reading.cells[0].source


def test_numbers_in_its_prose_are_computed_not_typed(reading: Text) -> None:
    for cell in reading.cells:
        if cell.kind == "markdown":
            typed = re.findall(r"\d+\.\d+", FORMULAS_AND_CODE.sub("", cell.source))
            assert not typed, f"{reading.path.name}:{cell.line}: {typed}"


def test_every_picture_answers_a_question_asked_above_it(reading: Text) -> None:
    asked = False
    for cell in reading.cells:
        if cell.kind == "markdown":
            asked |= bool(QUESTION.search(cell.source))
        elif DRAWS.search(code := without_definitions(cell.source)):
            assert WITH_WORDS.search(code), f"{reading.path.name}:{cell.line}: no words"
            assert asked, f"{reading.path.name}:{cell.line}: no question is asked above it"
            asked = False


def without_definitions(code: str) -> str:
    """Leave out functions: what they draw is drawn where they are called."""
    return re.sub(r"(?m)^def .*\n(?:(?: .*)?\n)*", "", code + "\n")


def test_a_theory_ends_in_questions_with_folded_answers(theory: Text) -> None:
    text = sections(theory)["Questions"]
    asked = re.findall(r"(?m)^\*\*(\d)\. [^*]+\*\*", text)
    assert 3 <= len(asked) <= 5
    assert len(ANSWER.findall(text)) == text.count("<details>") == len(asked)
    assert list(sections(theory))[-1] == "Questions"


def test_a_theory_takes_ten_to_fifteen_minutes(theory: Text) -> None:
    prose = " ".join(cell.source for cell in theory.cells if cell.kind == "markdown")
    words = len(without_worked_cases(prose).split())
    assert 1000 <= words <= 2400, words


def test_a_theory_answers_no_exercise_of_its_lab_or_a_later_one(theory: Text) -> None:
    labs = [read_lab(ROOT / "course" / f"{stem}.py") for stem in LABS]
    own = READ_BEFORE[theory.stem]
    given = set().union(*(answer_lines(lab) for lab in labs if lab.stem < own))
    kept = set().union(*(answer_lines(lab) for lab in labs if lab.stem >= own)) - given
    code = "\n".join(cell.source for cell in theory.cells if cell.kind == "code")
    assert not code_lines(code) & kept
    names = {exercise.name for stem in LABS if stem >= own for exercise in exercises(stem)}
    assert not names & set(re.findall(r"(?:def|class) (\w+)", code))


def test_ideas_are_told_where_the_table_says() -> None:
    missing = []
    told = {stem: sections(read(stem)) for stem in READINGS}
    told |= {stem: sections(read_lab(ROOT / "course" / f"{stem}.py")) for stem in LABS}
    for row in IDEAS:
        text = told[row["notebook"]].get(row["section"])
        if text is None or not re.search(row["pattern"], " ".join(text.split())):
            missing.append(f"{row['idea']}: {row['notebook']}, {row['section']!r}")
    assert not missing, "\n".join(missing)


def test_the_table_of_ideas_holds_each_once_and_every_notebook() -> None:
    ideas = [row["idea"] for row in IDEAS]
    assert len(ideas) == len(set(ideas)) >= 90
    assert {row["notebook"] for row in IDEAS} >= set(READINGS)


def test_the_readme_lists_every_reading_with_its_question_and_minutes(reading: Text) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (row,) = [line for line in readme.splitlines() if line.startswith(f"| [`{reading.stem}`]")]
    question, minutes = (cell.strip() for cell in row.strip("| ").split("|")[-2:])
    assert f"**{question}**" in reading.cells[0].source.replace("$", "").replace("\\", "")
    assert minutes == reading.minutes.replace("-", "–")
