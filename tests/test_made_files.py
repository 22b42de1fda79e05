"""What is made from `course/` is what a rebuild makes, and holds nothing it should not."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

import nbformat
import pytest

from attnlab.encode import dumps, loads
from grader.build import build
from grader.catalogue import LABS, READINGS, exercises
from grader.markers import Lab, read_lab
from grader.release import (
    ReleaseError,
    answer_lines,
    code_lines,
    kept_cases,
    kept_numbers,
    leaks,
    release,
)
from grader.sheets import sheet, visible_sheet
from tests.conftest import ROOT


def text_of(stem: str) -> Lab:
    return read_lab(ROOT / "course" / f"{stem}.py")


@pytest.fixture(scope="module")
def rebuilt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the texts alone, built and released anew."""
    place = tmp_path_factory.mktemp("course")
    shutil.copytree(ROOT / "course", place / "course")
    shutil.copy(ROOT / "nbgrader_config.py", place)
    list(build(place, check=False))  # the gate has tests of its own
    list(release(place))
    return place


OF_A_LAB = ("source/{0}/{0}.ipynb", "release/{0}/{0}.ipynb", "attnlab/visible/{0}.json")
MADE = [made.format(stem) for stem in LABS for made in OF_A_LAB]
MADE += [f"notebooks/{stem}.ipynb" for stem in READINGS]


@pytest.mark.parametrize("name", MADE)
def test_a_rebuild_is_the_same_to_the_byte(rebuilt: Path, name: str) -> None:
    assert (rebuilt / name).read_bytes() == (ROOT / name).read_bytes(), (
        f"{name} is not what course/ makes: run `make build release` and commit"
    )


def test_no_made_folder_holds_anything_else() -> None:
    stages = {stage: {f"{stem}/{stem}.ipynb" for stem in LABS} for stage in ("source", "release")}
    stages["notebooks"] = {f"{stem}.ipynb" for stem in READINGS}
    for stage, names in stages.items():
        files = {p for p in (ROOT / stage).rglob("*") if p.is_file()}
        inside = {p for p in files if not {".ipynb_checkpoints", "pictures"} & set(p.parts)}
        assert {p.relative_to(ROOT / stage).as_posix() for p in inside} == names


def test_made_notebooks_say_what_they_are_made_from(lab: Lab) -> None:
    for stage in ("source", "release"):
        notebook = nbformat.read(ROOT / stage / lab.stem / f"{lab.stem}.ipynb", as_version=4)
        assert f"course/{lab.stem}.py" in notebook.metadata.made_from
        assert all(not cell.get("outputs") for cell in notebook.cells)


def test_nothing_kept_back_stands_in_a_release(lab: Lab) -> None:
    assert list(leaks(ROOT, lab)) == []


def test_nothing_kept_back_stands_in_the_students_package() -> None:
    texts = {
        p: p.read_text(encoding="utf-8")
        for p in (ROOT / "attnlab").rglob("*.*")
        if p.suffix in (".py", ".json")
    }
    lines = {line for text in texts.values() for line in code_lines(text)}
    for stem in LABS:
        assert not answer_lines(read_lab(ROOT / "course" / f"{stem}.py")) & lines
        for case, numbers in kept_cases(stem).items():
            # Small whole numbers and what comes of them meet elsewhere; most of a case does not.
            for path, text in texts.items():
                assert sum(number in text for number in numbers) <= len(numbers) / 2, (case, path)
    assert not [p for p, text in texts.items() if "import grader" in text or "from grader" in text]


def test_kept_numbers_are_really_looked_for(lab: Lab) -> None:
    assert len(kept_numbers(lab.stem)) > 100


