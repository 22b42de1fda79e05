"""What happens to hand-ins: named damages done to a good notebook, and what must come of it.

Each is drawn from what courses report: cells copied, split, merged, moved and deleted, metadata
lost on the way through other editors, files renamed, cut off or saved as something else.
"""

from __future__ import annotations

import copy
import io
import json
import random
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import nbformat

from grader.hand_ins import answers
from grader.markers import read_lab
from grader.outcome import GRADED, REPAIRED, UNREADABLE
from tests.conftest import ROOT

Cell = dict[str, Any]
WRITTEN = "Heads look for several things at once, each in features of its own."


@dataclass
class HandIn:
    """A good hand-in on its way to a folder; a damage changes any part of it."""

    stem: str
    folder: Path
    notebook: dict[str, Any]
    blank: dict[str, Any]  # the release
    lost: set[str] = field(default_factory=set)  # exercises the damage may cost marks in

    @property
    def cells(self) -> list[Cell]:
        return self.notebook["cells"]

    @cells.setter
    def cells(self, cells: list[Cell]) -> None:
        self.notebook["cells"] = cells

    @property
    def path(self) -> Path:
        return self.folder / f"{self.stem}.ipynb"

    @property
    def exercises(self) -> list[str]:
        return [name.removeprefix("check_") for name in self.names if name.startswith("check_")]

    @property
    def names(self) -> list[str]:
        return [role(cell) for cell in self.blank["cells"] if role(cell)]

    @property
    def written(self) -> str:
        return next(n for n in self.names if self.stub(n)["cell_type"] == "markdown")

    def at(self, name: str) -> int:
        return next(n for n, cell in enumerate(self.cells) if role(cell) == name)

    def cell(self, name: str) -> Cell:
        return self.cells[self.at(name)]

    def stub(self, name: str) -> Cell:
        return copy.deepcopy(next(c for c in self.blank["cells"] if role(c) == name))

    def pop(self, name: str) -> Cell:
        return self.cells.pop(self.at(name))

    def text(self) -> str:
        return json.dumps(self.notebook, ensure_ascii=False, indent=1)

    def write(self) -> None:
        self.path.write_text(self.text(), encoding="utf-8")


def role(cell: Cell) -> str:
    about = cell.get("metadata", {}).get("nbgrader", {})
    return str(about.get("grade_id", "")) if isinstance(about, dict) else ""


def code(text: str) -> Cell:
    return {
        "cell_type": "code",
        "id": f"own-{crc32(text.encode())}",
        "metadata": {},
        "source": text,
        "outputs": [],
        "execution_count": 1,
    }


def prose(text: str) -> Cell:
    return {"cell_type": "markdown", "id": "own-prose", "metadata": {}, "source": text}


def twin(cell: Cell, **changes: Any) -> Cell:
    """Copy a cell as JupyterLab pastes it: the metadata stays, the id is new."""
    return {**copy.deepcopy(cell), "id": f"pasted-{random.randrange(10**8)}", **changes}


@cache
def _good(stem: str) -> str:
    notebook = nbformat.read(ROOT / "release" / stem / f"{stem}.ipynb", as_version=4)
    right = answers(read_lab(ROOT / "course" / f"{stem}.py"))
    for cell in notebook.cells:
        about = cell.metadata.get("nbgrader", {})
        name = about.get("grade_id", "")
        if name in right:
            cell.source = str(right[name].source)
        elif about.get("solution"):
            cell.source = WRITTEN
        if cell.cell_type == "code":  # as it is after a run
            cell.execution_count = 3
            cell.outputs = [nbformat.v4.new_output("stream", text="ran\n")]
    return nbformat.writes(notebook)


def good(stem: str, folder: Path) -> HandIn:
    """Make a hand-in with all answers right, in memory."""
    folder.mkdir(parents=True, exist_ok=True)
    blank = (ROOT / "release" / stem / f"{stem}.ipynb").read_text(encoding="utf-8")
    return HandIn(stem, folder, loaded(_good(stem)), loaded(blank))


def loaded(text: str) -> dict[str, Any]:
    """Read a notebook's JSON, each cell's text in one string."""
    notebook: dict[str, Any] = json.loads(text)
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"])
    return notebook


Do = Callable[[HandIn], None]


@dataclass(frozen=True)
class Damage:
    """A damage, and the state that must come of it.

    Parameters
    ----------
    name : what happened, in words
    state : GRADED, REPAIRED or UNREADABLE
    do : does it; writes the file itself when `writes`
    """

    name: str
    state: str
    do: Do
    writes: bool

    def hand_in(self, stem: str, folder: Path) -> frozenset[str]:
        """Write the damaged hand-in into a folder; returns the exercises that may lose marks."""
        random.seed(f"{self.name} {stem}")
        made = good(stem, folder)
        self.do(made)
        if not self.writes:
            made.write()
        return frozenset(made.lost)


