"""The report on a hand-in is silent on ordinary work and names what may matter."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode

from grader.catalogue import LABS, right_variants, wrong_answers
from grader.hand_ins import RIGHT, Answer, demo_class
from grader.markers import read_lab
from grader.outcome import UNREADABLE
from grader.submission.read import find, read
from grader.submission.tamper import MOST, tampering
from tests.conftest import ROOT
from tests.damage import DAMAGES, HandIn, code, good

STEM = "lab02_multi_head"


@cache
def _read(stem: str) -> NotebookNode:
    return nbformat.read(ROOT / "release" / stem / f"{stem}.ipynb", as_version=4)


def released(stem: str = STEM) -> NotebookNode:
    return deepcopy(_read(stem))


@pytest.mark.parametrize("stem", LABS)
def test_it_is_silent_on_ordinary_hand_ins(stem: str) -> None:
    lab = read_lab(ROOT / "course" / f"{stem}.py")
    names = [cell.name for cell in lab.of_role("solution")]
    class_ = {**demo_class(lab, 20, 3), "untouched": {}}
    for number, specimen in enumerate([*right_variants(names), *wrong_answers(names)]):
        class_[f"specimen {number}"] = {specimen.exercise: Answer(RIGHT, specimen.source)}
    for student, hand_in in class_.items():
        notebook = released(stem)
        for cell in notebook.cells:
            cell.source = getattr(hand_in.get(cell.id), "source", None) or cell.source
        assert tampering(notebook, released(stem), ["notes.txt"]) == [], student


def test_it_is_silent_on_cells_added_and_play_cells_edited(tmp_path: Path) -> None:
    made = good(STEM, tmp_path)
    for cell in made.cells:
        if cell["cell_type"] == "code" and not cell["metadata"]:
            cell["source"] += "\nnp.random.seed(0)\nprint('my source of joy')\n%timeit 1"
    made.cells.append(code("import numpy as np\nimport matplotlib.pyplot as plt\nfrom attnlab "))
    made.cells.append(code("x = np.ones(3)\nx.flags.writeable = False\nplt.rcParams['a.b'] = 1"))
    made.cells.append(code("from attnlab import check\ncheck('split_heads', split_heads)"))
    made.cells.append(code("layer = MultiHeadAttention(8, 2)\nlayer.w_q = x\ndel x"))
    made.cells.append(code("def f():\n    '''From ../source/notes, for the grader.'''"))
    assert report(made) == []


EDITED = ("check cell", "given cell", "emptied", "into the check", "stray", "print", "points")
EDITED += ("windows text",)  # its characters are spoilt
SILENT = [
    name
    for name, each in DAMAGES.items()
    if each.state != UNREADABLE
    and not any(
        word in name
        for word in (
            "check cell",
            "given cell",
            "emptied",
            "into the check",
            "stray",
            "print",
            "points",
            "windows text",
            "null",
        )
    )
]


@pytest.mark.parametrize("name", SILENT)
def test_it_is_silent_on_damage_that_edits_no_locked_text(tmp_path: Path, name: str) -> None:
    DAMAGES[name].hand_in(STEM, tmp_path)
    path, _ = find(tmp_path, released(), STEM)
    assert tampering(read(path)[0], released()) == []


def report(made: HandIn) -> list[str]:
    made.write()
    return tampering(read(made.path)[0], released())


LINES = {
    "check = lambda *a: None": "`check`, which checks use, is given a new meaning",
    "def mark(*a):\n    return 5.0": "`mark`",
    "from unittest.mock import Mock as check": "`check`",
    "del check": "`check`",
    "from attnlab import plots as check": "`check`",
    "check.__code__ = None": "`attnlab.check.__code__`",
    "np = None": "`np`",
    "if True:\n    check = print": "`check`",
    "np.allclose = lambda *a: True": "`numpy.allclose`",
    "import numpy as xp\nxp.random.default_rng = None": "`numpy.random.default_rng`",
    "from numpy import linalg as la\nla.norm = None": "`numpy.linalg.norm`",
    "setattr(np, 'allclose', None)": "`numpy`",
    "vars(np)['allclose'] = None": "`numpy`",
    "np.__dict__['allclose'] = None": "`numpy.__dict__`",
    "import builtins\nbuiltins.sum = max": "`builtins.sum`",
    "__builtins__.len = None": "`__builtins__.len`",
    "import sys\nsys.modules['numpy'] = None": "`sys.modules`",
    "import attnlab.judge\nattnlab.judge.judge = None": "`attnlab.judge.judge`",
    "import attnlab.judge as j\nj.TOLERANCE = 1e9": "`attnlab.judge.TOLERANCE`",
    "globals()['check'] = print": "globals()['check']",
    "get_ipython().run_cell = None": "get_ipython().run_cell",
    "get_ipython().events.register('pre_run_cell', print)": "get_ipython().events",
    "def f():\n    import grader.mark": "asks for the grader",
    "from nbgrader.api import Gradebook": "asks for the grader",
    "open('../../../source/lab02_multi_head/x.ipynb')": "source/",
    "!cat ../../source/lab.ipynb": "source/",
    "path = 'gradebook.db'": "gradebook.db",
    "open('/proc/self/maps')": "/proc/",
    "__import__('grader.sheets')": "grader.sheets",
    "import gc\ngc.get_objects()": "all objects in memory",
    "from gc import get_objects as g": "all objects in memory",
    "import ctypes": "into memory",
    "import sys\nsys._getframe(1)": "code that called it",
    "import inspect\ninspect.stack()": "code that called it",
    "import os\nprint(os.environ)": "environment",
    "from os import getenv": "environment",
    "try:\n    1 / 0\nexcept Exception as e:\n    e.__traceback__.tb_frame.f_back": "`f_back`",
    "import subprocess": "starts processes",
}


@pytest.mark.parametrize("line", LINES)
def test_it_names_what_reaches_for_the_checks_with_cell_and_line(tmp_path: Path, line: str) -> None:
    made = good(STEM, tmp_path)
    made.cells.insert(20, code(f"x = 1\n{line}"))
    said = report(made)
    assert any(LINES[line] in remark for remark in said), said
    assert all(remark.startswith("Cell 21, line ") and remark.endswith(".") for remark in said)


def test_it_names_edited_locked_cells_and_points(tmp_path: Path) -> None:
    made = good(STEM, tmp_path)
    made.cell("check_split_heads")["source"] += "§"
    made.cell("given_2")["source"] = ""
    made.cell("check_merge_heads")["metadata"]["nbgrader"]["points"] = 100
    at = {name: made.at(name) + 1 for name in ("check_split_heads", "given_2")}
    assert report(made) == [
        f"The given cell `given_2` was edited (cell {at['given_2']}).",
        f"The check of `split_heads` was edited (cell {at['check_split_heads']}).",
        "The points of the check of `merge_heads` read 100, not 4.",
    ]


def test_it_names_files_that_stand_in_for_modules() -> None:
    files = [
        "numpy.py",
        "attnlab/__init__.py",
        Path("/x/json.py"),
        "helper.py",
        "data.json",
        "a.npy",
    ]
    said = tampering(released(), released(), files)
    assert [remark.split("`")[1] for remark in said] == ["json.py", "attnlab/", "numpy.py"]


def test_it_names_notebooks_that_were_not_marked() -> None:
    files = ["lab (1).ipynb", ".ipynb_checkpoints/lab-checkpoint.ipynb", "notes.txt"]
    assert tampering(released(), released(), files) == [
        "The notebook `lab (1).ipynb` was handed in too, and was not marked."
    ]


def test_a_long_report_is_cut(tmp_path: Path) -> None:
    made = good(STEM, tmp_path)
    made.cells += [code(f"np.f{n} = 1") for n in range(50)]
    assert len(report(made)) == MOST + 1
