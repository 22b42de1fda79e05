"""Any file becomes a valid notebook or a reason; nothing else, whatever its bytes."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.submission.read import Unreadable, find, read
from tests.conftest import ROOT
from tests.damage import DAMAGES, good

STEM = "lab00_qkv"
RELEASED = nbformat.read(ROOT / "release" / STEM / f"{STEM}.ipynb", as_version=4)
ANY_FILE = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def reads_or_says_why(path: Path) -> None:
    refused = ""
    try:
        notebook, notes = read(path)
    except Unreadable as error:
        refused = str(error)
    if refused:
        assert path.name in refused
        return
    nbformat.validate(notebook)
    nbformat.writes(notebook).encode()
    assert all(note.endswith(".") for note in notes)


@ANY_FILE
@given(st.data())
def test_a_hand_in_with_bytes_changed_or_cut_is_read_or_refused(
    tmp_path: Path, data: st.DataObject
) -> None:
    raw = bytearray(good(STEM, tmp_path).text().encode())
    for _ in range(data.draw(st.integers(0, 5))):
        at = data.draw(st.integers(0, len(raw) - 1))
        raw[at : at + data.draw(st.integers(0, 30))] = data.draw(st.binary(max_size=8))
    path = tmp_path / "x.ipynb"
    path.write_bytes(raw[: data.draw(st.integers(0, len(raw)))])
    reads_or_says_why(path)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["source", "metadata", "nbgrader", "x"]), inner, max_size=3
        )
    ),
    max_leaves=6,
)
CELL = st.dictionaries(
    st.sampled_from(
        ["cell_type", "source", "metadata", "id", "outputs", "attachments", "input", "level"]
    ),
    JSON | st.sampled_from(["code", "markdown", "raw", "heading"]),
)


@ANY_FILE
@given(
    st.fixed_dictionaries(
        {"cells": st.lists(CELL | JSON, min_size=1)},
        optional={"nbformat": JSON | st.integers(1, 6), "metadata": JSON, "worksheets": JSON},
    )
)
def test_any_json_with_a_list_of_cells_is_read_or_refused(tmp_path: Path, data: object) -> None:
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps(data), encoding="utf-8")
    reads_or_says_why(path)


def why(folder: Path) -> str:
    with pytest.raises(Unreadable) as caught:
        find(folder, RELEASED, STEM)
    return str(caught.value)


REASONS = {
    "file of no bytes": "empty (0 bytes)",
    "file cut off": "cut off or damaged",
    "marks of an unfinished merge": "git",
    "log in page": "web page",
    "zip called ipynb": "zip archive",
    "no cells": "without any cells",
    "format 5": "newer than this course reads",
    "another labs notebook": "another lab: lab03_masking",
    "another labs notebook stripped": "another lab: Lab 03",
    "a notebook of something else": "holds no cell of this lab",
    "script instead of the notebook": f"`{STEM}.py`",
    "printout instead of the notebook": f"`{STEM}.html`, `{STEM}.pdf`",
    "folder empty": "holds no file",
    "link that leads out": "link that leads out",
    "file far too large": "larger than 50 MB",
}


@pytest.mark.parametrize("name", REASONS)
def test_what_cannot_be_read_says_what_it_is_and_what_to_do(tmp_path: Path, name: str) -> None:
    DAMAGES[name].hand_in(STEM, tmp_path)
    assert REASONS[name] in why(tmp_path)
    assert "Please ask" in why(tmp_path)


def test_the_exact_name_wins_and_nothing_is_said(tmp_path: Path) -> None:
    made = good(STEM, tmp_path)
    (tmp_path / f"{STEM} (1).ipynb").write_text(made.text(), encoding="utf-8")
    made.cells = made.cells[:20]
    made.write()
    assert find(tmp_path, RELEASED, STEM) == (made.path, [])


def test_of_several_copies_the_fullest_then_the_newest_is_taken_and_named(tmp_path: Path) -> None:
    made = good(STEM, tmp_path)
    for number, age in ((1, 100), (2, 0), (3, 50)):
        path = tmp_path / f"{STEM} ({number}).ipynb"
        path.write_text(made.text(), encoding="utf-8")
        os.utime(path, (10**9 - age, 10**9 - age))
    made.cells = made.cells[:-5]
    (tmp_path / "newest but shorter.ipynb").write_text(made.text(), encoding="utf-8")
    path, (note,) = find(tmp_path, RELEASED, STEM)
    assert path.name == f"{STEM} (2).ipynb"
    assert f"`{STEM} (2).ipynb`" in note
    assert "not used: `newest but shorter.ipynb`" in note


def test_a_copy_is_taken_in_place_of_a_broken_file_and_the_reason_is_kept(tmp_path: Path) -> None:
    DAMAGES["the right file cut off and a copy whole"].hand_in(STEM, tmp_path)
    path, (note,) = find(tmp_path, RELEASED, STEM)
    assert path.name == f"{STEM}-copy.ipynb"
    assert "cut off or damaged" in note


def test_links_are_followed_inside_a_hand_in_and_never_out_of_it(tmp_path: Path) -> None:
    outside, folder = tmp_path / "other", tmp_path / "mine"
    good(STEM, outside).write()
    folder.mkdir()
    (folder / "loop").symlink_to(folder)
    (folder / "self.ipynb").symlink_to(folder / "self.ipynb")
    (folder / "theirs").symlink_to(outside)
    (folder / "x.ipynb").symlink_to(outside / f"{STEM}.ipynb")
    assert "no notebook" in why(folder) or "no file" in why(folder)
    os.mkfifo(folder / f"{STEM}.ipynb")  # reading it would wait for ever
    why(folder)
    (folder / "nested").mkdir()
    good(STEM, folder / "nested").write()
    (folder / "y.ipynb").symlink_to(folder / "nested" / f"{STEM}.ipynb")
    path, _ = find(folder, RELEASED, STEM)
    assert path.resolve().is_relative_to(folder.resolve())


def test_many_files_are_no_trouble(tmp_path: Path) -> None:
    for number in range(200):
        (tmp_path / f"{number}.ipynb").write_bytes(random.Random(number).randbytes(99))
    good(STEM, tmp_path).write()
    assert find(tmp_path, RELEASED, STEM)[1] == []


def test_another_labs_notebook_under_this_labs_name_gives_way_to_the_right_one(
    tmp_path: Path,
) -> None:
    DAMAGES["another labs notebook"].hand_in(STEM, tmp_path)
    made = good(STEM, tmp_path)
    (tmp_path / "mine.ipynb").write_text(made.text(), encoding="utf-8")
    path, (note,) = find(tmp_path, RELEASED, STEM)
    assert path.name == "mine.ipynb"
    assert "another lab: lab03_masking" in note


def test_another_lab_is_known_without_its_title(tmp_path: Path) -> None:
    made = good("lab03_masking", tmp_path)
    made.cells = made.cells[1:]
    (tmp_path / f"{STEM}.ipynb").write_text(made.text(), encoding="utf-8")
    assert "another lab: lab03_masking" in why(tmp_path)


def test_half_a_character_is_replaced_so_that_the_text_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / "x.ipynb"
    cell = '{"cell_type": "code", "source": "x\\ud83d", "metadata": {"nbgrader": {"\\ud83d": 1}}}'
    path.write_text(f'{{"cells": [{cell}], "nbformat": 4}}', encoding="utf-8")
    notebook, _ = read(path)
    assert notebook.cells[0].source == "x?"
    nbformat.writes(notebook).encode()


def test_ids_are_unique_and_the_first_keeps_its_own(tmp_path: Path) -> None:
    made = good(STEM, tmp_path)
    for cell in made.cells[:3]:
        cell["id"] = "same"
    made.write()
    ids = [cell.id for cell in read(made.path)[0].cells]
    assert ids[:3] == ["same", "handed-in-2", "handed-in-3"]
    assert len(set(ids)) == len(ids)