DAMAGES: dict[str, Damage] = {}


def damage(state: str, writes: bool = False) -> Callable[[Do], Do]:
    """Register the function below under its name."""

    def register(do: Do) -> Do:
        name = do.__name__.replace("_", " ")
        DAMAGES[name] = Damage(name, state, do, writes)
        return do

    return register


def wrong(name: str, note: str = "old") -> str:
    return f"def {name}(*args, **options):\n    return {note!r}\n"


# --- cells copied


@damage(REPAIRED)
def check_copied_above_itself(h: HandIn) -> None:
    at = h.at(f"check_{h.exercises[0]}")
    h.cells.insert(at, twin(h.cells[at]))


@damage(REPAIRED)
def check_copied_to_the_end(h: HandIn) -> None:
    h.cells.append(twin(h.cell(f"check_{h.exercises[1]}")))


@damage(REPAIRED)
def check_copied_above_the_answer(h: HandIn) -> None:
    name = h.exercises[2]
    h.cells.insert(h.at(name), twin(h.cell(f"check_{name}")))


@damage(REPAIRED)
def old_answer_pasted_above_the_new_one(h: HandIn) -> None:
    at = h.at(h.exercises[1])
    h.cells.insert(at, twin(h.cells[at], source=wrong(h.exercises[1])))


@damage(REPAIRED)
def old_answer_pasted_below_the_check(h: HandIn) -> None:
    at = h.at(f"check_{h.exercises[1]}")
    h.cells.insert(at + 1, twin(h.cell(h.exercises[1]), source=wrong(h.exercises[1])))


@damage(REPAIRED)
def answer_duplicated(h: HandIn) -> None:
    at = h.at(h.exercises[0])
    h.cells.insert(at, twin(h.cells[at]))


@damage(REPAIRED)
def stub_pasted_below_the_answer(h: HandIn) -> None:
    name = h.exercises[2]
    h.cells.insert(h.at(name) + 1, twin(h.stub(name)))


@damage(REPAIRED)
def stub_pasted_as_a_plain_cell_below_the_answer(h: HandIn) -> None:
    name = h.exercises[2]
    h.cells.insert(h.at(name) + 1, code(h.stub(name)["source"]))


@damage(REPAIRED)
def whole_notebook_pasted_behind_itself(h: HandIn) -> None:
    h.cells += [twin(cell) for cell in h.cells]


@damage(REPAIRED)
def the_release_pasted_behind_the_answers(h: HandIn) -> None:
    h.cells += [twin(cell) for cell in h.blank["cells"]]


@damage(REPAIRED)
def given_cell_copied_and_changed(h: HandIn) -> None:
    at = h.at("given_1")
    h.cells.append(twin(h.cells[at], source="import numpy as np\nnp = None"))


@damage(REPAIRED)
def written_answer_copied(h: HandIn) -> None:
    at = h.at(h.written)
    h.cells.insert(at + 1, twin(h.stub(h.written)))


@damage(REPAIRED)
def answer_copied_and_turned_into_notes(h: HandIn) -> None:
    at = h.at(h.exercises[0])
    notes = {**prose("Notes on what I tried"), "metadata": h.cells[at]["metadata"]}
    h.cells.insert(at + 1, twin(notes))


@damage(REPAIRED)
def next_answer_written_into_a_copy_of_this_one(h: HandIn) -> None:
    this, following = h.exercises[:2]
    answer = h.pop(following)
    h.cells.insert(h.at(f"check_{following}"), twin(h.cell(this), source=answer["source"]))


@damage(REPAIRED)
def every_cell_duplicated(h: HandIn) -> None:
    h.cells = [each for cell in h.cells for each in (cell, twin(cell))]


# --- answers elsewhere


@damage(REPAIRED)
def answer_in_a_new_cell_under_the_stub(h: HandIn) -> None:
    name = h.exercises[0]
    at = h.at(name)
    answer, h.cells[at] = h.cells[at]["source"], h.stub(name)
    h.cells.insert(at + 1, code(answer))


@damage(REPAIRED)
def answer_in_a_new_cell_above_the_stub(h: HandIn) -> None:
    name = h.exercises[1]
    at = h.at(name)
    answer, h.cells[at] = h.cells[at]["source"], h.stub(name)
    h.cells.insert(at, code(answer))