@pytest.mark.parametrize(
    ("planted", "said"),
    [
        ("### BEGIN HIDDEN TESTS", "HIDDEN TESTS"),
        ("from grader.mark import mark", "grader.mark"),
        ("**Rubric.** 1 point", "Rubric"),
        ("KEPT NUMBER", "a number of a kept-back case"),
    ],
)
def test_a_leak_is_found(tmp_path: Path, planted: str, said: str) -> None:
    stem = "lab00_qkv"
    (tmp_path / "course").symlink_to(ROOT / "course")
    shutil.copytree(ROOT / "release" / stem, tmp_path / "release" / stem)
    path = tmp_path / "release" / stem / f"{stem}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    number = next(iter(sorted(kept_numbers(stem))))
    notebook.cells[-1].source = planted.replace("KEPT NUMBER", f"try {number}")
    nbformat.write(notebook, path)
    assert any(said in leak for leak in leaks(tmp_path, read_lab(ROOT / "course" / f"{stem}.py")))


ANSWERS = [(lab, cell.name) for lab in LABS for cell in text_of(lab).of_role("solution")]


@pytest.mark.parametrize(("stem", "name"), ANSWERS)
def test_an_answer_as_it_stands_in_the_text_is_found_in_a_release(
    tmp_path: Path, stem: str, name: str
) -> None:
    (tmp_path / "course").symlink_to(ROOT / "course")
    shutil.copytree(ROOT / "release" / stem, tmp_path / "release" / stem)
    path = tmp_path / "release" / stem / f"{stem}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    (cell,) = [cell for cell in text_of(stem).of_role("solution") if cell.name == name]
    lines = [line for line in cell.source.splitlines() if "### " not in line]
    notebook.cells[1].source = "\n".join(lines)
    nbformat.write(notebook, path)
    assert any("a line of an answer" in leak for leak in leaks(tmp_path, text_of(stem)))


def test_a_file_beside_the_notebook_is_found(tmp_path: Path) -> None:
    stem = "lab00_qkv"
    (tmp_path / "course").symlink_to(ROOT / "course")
    shutil.copytree(ROOT / "release" / stem, tmp_path / "release" / stem)
    (tmp_path / "release" / stem / "answers.py").write_text("")
    assert any(
        "answers.py" in leak for leak in leaks(tmp_path, read_lab(ROOT / "course" / f"{stem}.py"))
    )


def test_a_release_that_leaks_is_refused(tmp_path: Path) -> None:
    stem = "lab00_qkv"
    shutil.copytree(ROOT / "course", tmp_path / "course")
    shutil.copytree(ROOT / "source" / stem, tmp_path / "source" / stem)
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    (tmp_path / "source" / stem / "checks.py").write_text("secret = 1")
    with pytest.raises(ReleaseError, match=r"checks.py"):
        list(release(tmp_path, (stem,)))


def test_a_missing_source_is_said(tmp_path: Path) -> None:
    (tmp_path / "course").symlink_to(ROOT / "course")
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    with pytest.raises(ReleaseError, match="python -m grader build"):
        list(release(tmp_path, ("lab00_qkv",)))


def test_sheets_survive_being_written(lab: Lab) -> None:
    sheets = [visible_sheet(exercise.name) for exercise in exercises(lab.stem)]
    again = loads(dumps(sheets))
    assert dumps(again) == dumps(sheets)
    assert [s.exercise for s in again] == [s.exercise for s in sheets]


def test_visible_sheets_hold_visible_cases_only() -> None:
    for exercise in exercises():
        part = visible_sheet(exercise.name)
        assert all(case.visible for case in part.cases)
        worth = sum(case.points for case in part.cases)
        assert worth + part.kept_back == exercise.points
        kept = {
            case.name
            for case in sheet(exercise.name, with_mistakes=False).cases
            if not case.visible
        }
        assert not kept & {case.name for case in part.cases}


def test_what_is_installed_is_the_students_package_alone_and_whole() -> None:
    setuptools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert setuptools["packages"] == {"find": {"include": ["attnlab*"]}}
    patterns = [*setuptools["package-data"]["attnlab"], "*.py"]
    for path in (ROOT / "attnlab").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            inside = path.relative_to(ROOT / "attnlab")
            assert any(inside.match(pattern) for pattern in patterns), inside
