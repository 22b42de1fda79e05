"""Damaged hand-ins are found, read and repaired so that every right answer meets its check."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode
from nbgrader.nbgraderformat import MetadataValidator

from grader.catalogue import LABS
from grader.gate import answered
from grader.hand_ins import demo_class, write
from grader.markers import read_lab
from grader.outcome import GRADED, REPAIRED, UNREADABLE
from grader.submission.read import Unreadable, find, read
from grader.submission.repair import repair
from grader.submission.roles import ANSWER, CHECK, GIVEN, WRITTEN, Role, grade_id, roles
from grader.submission.tamper import tampering
from tests import damage
from tests.conftest import ROOT
from tests.damage import DAMAGES
from tests.nbgrader_course import Course

STEMS = ("lab00_qkv", "lab02_multi_head")


@cache
def master(kind: str, stem: str) -> NotebookNode:
    return nbformat.read(ROOT / kind / stem / f"{stem}.ipynb", as_version=4)


def the_roles(stem: str) -> dict[str, Role]:
    return roles(master("release", stem), master("source", stem))


def handle(folder: Path, stem: str) -> tuple[NotebookNode, list[str]]:
    path, notes = find(folder, master("release", stem), stem)
    before = path.read_bytes()
    notebook, mended = read(path)
    as_read = copy.deepcopy(notebook)
    repaired, changed = repair(notebook, master("release", stem), master("source", stem))
    assert notebook == as_read
    assert path.read_bytes() == before
    return repaired, notes + mended + changed


@pytest.mark.parametrize("stem", STEMS)
@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_hand_in_ends_in_its_state_with_every_right_answer_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, stem: str
) -> None:
    monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")  # copies of a check do nothing
    may_lose = DAMAGES[name].hand_in(stem, tmp_path)
    if DAMAGES[name].state == UNREADABLE:
        with pytest.raises(Unreadable, match=r"\.$"):
            handle(tmp_path, stem)
        return
    repaired, notes = handle(tmp_path, stem)
    assert DAMAGES[name].state == (REPAIRED if notes else GRADED), notes
    assert len(notes) == len(set(notes))
    must_be_whole(repaired, stem)
    again = repair(repaired, master("release", stem), master("source", stem))
    assert again == (repaired, [])
    found = bound_at_checks(repaired, stem)
    right = answered(read_lab(ROOT / "course" / f"{stem}.py"))
    for role in the_roles(stem).values():
        if role.kind == ANSWER and role.name not in may_lose:
            assert fingerprint(found[role.name]) == fingerprint(right[role.name]), (
                role.name,
                notes,
            )
    if "written answer deleted" not in name and "nothing left" not in name:
        (written,) = [r.name for r in the_roles(stem).values() if r.kind == WRITTEN]
        assert damage.WRITTEN[:20] in cell_of(repaired, written).source


def must_be_whole(notebook: NotebookNode, stem: str) -> None:
    """Every role once, in a sound order, with the course's text and nbgrader's metadata."""
    nbformat.validate(notebook)
    MetadataValidator().validate_nb(notebook)
    nbformat.writes(notebook).encode()
    assert notebook.metadata.kernelspec == master("release", stem).metadata.kernelspec
    place = {grade_id(cell): n for n, cell in enumerate(notebook.cells) if grade_id(cell)}
    lab = the_roles(stem)
    assert sorted(place) == sorted(lab)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    for role in lab.values():
        cell = notebook.cells[place[role.name]]
        assert cell.cell_type == role.released.cell_type
        if role.locked:
            assert cell.source == role.source.source
        about = {**role.released.metadata.nbgrader, "checksum": cell.metadata.nbgrader.checksum}
        assert cell.metadata.nbgrader == about
        if role.kind == CHECK:
            assert place[role.name] > place[role.exercise]
        if role.kind == GIVEN:
            later = [r for r in lab.values() if r.place > role.place and r.kind != WRITTEN]
            assert all(place[role.name] < place[other.name] for other in later)
    assert all("nbgrader" not in c.metadata for c in notebook.cells if not grade_id(c))
    assert not any(cell.get("outputs") for cell in notebook.cells)


def cell_of(notebook: NotebookNode, name: str) -> NotebookNode:
    return next(cell for cell in notebook.cells if grade_id(cell) == name)


def bound_at_checks(notebook: NotebookNode, stem: str) -> dict[str, Any]:
    """Run what is not released play from top to bottom; note what each check gets."""
    play = {cell.source for cell in master("release", stem).cells if not grade_id(cell)}
    namespace: dict[str, Any] = {"__name__": "__main__"}
    found = {}
    for cell in notebook.cells:
        if cell.cell_type != "code" or cell.source in play:
            continue
        if (name := grade_id(cell)).startswith("check_"):
            found[name.removeprefix("check_")] = namespace.get(name.removeprefix("check_"))
            continue
        try:
            exec(compile(cell.source, name, "exec"), namespace)
        except Exception:
            continue  # as a notebook goes on behind a cell that raises
    return found


def fingerprint(thing: Any) -> object:
    """What a function or class does, by its code: texts aside, since encodings may spoil them."""
    if isinstance(thing, type):
        return {k: fingerprint(v) for k, v in vars(thing).items() if hasattr(v, "__code__")}
    if isinstance(thing, CodeType):
        constants = [fingerprint(c) for c in thing.co_consts if not isinstance(c, str)]
        return thing.co_code, thing.co_names, constants
    return fingerprint(thing.__code__) if hasattr(thing, "__code__") else repr(thing)


@pytest.mark.parametrize("stem", LABS)
def test_ordinary_hand_ins_need_no_repair(tmp_path: Path, stem: str) -> None:
    released = ROOT / "release" / stem / f"{stem}.ipynb"
    lab = read_lab(ROOT / "course" / f"{stem}.py")
    for student, hand_in in {**demo_class(lab, 20, 7), "untouched": {}}.items():
        write(hand_in, released, tmp_path / student / f"{stem}.ipynb")
        repaired, notes = handle(tmp_path / student, stem)
        assert notes == [], student
        must_be_whole(repaired, stem)
        assert [c.source for c in repaired.cells if not grade_id(c)] == [
            c.source for c in master("release", stem).cells if not grade_id(c)
        ]


def test_there_are_enough_damages() -> None:
    assert len(DAMAGES) >= 50


def test_checksums_are_those_that_nbgraders_gradebook_has(tmp_path: Path) -> None:
    stem = "lab02_multi_head"
    course = Course(tmp_path, stem)
    repaired, _ = repair(master("release", stem), master("release", stem), master("source", stem))
    with course.api.gradebook as gradebook:
        for role in the_roles(stem).values():
            kept = gradebook.find_source_cell(role.name, stem, stem)
            assert cell_of(repaired, role.name).metadata.nbgrader.checksum == kept.checksum


CHANGES = st.lists(
    st.tuples(
        st.sampled_from(["delete", "copy", "move", "strip", "empty", "retype", "stub", "split"]),
        st.integers(0, 10**6),
        st.integers(0, 10**6),
    ),
    max_size=12,
)


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(CHANGES)
def test_whatever_is_done_to_cells_the_result_is_whole_and_needs_no_second_repair(
    tmp_path: Path, changes: list[tuple[str, int, int]]
) -> None:
    stem = STEMS[1]
    made = damage.good(stem, tmp_path)
    for what, first, second in changes:
        at, to = first % len(made.cells), second % len(made.cells)
        cell = made.cells[at]
        match what:
            case "delete" if len(made.cells) > 1:
                del made.cells[at]
            case "copy":
                made.cells.insert(to, damage.twin(cell))
            case "move":
                made.cells.insert(to, made.cells.pop(at))
            case "strip":
                cell["metadata"] = {}
            case "empty":
                cell["source"] = ""
            case "retype":
                damage.retype(cell, ("code", "markdown", "raw")[second % 3])
            case "stub" if damage.role(cell) in made.names:
                cell["source"] = made.stub(damage.role(cell))["source"]
            case "split":
                middle = second % (len(cell["source"]) + 1)
                rest = damage.twin(cell, source=cell["source"][middle:])
                cell["source"] = cell["source"][:middle]
                made.cells.insert(at + 1, rest)
    made.write()
    notebook, _ = read(made.path)
    repaired, notes = repair(notebook, master("release", stem), master("source", stem))
    must_be_whole(repaired, stem)
    assert repair(repaired, master("release", stem), master("source", stem)) == (repaired, [])
    assert all(note.endswith(".") for note in notes)


HOSTILE = {
    "minus signs": "-" * 3000 + "1",
    "brackets": "(" * 500 + ")" * 500,
    "dots": "x = y" + ".a" * 5000,
    "a sum": "x = " + "1+" * 3000 + "1",
    "elif": "if x:\n    pass\n" + "elif x:\n    pass\n" * 3000,
    "a zero byte": "def f():\n    \0",
    "half an f-string": "f'{",
    "an odd escape": "x = '\\d'",
    "a very long line": "x = '" + "x" * 10**6 + "'",
    "an exit": "raise SystemExit",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_code_is_read_and_not_run(tmp_path: Path, name: str) -> None:
    stem = STEMS[0]
    made = damage.good(stem, tmp_path)
    made.cell("embed")["source"] = HOSTILE[name]
    made.cells.append(damage.code(HOSTILE[name]))
    made.write()
    notebook, _ = read(made.path)
    repaired, notes = repair(notebook, master("release", stem), master("source", stem))
    must_be_whole(repaired, stem)
    assert cell_of(repaired, "embed").source == HOSTILE[name].replace("\r", "")
    assert notes == []
    tampering(notebook, master("release", stem))


SAID = {
    "check copied above the answer": [
        "The check of `multi_head_attention` stands in 2 cells; that in cell 33 is kept."
    ],
    "old answer pasted above the new one": [
        "The answer to `merge_heads` stands in 2 cells; cell 22 counts."
    ],
    "old answer pasted below the check": [
        "The answer to `merge_heads` stands in 2 cells; cell 21 counts."
    ],
    "check split": ["The check of `split_heads` had been split; it is whole again."],
    "check deleted": ["The check of `split_heads` had been deleted; it was put back."],
    "two answers merged": [
        "The answer to `merge_heads` stands in the cell of `split_heads`; "
        "a cell that says so was put in."
    ],
    "given cells moved to the end": [
        "Given cells stood behind cells that need them and were moved up: "
        "`given_1`, `given_2`, `given_3`."
    ],
}


@pytest.mark.parametrize("name", SAID)
def test_notes_say_what_was_put_right_and_where(tmp_path: Path, name: str) -> None:
    DAMAGES[name].hand_in("lab02_multi_head", tmp_path)
    assert handle(tmp_path, "lab02_multi_head")[1] == SAID[name]


def test_locked_cells_without_metadata_are_known_by_what_they_resemble(tmp_path: Path) -> None:
    made = damage.good(STEMS[1], tmp_path)
    for name in ("check_split_heads", "given_2"):
        made.cell(name)["source"] += "  # ok"
        made.cell(name)["id"] += "-x"
        made.cell(name)["metadata"] = {}
    made.write()
    repaired, notes = handle(tmp_path, STEMS[1])
    assert len(repaired.cells) == len(made.cells)
    assert "`given_2`, `check_split_heads`" in notes[0]


def test_no_note_says_anything_that_is_kept_back(tmp_path: Path) -> None:
    hidden = ("HIDDEN", "grader", "SOLUTION", "mark(")
    for name, each in DAMAGES.items():
        if each.state == REPAIRED:
            each.hand_in(STEMS[1], tmp_path / name)
            _, notes = handle(tmp_path / name, STEMS[1])
            assert not [word for word in hidden for note in notes if word in note]