@damage(REPAIRED)
def answer_in_a_new_cell_below_the_check(h: HandIn) -> None:
    name = h.exercises[2]
    at = h.at(name)
    answer, h.cells[at] = h.cells[at]["source"], h.stub(name)
    h.cells.insert(h.at(f"check_{name}") + 1, code(answer))


@damage(REPAIRED)
def answer_written_into_the_play_cell_below(h: HandIn) -> None:
    name = h.exercises[0]
    at = h.at(name)
    answer, h.cells[at] = h.cells[at]["source"], h.stub(name)
    play = next(cell for cell in h.cells[at + 1 :] if cell["cell_type"] == "code")
    play["source"] = f"{answer}\n\n{play['source']}"


@damage(REPAIRED)
def all_answers_in_one_cell_at_the_end(h: HandIn) -> None:
    text = "\n\n".join(h.cell(name)["source"] for name in h.exercises)
    for name in h.exercises:
        h.cells[h.at(name)] = h.stub(name)
    h.cells.append(code(text))


@damage(REPAIRED)
def all_answers_in_one_cell_at_the_top(h: HandIn) -> None:
    text = "\n\n".join(h.cell(name)["source"] for name in h.exercises)
    for name in h.exercises:
        h.cells[h.at(name)] = h.stub(name)
    h.cells[:0] = [code("import numpy as np"), code(text)]


@damage(REPAIRED)
def answers_in_new_cells_at_the_end_stubs_deleted(h: HandIn) -> None:
    h.cells += [code(h.pop(name)["source"]) for name in h.exercises]


@damage(REPAIRED)
def answer_written_into_the_check_cell(h: HandIn) -> None:
    name = h.exercises[0]
    check = h.cell(f"check_{name}")
    check["source"] = h.cell(name)["source"] + "\n\n" + check["source"]
    h.cells[h.at(name)] = h.stub(name)


@damage(REPAIRED)
def answer_written_into_a_given_cell(h: HandIn) -> None:
    name = h.exercises[1]
    given = h.cell("given_1")
    given["source"] += "\n\n" + h.cell(name)["source"]
    h.cells[h.at(name)] = h.stub(name)


@damage(REPAIRED)
def helper_written_into_a_given_cell(h: HandIn) -> None:
    name = h.exercises[0]
    h.cell("given_1")["source"] += "\n\ndef helper(function):\n    return function\n"
    h.cell(name)["source"] = f"helper(0)\n{h.cell(name)['source']}"


@damage(REPAIRED)
def written_answer_in_a_new_cell_under_its_own(h: HandIn) -> None:
    at = h.at(h.written)
    h.cells[at] = h.stub(h.written)
    h.cells.insert(at + 1, prose(WRITTEN))


@damage(REPAIRED)
def written_answer_in_a_code_cell_above_its_own(h: HandIn) -> None:
    at = h.at(h.written)
    h.cells[at] = h.stub(h.written)
    h.cells.insert(at, code(WRITTEN))


@damage(REPAIRED)
def written_answer_below_its_question_in_the_same_cell(h: HandIn) -> None:
    at = h.at(h.written)
    h.cells[at] = h.stub(h.written)
    h.cells[at - 1]["source"] += f"\n\n{WRITTEN}"


@damage(GRADED)
def helper_cells_added(h: HandIn) -> None:
    h.cells.insert(h.at(h.exercises[1]), code("def my_helper(x):\n    return x\n"))
    h.cells.insert(0, prose("My notes"))
    h.cells.append(code("print('the end')"))


@damage(GRADED)
def play_cells_added_that_raise_or_are_no_python(h: HandIn) -> None:
    h.cells.insert(h.at(f"check_{h.exercises[1]}"), code("1 / 0"))
    h.cells.insert(h.at(h.exercises[2]), code("def ("))
    h.cells.insert(h.at(h.exercises[2]), code("%timeit 1\n!ls\nnp.ones?"))


@damage(GRADED)
def a_new_attempt_that_only_plays_below_the_check(h: HandIn) -> None:
    h.cells.insert(h.at(f"check_{h.exercises[0]}") + 1, code(wrong(h.exercises[0])))


@damage(REPAIRED)
def name_given_another_value_before_the_check(h: HandIn) -> None:
    name = h.exercises[0]
    h.cells.insert(h.at(f"check_{name}"), code(f"{name} = [1, 2, 3]"))


# --- cells split and merged


@damage(REPAIRED)
def answer_split_behind_its_docstring(h: HandIn) -> None:
    split(h, h.exercises[0], h.cell(h.exercises[0])["source"].rindex('"""') + 4)


