"""A text that does not hold together stops the build with file, line and reason."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.build import build, notebook
from grader.gate import answered
from grader.markers import CourseError, read_lab

HEADER = """\
# ---
# jupyter:
#   lab:
#     title: A lab
#     points: 5
#     minutes: 10
# ---

"""
SOLUTION = """\
# %% solution="softmax"
def softmax(x):
    ### BEGIN SOLUTION
    return x
    ### END SOLUTION

"""
CHECK = """\
# %% check="softmax" points=5
check("softmax", softmax)

"""


def write(tmp_path: Path, text: str, header: str = HEADER) -> Path:
    path = tmp_path / "lab99_test.py"
    path.write_text(header + text, encoding="utf-8")
    return path


def test_a_sound_text_is_read_with_roles_and_lines(tmp_path: Path) -> None:
    lab = read_lab(write(tmp_path, "# %% given\nimport numpy\n\n" + SOLUTION + CHECK))
    assert [(cell.role, cell.name, cell.line) for cell in lab.cells] == [
        ("given", "", 9),
        ("solution", "softmax", 12),
        ("check", "softmax", 18),
    ]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ('# %% solutoin="softmax"\nx = 1\n', 9, "unknown marker 'solutoin'"),
        ("# %% somehow\nx = 1\n", 9, "unknown marker 'somehow'"),
        (SOLUTION + SOLUTION + CHECK, 9, "two solution cells are called 'softmax'"),
        (SOLUTION + CHECK + CHECK, 15, "two check cells are called 'softmax'"),
        (SOLUTION + CHECK.replace("5", "4"), 1, "says 5 points, but the cells add up to 4"),
        (SOLUTION + CHECK.replace(" points=5", ""), 15, "wants points=n"),
        (SOLUTION + CHECK.replace("=5", "=-5"), 15, "wants points=n above 0"),
        (SOLUTION + CHECK.replace("points=5", 'points="five"'), 15, "wants points=n above 0"),
        (CHECK, 9, "no solution cell of that name"),
        (SOLUTION.replace("    ### END SOLUTION\n", "") + CHECK, 9, "without ### END SOLUTION"),
        (SOLUTION.replace("    ### BEGIN SOLUTION\n", "") + CHECK, 9, "without ### BEGIN SOLUTION"),
        (
            SOLUTION.replace("    return x\n", "    ### BEGIN SOLUTION\n") + CHECK,
            9,
            "a second ### BEGIN SOLUTION",
        ),
        ('# %% solution="f"\ndef f(): pass\n', 9, "a solution cell wants ### BEGIN SOLUTION"),
        ("# %% given\n### BEGIN SOLUTION\n### END SOLUTION\n", 9, "only a solution cell"),
        ('# %% given solution="f"\nx = 1\n', 9, "a cell has one role"),
        ('# %% [markdown] check="f" points=5\n# text\n', 9, "a check cell is a code cell"),
        ('# %% manual="why" points=5\nx = 1\n', 9, "a manual cell is a markdown cell"),
        ("# %% check points=5\nx = 1\n", 9, 'the check marker wants a name: check="name"'),
        ("# %% given points=5\nx = 1\n", 9, "only check and manual cells have points"),
        ('# %% [markdown] lang="fr"\n# texte\n', 9, "unknown language 'fr'"),
        ('# %% [markdown] lang="es"\n# texto\n', 9, "names its English cell"),
        ('# %% [markdown] lang="en" of="12"\n# text\n', 9, "names its English cell"),
        ('# %% given lang="en"\nx = 1\n', 9, "a language cell has no role"),
        (
            SOLUTION + '# %% [markdown] manual="softmax" points=5\n# text\n',
            15,
            "a manual and a solution cell are called 'softmax'",
        ),
        ("#%%\nx = 1\n", 1, "begin with `# %%` and a blank"),
    ],
)
def test_what_is_wrong_is_said_with_file_and_line(
    tmp_path: Path, text: str, line: int, reason: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(CourseError) as caught:
        read_lab(path)
    assert str(caught.value).startswith(f"{path}:{line}: ")
    assert reason in str(caught.value)


@pytest.mark.parametrize("missing", ["title", "points", "minutes"])
def test_the_header_says_title_points_and_minutes(tmp_path: Path, missing: str) -> None:
    header = re.sub(rf"#     {missing}.*\n", "", HEADER)
    with pytest.raises(CourseError, match=f"does not say {missing}"):
        read_lab(write(tmp_path, SOLUTION + CHECK, header))


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (
            HEADER.replace("points: 5", "points: five"),
            "the header's points are 'five', not a number",
        ),
        (HEADER.replace("title: A lab", "title: [A lab"), "the header cannot be read"),
    ],
)
def test_a_broken_header_is_said(tmp_path: Path, header: str, reason: str) -> None:
    with pytest.raises(CourseError, match=r"lab99_test.py:1: " + re.escape(reason)):
        read_lab(write(tmp_path, SOLUTION + CHECK, header))


def test_a_missing_text_is_named(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"lab99.py:1: there is no such text"):
        read_lab(tmp_path / "lab99.py")


def test_a_language_keeps_its_own_cells_and_those_of_no_language(tmp_path: Path) -> None:
    text = (
        '# %% [markdown] lang="en"\n# English\n\n# %% [markdown] lang="es" of="1"\n# Español\n\n'
        "# %%\nx = 1\n\n" + SOLUTION + CHECK
    )
    lab = read_lab(write(tmp_path, text))
    sources = [cell.source for cell in notebook(lab, "es").cells[:2]]
    assert sources == ["Español", "x = 1"]
    assert notebook(lab, "en").cells[0].source == "English"


def test_ids_follow_names_so_that_more_prose_changes_none(tmp_path: Path) -> None:
    text = "# %% given\nx = 1\n\n" + SOLUTION + CHECK + "# %% given\ny = 1\n\n"
    lab = read_lab(write(tmp_path, text))
    ids = [cell.id for cell in notebook(lab).cells]
    assert ids == ["given_1", "softmax", "check_softmax", "given_2"]
    more = read_lab(write(tmp_path, '# %% [markdown] lang="en"\n# More.\n\n' + text))
    roles = [c.metadata.nbgrader.grade_id for c in notebook(more).cells if "nbgrader" in c.metadata]
    assert roles == ids


COURSE = {
    "no cases": (
        SOLUTION.replace("softmax", "sofa") + CHECK.replace("softmax", "sofa"),
        "check of 'sofa' has no cases",
    ),
    "other points": (SOLUTION + CHECK, "'softmax' is worth 5 points here, 6 in the cases' file"),
}


@pytest.mark.parametrize("what", COURSE)
def test_text_and_cases_must_agree(tmp_path: Path, what: str) -> None:
    text, reason = COURSE[what]
    (tmp_path / "course").mkdir()
    name = "lab01_scaled_dot_product"
    (tmp_path / "course" / f"{name}.py").write_text(HEADER + text, encoding="utf-8")
    with pytest.raises(CourseError, match=reason):
        list(build(tmp_path, (name,)))
    assert not (tmp_path / "source").exists()


def test_a_cell_that_raises_stops_the_build_with_its_line(tmp_path: Path) -> None:
    given = "# %% given\nimport nothing_of_that_name\n\n"
    path = write(tmp_path, given + SOLUTION + CHECK)
    with pytest.raises(CourseError, match=r"lab99_test.py:9: the given cell raises ModuleNotFound"):
        answered(read_lab(path))