@damage(REPAIRED)
def answer_split_inside_its_docstring(h: HandIn) -> None:
    name = h.exercises[1]
    split(h, name, h.cell(name)["source"].index("Parameters"))


@damage(REPAIRED)
def answer_split_into_three(h: HandIn) -> None:
    name = h.exercises[1]
    text = h.cell(name)["source"]
    split(h, name, text.rindex('"""') + 4)
    split(h, name, text.index("Parameters"))


@damage(REPAIRED)
def answer_split_and_its_second_half_without_metadata(h: HandIn) -> None:
    name = h.exercises[1]
    split(h, name, h.cell(name)["source"].rindex('"""') + 4)
    h.cells[h.at(name) + 1]["metadata"] = {}


@damage(REPAIRED)
def check_split(h: HandIn) -> None:
    name = f"check_{h.exercises[0]}"
    split(h, name, h.cell(name)["source"].index("from attnlab"))


@damage(REPAIRED)
def given_cell_split_and_its_second_half_without_metadata(h: HandIn) -> None:
    split(h, "given_1", h.cell("given_1")["source"].index("from attnlab"))
    h.cells[h.at("given_1") + 1]["metadata"] = {}


@damage(REPAIRED)
def written_answer_split(h: HandIn) -> None:
    split(h, h.written, WRITTEN.index(","))


@damage(REPAIRED)
def two_answers_merged(h: HandIn) -> None:
    this, following = h.exercises[:2]
    h.cell(this)["source"] += "\n\n" + h.pop(following)["source"]


@damage(REPAIRED)
def two_answers_in_one_cell_and_a_stub_left(h: HandIn) -> None:
    this, following = h.exercises[:2]
    h.cell(this)["source"] += "\n\n" + h.cell(following)["source"]
    h.cells[h.at(following)] = h.stub(following)


@damage(REPAIRED)
def two_answers_in_the_second_cell(h: HandIn) -> None:
    this, following = h.exercises[:2]
    h.cell(following)["source"] = h.pop(this)["source"] + "\n\n" + h.cell(following)["source"]


@damage(REPAIRED)
def answer_and_check_merged(h: HandIn) -> None:
    name = h.exercises[0]
    h.cell(name)["source"] += "\n\n" + h.pop(f"check_{name}")["source"]


@damage(REPAIRED)
def answer_and_check_merged_into_the_check(h: HandIn) -> None:
    name = h.exercises[0]
    check = h.cell(f"check_{name}")
    check["source"] = h.pop(name)["source"] + "\n\n" + check["source"]


@damage(REPAIRED)
def answer_merged_with_the_prose_below(h: HandIn) -> None:
    at = h.at(h.exercises[0])
    h.cells[at]["source"] += "\n\n" + h.cells.pop(at + 1)["source"]


@damage(REPAIRED)
def answer_merged_with_the_prose_above(h: HandIn) -> None:
    at = h.at(h.exercises[1])
    h.cells[at]["source"] = h.cells[at - 1]["source"] + "\n\n" + h.cells[at]["source"]
    del h.cells[at - 1]


# --- cells deleted and emptied


@damage(REPAIRED)
def check_deleted(h: HandIn) -> None:
    h.pop(f"check_{h.exercises[0]}")


@damage(REPAIRED)
def all_checks_deleted(h: HandIn) -> None:
    h.cells = [cell for cell in h.cells if not role(cell).startswith("check_")]


@damage(REPAIRED)
def given_cells_deleted(h: HandIn) -> None:
    h.cells = [cell for cell in h.cells if not role(cell).startswith("given_")]


@damage(REPAIRED)
def answer_deleted(h: HandIn) -> None:
    h.pop(h.exercises[0])
    h.lost.add(h.exercises[0])


@damage(REPAIRED)
def answer_and_check_deleted(h: HandIn) -> None:
    h.pop(h.exercises[1])
    h.pop(f"check_{h.exercises[1]}")
    h.lost.add(h.exercises[1])


@damage(REPAIRED)
def written_answer_deleted(h: HandIn) -> None:
    h.pop(h.written)


@damage(GRADED)
def prose_and_play_deleted(h: HandIn) -> None:
    h.cells = [cell for cell in h.cells if role(cell)]


@damage(REPAIRED)
def nothing_left_but_the_answers_code(h: HandIn) -> None:
    h.cells = [code(h.cell(name)["source"]) for name in h.exercises]
    h.notebook["metadata"] = {}


@damage(GRADED)
def answer_emptied(h: HandIn) -> None:
    h.cell(h.exercises[0])["source"] = ""
    h.lost.add(h.exercises[0])


@damage(REPAIRED)
def check_emptied(h: HandIn) -> None:
    h.cell(f"check_{h.exercises[0]}")["source"] = ""


@damage(REPAIRED)
def given_cell_emptied(h: HandIn) -> None:
    h.cell("given_1")["source"] = ""


# --- cells moved


@damage(REPAIRED)
def cells_reversed(h: HandIn) -> None:
    h.cells = h.cells[::-1]


@damage(REPAIRED)
def cells_shuffled(h: HandIn) -> None:
    random.shuffle(h.cells)


@damage(REPAIRED)
def check_moved_above_the_answer(h: HandIn) -> None:
    name = h.exercises[0]
    check = h.pop(f"check_{name}")
    h.cells.insert(h.at(name), check)


@damage(REPAIRED)
def given_cells_moved_to_the_end(h: HandIn) -> None:
    h.cells.sort(key=lambda cell: role(cell).startswith("given_"))


@damage(REPAIRED)
def answers_moved_to_the_end(h: HandIn) -> None:
    h.cells.sort(key=lambda cell: role(cell) in h.exercises)


@damage(GRADED)
def checks_moved_to_the_end(h: HandIn) -> None:
    h.cells.sort(key=lambda cell: role(cell).startswith("check_"))


# --- cells of another type, locked cells changed


@damage(REPAIRED)
def check_turned_into_markdown(h: HandIn) -> None:
    retype(h.cell(f"check_{h.exercises[0]}"), "markdown")


@damage(REPAIRED)
def check_turned_into_raw(h: HandIn) -> None:
    retype(h.cell(f"check_{h.exercises[0]}"), "raw")


@damage(REPAIRED)
def answer_turned_into_markdown(h: HandIn) -> None:
    retype(h.cell(h.exercises[1]), "markdown")


@damage(REPAIRED)
def answer_turned_into_raw_and_stripped(h: HandIn) -> None:
    cell = h.cell(h.exercises[1])
    retype(cell, "raw")
    cell["metadata"], cell["id"] = {}, "stripped"


@damage(REPAIRED)
def given_cell_turned_into_raw(h: HandIn) -> None:
    retype(h.cell("given_1"), "raw")


@damage(REPAIRED)
def written_answer_turned_into_code(h: HandIn) -> None:
    cell = h.cell(h.written)
    cell.update(cell_type="code", outputs=[], execution_count=None)


@damage(REPAIRED)
def stray_character_in_a_check(h: HandIn) -> None:
    h.cell(f"check_{h.exercises[0]}")["source"] += "§"


@damage(REPAIRED)
def check_replaced_by_a_print(h: HandIn) -> None:
    h.cell(f"check_{h.exercises[0]}")["source"] = "print('passed')"


@damage(REPAIRED)
def given_cell_changed(h: HandIn) -> None:
    h.cell("given_1")["source"] = h.cell("given_1")["source"].replace("import numpy as np\n", "")


# --- metadata lost or foreign


@damage(REPAIRED)
def metadata_of_every_cell_stripped(h: HandIn) -> None:
    for cell in h.cells:
        cell["metadata"] = {}


@damage(REPAIRED)
def metadata_and_ids_of_every_cell_stripped(h: HandIn) -> None:
    for cell in h.cells:
        cell["metadata"] = {}
        del cell["id"]
    h.notebook.update(nbformat_minor=4, metadata={})


@damage(REPAIRED)
def metadata_and_ids_stripped_and_cells_added(h: HandIn) -> None:
    metadata_and_ids_of_every_cell_stripped(h)
    h.cells = [each for cell in h.cells for each in (cell, code("print(1)"))]


@damage(REPAIRED)
def metadata_of_one_answer_stripped(h: HandIn) -> None:
    cell = h.cell(h.exercises[2])
    cell["metadata"], cell["id"] = {}, "stripped"


@damage(GRADED)
def saved_by_colab(h: HandIn) -> None:
    for number, cell in enumerate(h.cells):
        cell["metadata"] |= {"id": f"x{number}", "colab": {"base_uri": "x"}, "outputId": "7-8"}
        del cell["id"]
    h.notebook.update(
        nbformat_minor=0,
        metadata={
            "colab": {"provenance": [], "toc_visible": True},
            "kernelspec": {"name": "python3", "display_name": "Python 3"},
            "accelerator": "GPU",
        },
    )


@damage(GRADED)
def saved_by_vs_code(h: HandIn) -> None:
    for cell in h.cells:
        cell["metadata"]["vscode"] = {"languageId": "python"}
        cell["metadata"] = {k: v for k, v in cell["metadata"].items() if k != "editable"}
    h.notebook["metadata"]["language_info"]["version"] = "3.12.1"
    del h.notebook["metadata"]["kernelspec"]


@damage(GRADED)
def saved_by_pycharm(h: HandIn) -> None:
    for cell in h.cells:
        cell["metadata"] |= {"pycharm": {"name": "#%%\n", "is_executing": False}}
        cell["metadata"] |= {"collapsed": "no", "tags": "none", "jupyter": None}


@damage(GRADED)
def saved_by_deepnote(h: HandIn) -> None:
    for number, cell in enumerate(h.cells):
        cell["metadata"] |= {"cell_id": f"{number:032x}", "deepnote_cell_type": cell["cell_type"]}
        cell["block_group"] = "x"
    h.notebook["metadata"] = {"deepnote": {}, "deepnote_notebook_id": "0", "orig_nbformat": 2}


@damage(GRADED)
def unknown_keys_inside_the_metadata(h: HandIn) -> None:
    for cell in h.cells:
        if role(cell):
            cell["metadata"]["nbgrader"] |= {"pycharm": {}, "remote": [1], "points": "many"}


@damage(GRADED)
def nbgrader_metadata_of_version_1(h: HandIn) -> None:
    for cell in h.cells:
        if role(cell):
            cell["metadata"]["nbgrader"]["schema_version"] = 1
            del cell["metadata"]["nbgrader"]["task"]


@damage(GRADED)
def nbgrader_metadata_of_version_99(h: HandIn) -> None:
    for cell in h.cells:
        if role(cell):
            cell["metadata"]["nbgrader"] = {"schema_version": 99, "grade_id": role(cell)}


@damage(REPAIRED)
def nbgrader_metadata_is_garbage(h: HandIn) -> None:
    for number, cell in enumerate(h.cells):
        cell["id"] = f"other-{number}"
        cell["metadata"]["nbgrader"] = ["x", "softmax", {"grade_id": 7}][number % 3]


@damage(GRADED)
def locked_cells_unlocked_and_points_raised(h: HandIn) -> None:
    for cell in h.cells:
        if role(cell).startswith("check_"):
            cell["metadata"]["nbgrader"] |= {"locked": False, "points": 100.0}


# --- the file renamed or beside others


def renamed(h: HandIn, name: str) -> None:
    path = h.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(h.text(), encoding="utf-8")


@damage(REPAIRED, writes=True)
def file_called_1_by_a_browser(h: HandIn) -> None:
    renamed(h, f"{h.stem} (1).ipynb")


@damage(REPAIRED, writes=True)
def file_called_kopie_von(h: HandIn) -> None:
    renamed(h, f"Kopie von {h.stem}.ipynb")


@damage(REPAIRED, writes=True)
def file_called_final(h: HandIn) -> None:
    renamed(h, f"{h.stem}_final_FINAL.ipynb")


@damage(REPAIRED, writes=True)
def file_called_something_else(h: HandIn) -> None:
    renamed(h, "WMS q3 (Müller).ipynb")


@damage(REPAIRED, writes=True)
def file_with_txt_appended(h: HandIn) -> None:
    renamed(h, f"{h.stem}.ipynb.txt")


@damage(REPAIRED, writes=True)
def file_called_json(h: HandIn) -> None:
    renamed(h, f"{h.stem}.json")


@damage(REPAIRED, writes=True)
def file_name_in_capitals(h: HandIn) -> None:
    renamed(h, f"{h.stem.upper()}.IPYNB")


@damage(REPAIRED, writes=True)
def file_in_a_folder_of_its_own(h: HandIn) -> None:
    renamed(h, f"labs/{h.stem}/{h.stem}.ipynb")


@damage(REPAIRED, writes=True)
def two_renamed_copies_one_hardly_a_lab(h: HandIn) -> None:
    renamed(h, f"{h.stem} (2).ipynb")
    h.cells = h.cells[:5]
    renamed(h, f"{h.stem} (3).ipynb")


@damage(REPAIRED, writes=True)
def the_right_file_cut_off_and_a_copy_whole(h: HandIn) -> None:
    h.path.write_text(h.text()[:3000], encoding="utf-8")
    renamed(h, f"{h.stem}-copy.ipynb")


@damage(GRADED)
def checkpoints_and_mac_leftovers_beside(h: HandIn) -> None:
    renamed(h, f".ipynb_checkpoints/{h.stem}-checkpoint.ipynb")
    for name in (f"__MACOSX/._{h.stem}.ipynb", f"._{h.stem}.ipynb", "Thumbs.db"):
        (h.folder / name).parent.mkdir(exist_ok=True)
        (h.folder / name).write_bytes(b"\0\5\x16\7")


# --- saved in another way


def saved(h: HandIn, raw: bytes) -> None:
    h.path.write_bytes(raw)


@damage(REPAIRED, writes=True)
def saved_with_a_byte_order_mark(h: HandIn) -> None:
    saved(h, h.text().encode("utf-8-sig"))


@damage(REPAIRED, writes=True)
def saved_as_utf_16(h: HandIn) -> None:
    saved(h, h.text().encode("utf-16"))


@damage(REPAIRED, writes=True)
def saved_as_windows_text(h: HandIn) -> None:
    saved(h, h.text().encode("cp1252", "replace"))


@damage(GRADED, writes=True)
def saved_with_windows_line_ends(h: HandIn) -> None:
    h.notebook = json.loads(h.text().replace("\\n", "\\r\\n"))
    saved(h, h.text().replace("\n", "\r\n").encode())


@damage(REPAIRED)
def saved_in_format_3(h: HandIn) -> None:
    new = nbformat.from_dict(h.notebook)
    for cell in new.cells:
        if cell.cell_type == "code":
            cell.outputs = []
    h.notebook = json.loads(nbformat.writes(new, version=3))


@damage(GRADED)
def saved_in_format_4_0_without_ids(h: HandIn) -> None:
    for cell in h.cells:
        del cell["id"]
    h.notebook["nbformat_minor"] = 0


@damage(GRADED)
def format_of_tomorrow_4_9(h: HandIn) -> None:
    h.notebook["nbformat_minor"] = 9


@damage(GRADED)
def ids_all_the_same(h: HandIn) -> None:
    for cell in h.cells:
        cell["id"] = "same"


@damage(GRADED)
def ids_invalid(h: HandIn) -> None:
    for number, cell in enumerate(h.cells):
        cell["id"] = ["", None, "a b", "x" * 80, 7, "ü"][number % 6]


@damage(GRADED)
def cells_without_outputs_and_counts(h: HandIn) -> None:
    for cell in h.cells:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)
        if not role(cell):
            del cell["metadata"]


@damage(GRADED)
def sources_as_lists_of_lines(h: HandIn) -> None:
    for cell in h.cells:
        cell["source"] = cell["source"].splitlines(keepends=True)


@damage(GRADED)
def sources_that_are_null(h: HandIn) -> None:
    for cell in h.cells:
        if not role(cell):
            cell["source"] = None


@damage(REPAIRED)
def cells_of_unknown_type(h: HandIn) -> None:
    for cell in h.cells:
        if not role(cell):
            cell["cell_type"] = "sql"


@damage(REPAIRED)
def cells_that_are_no_cells(h: HandIn) -> None:
    h.cells = [*h.cells[:4], None, "text", 7, *h.cells[4:]]


@damage(GRADED)
def kernelspec_missing(h: HandIn) -> None:
    h.notebook["metadata"] = {}


@damage(GRADED)
def metadata_missing(h: HandIn) -> None:
    del h.notebook["metadata"]
    del h.notebook["nbformat_minor"]


@damage(GRADED)
def kernelspec_of_an_environment(h: HandIn) -> None:
    h.notebook["metadata"]["kernelspec"] = {
        "name": "conda-env-x-py",
        "display_name": "Python [conda env:x]",
        "language": "python",
    }


@damage(REPAIRED)
def kernelspec_of_another_language(h: HandIn) -> None:
    h.notebook["metadata"] = {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}}


@damage(GRADED)
def not_a_number_in_the_json(h: HandIn) -> None:
    h.notebook["metadata"]["width"] = float("nan")
    h.cells[0]["metadata"]["height"] = float("inf")


@damage(GRADED)
def outputs_of_several_megabytes(h: HandIn) -> None:
    h.cell(h.exercises[0])["outputs"] = [{"output_type": "stream", "text": "x" * 5_000_000}]


@damage(GRADED)
def outputs_malformed(h: HandIn) -> None:
    for cell in h.cells:
        cell["outputs"], cell["execution_count"] = "broken", -1
        cell["attachments"] = {"a.png": None, "b.png": {"image/png": 7}}


@damage(GRADED, writes=True)
def half_a_character_in_the_text(h: HandIn) -> None:
    h.cells.append(code("print('HALF')"))
    saved(h, h.text().replace("HALF", "\\ud83d").encode())


# --- nothing to mark


@damage(UNREADABLE, writes=True)
def file_of_no_bytes(h: HandIn) -> None:
    saved(h, b"")


@damage(UNREADABLE, writes=True)
def file_of_blanks(h: HandIn) -> None:
    saved(h, b"\0\n  " * 100)


@damage(UNREADABLE, writes=True)
def file_cut_off(h: HandIn) -> None:
    saved(h, h.text()[: len(h.text()) // 2].encode())


@damage(UNREADABLE, writes=True)
def marks_of_an_unfinished_merge(h: HandIn) -> None:
    lines = h.text().splitlines()
    lines[40:41] = ["<<<<<<< HEAD", lines[40], "=======", lines[40], ">>>>>>> theirs"]
    saved(h, "\n".join(lines).encode())


@damage(UNREADABLE, writes=True)
def json_that_is_no_notebook(h: HandIn) -> None:
    saved(h, b'{"a": [1, 2], "cells": {}}')


@damage(UNREADABLE, writes=True)
def json_that_is_a_list(h: HandIn) -> None:
    saved(h, json.dumps(h.cells).encode())


@damage(UNREADABLE, writes=True)
def log_in_page(h: HandIn) -> None:
    saved(h, b"<!DOCTYPE html><html><title>Sign in</title></html>")


@damage(UNREADABLE, writes=True)
def zip_called_ipynb(h: HandIn) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("lab.ipynb", h.text())
    saved(h, packed.getvalue())


@damage(UNREADABLE)
def no_cells(h: HandIn) -> None:
    h.cells = []


@damage(UNREADABLE)
def format_5(h: HandIn) -> None:
    h.notebook["nbformat"] = 5


@damage(UNREADABLE, writes=True)
def another_labs_notebook(h: HandIn) -> None:
    other = "lab03_masking" if h.stem != "lab03_masking" else "lab02_multi_head"
    saved(h, _good(other).encode())


@damage(UNREADABLE, writes=True)
def another_labs_notebook_stripped(h: HandIn) -> None:
    other = "lab03_masking" if h.stem != "lab03_masking" else "lab02_multi_head"
    h.notebook = loaded(_good(other))
    metadata_and_ids_of_every_cell_stripped(h)
    h.write()


@damage(UNREADABLE)
def a_notebook_of_something_else(h: HandIn) -> None:
    h.cells = [code("print('hello')"), prose("# My essay")]


@damage(UNREADABLE, writes=True)
def script_instead_of_the_notebook(h: HandIn) -> None:
    (h.folder / f"{h.stem}.py").write_text("print(1)\n", encoding="utf-8")


@damage(UNREADABLE, writes=True)
def printout_instead_of_the_notebook(h: HandIn) -> None:
    (h.folder / f"{h.stem}.pdf").write_bytes(b"%PDF-1.7 ...")
    (h.folder / f"{h.stem}.html").write_text("<html></html>", encoding="utf-8")


@damage(UNREADABLE, writes=True)
def folder_empty(h: HandIn) -> None:
    h.folder.mkdir(exist_ok=True)


@damage(UNREADABLE, writes=True)
def link_that_leads_out(h: HandIn) -> None:
    h.path.symlink_to(ROOT / "source" / h.stem / f"{h.stem}.ipynb")


@damage(UNREADABLE, writes=True)
def folder_in_the_files_place(h: HandIn) -> None:
    h.path.mkdir()


@damage(UNREADABLE, writes=True)
def json_nested_too_deeply(h: HandIn) -> None:
    saved(h, b'{"cells": ' + b"[" * 200_000 + b"]" * 200_000 + b"}")


@damage(UNREADABLE, writes=True)
def file_far_too_large(h: HandIn) -> None:
    with h.path.open("wb") as file:  # no room is taken on disk
        file.truncate(51 * 2**20)


@damage(UNREADABLE)
def thousands_of_cells(h: HandIn) -> None:
    h.cells += [code(f"x = {number}") for number in range(3000)]


@damage(GRADED)
def a_cell_with_very_much_data(h: HandIn) -> None:
    h.cells.append(code(f"data = [{'1.0, ' * 10**6}]"))


def retype(cell: Cell, kind: str) -> None:
    cell["cell_type"] = kind
    cell.pop("outputs", None)
    cell.pop("execution_count", None)


def split(h: HandIn, name: str, at: int) -> None:
    """Split a cell as JupyterLab does: both parts keep the metadata."""
    cell = h.cell(name)
    rest = twin(cell, source=cell["source"][at:])
    cell["source"] = cell["source"][:at]
    h.cells.insert(h.at(name) + 1, rest)
