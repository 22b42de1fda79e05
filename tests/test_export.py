"""What `attnlab export` makes of four labs, and when it refuses."""

from __future__ import annotations

import ast
import copy
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import numpy as np
import pytest
from typer.testing import CliRunner

import attnlab.export as exporting
from attnlab import own
from attnlab.__main__ import app
from attnlab.encode import visible_sheets
from attnlab.export import Exported, NotExported, export
from attnlab.export.labs import NoLab, find
from attnlab.export.statements import Statement, cut
from attnlab.export.trial import BUILDING_BLOCKS, problems_of
from attnlab.judge import judge
from attnlab.run import run
from grader.catalogue import LABS, right_variants
from tests.conftest import ROOT

LAB00, LAB01, LAB02, LAB03 = LABS
HOME = {name: sheet.exercise.lab for name, sheet in visible_sheets().items()}

Answers = Mapping[str, str]
Made = Callable[..., ModuleType]
Refused = Callable[..., list[str]]


@cache
def source(lab: str) -> Any:
    return nbformat.read(ROOT / "source" / lab / f"{lab}.ipynb", as_version=4)


def write_labs(folder: Path, answers: Answers | None = None, **more: list[str]) -> Path:
    """Write the source notebooks with some answers replaced and cells put in at the end."""
    for lab in LABS:
        notebook = copy.deepcopy(source(lab))
        for cell in notebook.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            cell.source = (answers or {}).get(name, cell.source)
        for code in more.get(lab.partition("_")[0], []):
            notebook.cells.append(nbformat.v4.new_code_cell(code))
        nbformat.write(notebook, folder / f"{lab}.ipynb")
    return folder


def cell_of(lab: str, name: str) -> int:
    """The number of an answer's cell, as one counts them in the notebook."""
    names = [c.metadata.get("nbgrader", {}).get("grade_id", "") for c in source(lab).cells]
    return names.index(name) + 1


def earns_all_visible_marks(module: ModuleType, name: str) -> bool:
    sheet = visible_sheets()[name]
    records = run(getattr(module, name), sheet.exercise, sheet.cases)
    return judge(sheet.exercise, sheet.cases, sheet.keys, sheet.mistakes, records).passed


@pytest.fixture
def untried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the trial in a process of its own out: it has tests of its own, and takes a second."""
    monkeypatch.setattr(exporting, "problems_of", lambda text: [])


@pytest.fixture
def made(tmp_path: Path, untried: None) -> Made:
    """Export labs with some answers replaced, and import the result here."""

    def make(answers: Answers | None = None, **more: list[str]) -> ModuleType:
        labs = write_labs(tmp_path, answers, **more)
        return own.load(export(labs, tmp_path / "attention.py").path)

    return make


@pytest.fixture
def refused(tmp_path: Path, untried: None) -> Refused:
    """Say why labs with some answers replaced are refused."""

    def reasons(answers: Answers | None = None, **more: list[str]) -> list[str]:
        with pytest.raises(NotExported) as error:
            export(write_labs(tmp_path, answers, **more), tmp_path / "attention.py")
        assert not (tmp_path / "attention.py").exists()
        return error.value.reasons

    return reasons


def text_of(module: ModuleType) -> str:
    return Path(str(module.__spec__.origin)).read_text(encoding="utf-8")  # type: ignore[union-attr]


# ---- the reference module ----------------------------------------------------------------


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """What the real command makes of the real sources, trial included."""
    return export(ROOT / "source", tmp_path_factory.mktemp("reference") / "attention.py")


@pytest.fixture(scope="module")
def module(reference: Exported) -> ModuleType:
    return own.load(reference.path)


def test_the_sources_give_everything(reference: Exported) -> None:
    assert set(reference.names) == set(HOME)
    assert not reference.left_out
    assert not reference.notes


@pytest.mark.parametrize("name", HOME)
def test_what_is_exported_earns_all_visible_marks(module: ModuleType, name: str) -> None:
    assert earns_all_visible_marks(module, name)


def test_it_imports_from_an_empty_folder_without_notebook_or_shell(
    reference: Exported, tmp_path: Path
) -> None:
    code = (
        "import runpy, sys\n"
        "for name in ('nbformat', 'ipykernel', 'nbgrader', 'matplotlib', 'grader'):\n"
        "    sys.modules[name] = None\n"
        "runpy.run_path(sys.argv[1])\n"
    )
    command = [sys.executable, "-W", "error", "-c", code, str(reference.path)]
    subprocess.run(command, cwd=tmp_path, check=True)


def test_the_layer_of_heads_obeys_masks_and_keeps_its_weights(module: ModuleType) -> None:
    x = np.random.default_rng(0).normal(size=(3, 5, 8))
    layer = module.MultiHeadAttention(d_model=8, n_heads=2, seed=3)
    _, weights = layer.forward(x, module.causal_mask(5) & module.padding_mask([5, 4, 3], 5))
    assert weights.shape == (3, 2, 5, 5)
    assert np.all(np.triu(weights, 1) == 0)
    assert np.all(weights[2, :, :, 3:] == 0)
    np.testing.assert_allclose(weights.sum(-1), 1)
    matrices = layer.w_q, layer.w_k, layer.w_v, layer.w_o
    np.testing.assert_allclose(module.multi_head_attention(x, *matrices, 2)[0], layer.forward(x)[0])


def test_docstrings_and_comments_are_kept_and_markers_are_not(reference: Exported) -> None:
    text = reference.path.read_text(encoding="utf-8")
    answers = [c for lab in LABS for c in source(lab).cells]
    answers = [c for c in answers if c.metadata.get("nbgrader", {}).get("grade_id") in HOME]
    assert len(answers) == len(HOME)
    for line in (line for cell in answers for line in cell.source.splitlines()):
        assert line in text.splitlines() or "### " in line
    for absent in ("### ", "YOUR CODE HERE", "check(", "grader", "figure("):
        assert absent not in text


def test_it_says_what_it_is_and_names_no_place_of_this_machine(reference: Exported) -> None:
    text = reference.path.read_text(encoding="utf-8")
    about = ast.get_docstring(ast.parse(text)) or ""
    assert "`attnlab export`" in about
    assert "Edit the labs, not this file" in about
    assert all(f"* {lab}/{lab}.ipynb" in about for lab in LABS)
    assert str(ROOT) not in text
    assert str(Path.home()) not in text
    assert text.count("import numpy as np") == 1
    headings = [text.index(f"# ---- {lab} ") for lab in LABS]
    assert headings == sorted(headings)


def test_the_command_gives_the_same_bytes_again(
    reference: Exported, tmp_path: Path, untried: None
) -> None:
    for _ in range(2):
        result = CliRunner().invoke(
            app, ["export", str(ROOT / "source"), "--to", str(tmp_path / "again.py")]
        )
        assert result.exit_code == 0, result.output
        assert (tmp_path / "again.py").read_bytes() == reference.path.read_bytes()
    assert [*tmp_path.iterdir()] == [tmp_path / "again.py"]


def test_no_answer_stands_in_the_students_package() -> None:
    inside = " ".join(p.read_text("utf-8") for p in (ROOT / "attnlab" / "export").glob("*.py"))
    assert "@ w" not in inside
    assert "np.exp" not in inside


# ---- what learners write -----------------------------------------------------------------


@pytest.mark.parametrize("turn", [1, 7])
def test_right_answers_in_other_styles_come_out_right(tmp_path: Path, turn: int) -> None:
    """The whole of labs answered otherwise; turns in which the styles agree with each other."""
    answers = {}
    for name in HOME:
        variants = right_variants([name])
        answers[name] = "import math\n" + variants[turn % len(variants)].source
    made = export(write_labs(tmp_path, answers), tmp_path / "attention.py")  # with the trial
    module = own.load(made.path)
    assert [name for name in HOME if not earns_all_visible_marks(module, name)] == []


def test_lambdas_partials_and_objects_are_answers(made: Made) -> None:
    module = made(
        {
            "embed": "embed = lambda ids, table: table[np.asarray(ids)]  # a row each",
            "blend": "from functools import partial\n\nblend = partial(np.einsum, 'ts,sd->td')",
            "scores": "class Scores:\n    def __call__(self, q, k):\n"
            "        return q @ k.swapaxes(-1, -2)\n\n\nscores = Scores()",
        }
    )
    assert module.embed([1], np.eye(2)).tolist() == [[0, 1]]
    assert module.blend(np.eye(2), np.eye(2)).tolist() == np.eye(2).tolist()
    assert module.scores(np.eye(2), np.eye(2)).tolist() == np.eye(2).tolist()
    assert "embed = lambda ids, table: table[np.asarray(ids)]  # a row each" in text_of(module)


def test_whatever_an_answer_leans_on_comes_along(made: Made) -> None:
    module = made(
        {
            "softmax": "%matplotlib inline\n!pip --version\nfrom math import tau as two_pi\n\n"
            "LARGE = 50\nNAMES = [SIZE for SIZE in range(3)]\n\n\n"
            "def noisy(f):\n    NAMES.append(f.__name__)\n    return f\n\n\n"
            "# Keeps e to a power finite.\n@noisy\ndef shrunk(x):\n"
            "    return x - np.max(x, axis=-1, keepdims=True) + 0 * LARGE * two_pi\n"
            "    # (nothing more)\n\n\n"
            "def softmax(x):\n    # YOUR CODE HERE\n    e = np.exp(shrunk(x))\n"
            "    return e / total(e)\n",
            "blend": "from math import *\n\n\ndef blend(weights, v):\n    return floor(pi)",
        },
        lab01=["%%time\ndef total(e):\n    return e.sum(-1, keepdims=True)\n", "unused = 3"],
    )
    np.testing.assert_allclose(module.softmax(np.zeros(4)), 0.25)
    assert module.NAMES == [0, 1, 2, "shrunk"]
    assert module.blend(0, 0) == 3
    text = text_of(module)
    assert "# Keeps e to a power finite.\n@noisy\ndef shrunk(x):" in text
    assert "    # (nothing more)" in text
    assert "from math import tau as two_pi" in text.split("# ----")[0]
    for absent in ("pass", "pip", "YOUR CODE", "unused"):
        assert absent not in text


def test_names_mean_what_they_mean_at_the_end_of_the_notebook(made: Made) -> None:
    module = made(
        {"embed": "SIZE = 2\nFIRST = SIZE * 10\n\n\ndef embed(ids, table):\n    return ids"},
        lab00=[
            "SIZE = 3",
            "def embed(ids, table):\n    return SIZE, FIRST, STEPS, ROWS, KIND, twice()",
            "STEPS = 0\nfor step in range(4):\n    STEPS += step",
            "ROWS = {}\nROWS['a'] = 1\nfor row in 'bc':\n    ROWS[row] = 2",
            "KIND = 'small'",
            "if SIZE > 100:\n    KIND = 'large'",
            "def twice():\n    return 1\n\n\ntwice = (lambda f: lambda: 2 * f())(twice)",
        ],
    )
    assert module.embed(0, 0) == (3, 20, 6, {"a": 1, "b": 2, "c": 2}, "small", 2)


def test_methods_attached_later_are_attached(made: Made) -> None:
    describe = "def describe(self):\n    return f'{self.n_parameters} numbers'\n\n\n"
    module = made(lab02=[f"{describe}MultiHeadAttention.describe = describe"])
    assert module.MultiHeadAttention(4, 2).describe() == "64 numbers"


def test_a_class_that_names_itself_and_keeps_no_heads_still_obeys_masks(tmp_path: Path) -> None:
    answer = (
        "class Base:\n    def __init__(self):\n        self.made = True\n\n\n"
        "class MultiHeadAttention(Base):\n"
        "    def __init__(self, d_model, n_heads, seed=0):\n"
        "        super(MultiHeadAttention, self).__init__()\n"
        "        rng = np.random.default_rng(seed)\n"
        "        self.w_q, self.w_k, self.w_v, self.w_o = rng.normal(size=(4, d_model, d_model))\n"
        "        self.h, self.n_parameters = n_heads, 4 * d_model**2\n\n"
        "    def forward(self, x, mask=None):\n"
        "        weights = self.w_q, self.w_k, self.w_v, self.w_o\n"
        "        return multi_head_attention(x, *weights, self.h)\n\n"
        "    __call__ = forward\n\n"
        "    def copy(self):\n        return MultiHeadAttention(len(self.w_q), self.h)\n"
    )
    labs = write_labs(tmp_path, {"MultiHeadAttention": answer})
    module = own.load(export(labs, tmp_path / "attention.py").path)  # with the trial
    layer = module.MultiHeadAttention(4, 2)
    _, weights = layer(np.eye(4), mask=module.causal_mask(4))
    assert np.all(np.triu(weights, 1) == 0)
    assert type(layer.copy()) is module.MultiHeadAttention
    assert layer.made


def test_given_helpers_are_imported_or_copied(made: Made) -> None:
    module = made(
        {
            "steer": "def steer():\n    return X[:, :2] * 0, TOKENS",
            "is_permutation_equivariant": "def is_permutation_equivariant(layer, x, p, atol=0):\n"
            "    return sentence('I')",
        }
    )
    assert module.steer()[1][2] == ","
    assert module.is_permutation_equivariant(0, 0, 0)[0] == ["I"]
    assert "from attnlab.example import X\n" in text_of(module)
    assert "FEATURES = (" in text_of(module)


def test_an_exercises_name_always_means_the_learners_own_version(made: Made) -> None:
    mark = "    softmax.used = True\n"
    own_softmax = (
        f"def softmax(x):\n{mark}    e = np.exp(x - np.max(x, -1, keepdims=True))\n"
        "    return e / e.sum(-1, keepdims=True)"
    )
    module = made({"softmax": own_softmax})
    assert text_of(module).count("def softmax(") == 1
    module.masked_attention(np.eye(2), np.eye(2), np.eye(2))
    assert module.softmax.used


HELPER = "SCALE = {0}\n\n\ndef helper(x):\n    return x * SCALE  # {1}\n\n\n"
EMBED, MASK = (f"def {f}:\n    return helper(1)" for f in ("embed(i, t)", "causal_mask(T)"))


def test_a_helper_that_two_labs_have_alike_stands_there_once(made: Made) -> None:
    answers = {
        "embed": HELPER.format(2, "one") + EMBED,
        "causal_mask": HELPER.format(2, "two") + MASK,
    }
    module = made(answers)
    assert (module.embed(0, 0), module.causal_mask(0)) == (2, 2)
    assert text_of(module).count("def helper(") == text_of(module).count("SCALE = 2") == 1


@pytest.mark.parametrize(
    ("first", "second", "name"),
    [
        (HELPER.format(2, "") + EMBED, HELPER.format(3, "") + MASK, "SCALE"),
        ("from math import exp as helper\n" + EMBED, HELPER.format(3, "") + MASK, "helper"),
        (EMBED.replace("helper", "sum") + "\n\n\ndef sum(x):\n    return x",
         MASK.replace("helper", "sum"), "sum"),
    ],
    ids=["value", "import", "builtin"],
)  # fmt: skip
def test_one_name_for_two_things_is_refused_with_both_places(
    refused: Refused, first: str, second: str, name: str
) -> None:
    (reason,) = refused({"embed": first, "causal_mask": second})
    one, other = (f"{HOME[n]}, cell {cell_of(HOME[n], n)}" for n in ("embed", "causal_mask"))
    assert f"`{name}` is one thing in {one}, and another in {other}. Rename" in reason


def test_cells_that_are_not_code_of_an_answer_only_give_a_note(
    tmp_path: Path, untried: None
) -> None:
    more = ["what about q @ k ?!", "def embed(:\n    pass"]
    made = export(write_labs(tmp_path, lab00=more), tmp_path / "attention.py")
    last = len(source(LAB00).cells)
    assert [note.split(" is not")[0] for note in made.notes] == [
        f"{LAB00}.ipynb, cell {last + 1}",
        f"{LAB00}.ipynb, cell {last + 2}",
    ]


def test_experiments_that_are_not_written_are_left_out_and_named(
    tmp_path: Path, untried: None
) -> None:
    answers = {
        "steer": "def steer():\n    raise NotImplementedError()",
        "lookup": "def lookup(q, k, v):\n    return q @ (",
        "sharpness": "def sharpness(*sizes):\n    return nothing_of_that_name",
    }
    write_labs(tmp_path, answers)
    to = tmp_path / "attention.py"
    result = CliRunner().invoke(app, ["export", str(tmp_path), "--to", str(to)])
    assert result.exit_code == 1
    left_out = [line for line in result.output.splitlines() if "left out" in line]
    assert len(left_out) == 3
    for name, line in zip(("lookup", "steer", "sharpness"), left_out, strict=True):
        assert f"left out: {name}: " in line
        assert f"ell {cell_of(HOME[name], name)}" in line
    module = own.load(to)
    assert not hasattr(module, "steer")
    assert hasattr(module, "influence")


# ---- refusals ----------------------------------------------------------------------------


def stub(name: str) -> str:
    return f"def {name}(*args):\n    '''Words.'''\n    # YOUR CODE HERE\n    "


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        ("embed", stub("embed") + "raise NotImplementedError()", "`embed` is not written yet"),
        ("embed", stub("embed") + "raise NotImplementedError", "`embed` is not written yet"),
        ("embed", stub("embed") + "pass", "`embed` is not written yet"),
        ("embed", stub("embed") + "...", "`embed` is not written yet"),
        ("embed", stub("embed") + "x = args\n    raise NotImplementedError()",
         "`embed` is not written yet"),
        ("Attention", "class Attention:\n    def __init__(self, d):\n        self.d = d\n\n"
         "    def forward(self, x, mask=None):\n        raise NotImplementedError()",
         "`Attention` is not written yet"),
        ("embed", "def embed(i, table):\n    return table[i", "line 2: '[' was never closed"),
        ("embed", "return 3", "line 1: 'return' outside function"),
        ("embed", "# later", "`embed` is not defined"),
        ("embed", "def embed(i, t):\n    return t[i] + offset", "`offset` is used and not defined"),
        ("scores", "def scores(q, k):\n    return causal_mas(3)", "`causal_mas` is used and not"),
        ("embed", "def embed(i, t):\n    return lookup()\n\n\ndef lookup():\n    pass",
         "`lookup` is called there and is not written"),
    ],
)  # fmt: skip
def test_what_is_not_there_or_not_finished_is_refused(
    refused: Refused, name: str, answer: str, said: str
) -> None:
    (reason,) = refused({name: answer, "lookup": stub("lookup") + "pass"})
    assert reason.startswith(f"{HOME[name]}.ipynb")
    assert said in reason
    assert f"ell {cell_of(HOME[name], name)}" in reason or said == "`embed` is not defined"


def test_all_reasons_are_said_at_once(refused: Refused) -> None:
    reasons = refused(
        {
            "embed": "def embed(:",
            "softmax": stub("softmax") + "raise NotImplementedError()",
            "Attention": "class Attention(Layer):\n    pass",
            "given_4": "# the class that lets lab 02's layer obey masks is gone",
        }
    )
    assert [reason.split(".ipynb")[0] for reason in reasons] == [LAB03, LAB00, LAB01, LAB03]
    assert "the given cell that lets MultiHeadAttention obey masks is missing" in reasons[0]


def test_an_empty_cell_below_the_answer_is_named(refused: Refused) -> None:
    (reason,) = refused(lab00=[stub("embed") + "raise NotImplementedError()"])
    assert f"Cell {cell_of(LAB00, 'embed')} has one too" in reason


def test_a_refusal_to_do_one_thing_is_no_stub(made: Made) -> None:
    module = made(
        {
            "embed": "def embed(ids, table):\n    if ids is None:\n"
            "        raise NotImplementedError('ids')\n    return table[ids]"
            "\n    raise NotImplementedError()"
        }
    )
    assert module.embed(0, [5]) == 5


@pytest.mark.parametrize("content", ["", "{}", "no notebook", '{"cells": [{}]}', "\x00"])
def test_a_file_that_is_no_notebook_and_labs_that_are_missing_are_refused(
    tmp_path: Path, content: str
) -> None:
    (tmp_path / f"{LAB00}.ipynb").write_text(content, encoding="utf-8")
    (tmp_path / f"{LAB01} (1).ipynb").write_text("{}", encoding="utf-8")
    result = CliRunner().invoke(app, ["export", str(tmp_path), "--to", str(tmp_path / "a.py")])
    assert result.exit_code == 2
    _, *lines = result.output.splitlines()
    assert len(lines) == 4
    assert f"{LAB00}.ipynb: this is no notebook" in lines[0]
    assert f"There is '{LAB01} (1).ipynb'" in lines[1]
    assert f"{LAB03}.ipynb is not there" in lines[3]
    assert not (tmp_path / "a.py").exists()


@pytest.mark.parametrize(
    "place", ["{0}.ipynb", "{0}/{0}.ipynb", "work/{0}.ipynb", "work/{0}/{0}.ipynb"]
)
def test_labs_are_found_in_a_folder_or_one_level_further(tmp_path: Path, place: str) -> None:
    for lab in LABS:
        path = tmp_path / place.format(lab)
        copies = path.parent / ".ipynb_checkpoints" / path.name
        for each in (path, copies):
            each.parent.mkdir(parents=True, exist_ok=True)
            each.write_text("{}")
        assert find(tmp_path, lab) == path


def test_two_notebooks_of_one_lab_are_refused_by_name(tmp_path: Path) -> None:
    for folder in ("release", "work"):
        (tmp_path / folder / LAB00).mkdir(parents=True)
        (tmp_path / folder / LAB00 / f"{LAB00}.ipynb").write_text("{}")
    with pytest.raises(NoLab, match=rf"2 notebooks .*release/{LAB00}/.*work/{LAB00}/"):
        find(tmp_path, LAB00)


def test_a_file_of_someone_elses_is_replaced_only_by_force(tmp_path: Path, untried: None) -> None:
    write_labs(tmp_path)
    to = tmp_path / "attention.py"
    to.write_text("precious = 1\n")
    with pytest.raises(NotExported, match="--force"):
        export(tmp_path, to)
    assert to.read_text() == "precious = 1\n"
    export(tmp_path, to, force=True)
    export(tmp_path, to)  # this one is ours
    assert "def softmax" in to.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("labs", "to"),
    [("", "notes.txt"), ("", "my-module.py"), ("", "nowhere/a.py"), ("", "folder.py"),
     ("nowhere", "attention.py")],
)  # fmt: skip
def test_a_place_that_makes_no_module_is_refused(tmp_path: Path, labs: str, to: str) -> None:
    (tmp_path / "folder.py").mkdir()
    with pytest.raises(NotExported, match=labs or to):
        export(tmp_path / labs, tmp_path / to)


# ---- the trial ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "answer", "said"),
    [
        ("causal_mask", "def causal_mask(T):\n    return np.ones((T, T))[1:]",
         "`causal_mask`: returns the shapes [(3, 4)] where [(4, 4)] are wanted"),
        ("scores", "NUMBER = 1\nSCALE = NUMBER / 0\n\n\ndef scores(q, k):\n    return SCALE",
         "cell {cell}, line 2: importing the module: ZeroDivisionError"),
        ("scores", "\n\ndef scores(q, k):\n    ### BEGIN SOLUTION\n    return q @ k",
         "cell {cell}, line 5: `scores`: ValueError"),
        ("scores", "import os\n\nSTOP = os._exit(3)\n\n\ndef scores(q, k):\n    return STOP",
         "ended Python, with code 3"),
        ("scores", "WORD = input()\n\n\ndef scores(q, k):\n    return WORD", "EOFError"),
        ("scores", "def scores(q, k):\n    return q @ k.T\n\n\nscores = scores(X, X)",
         "`scores`: is no function but ndarray"),
    ],
    ids=["shape", "import", "call", "exit", "input", "value"],
)  # fmt: skip
def test_a_module_that_fails_its_trial_is_not_written(
    tmp_path: Path, name: str, answer: str, said: str
) -> None:
    with pytest.raises(NotExported) as error:
        export(write_labs(tmp_path, {name: answer}), tmp_path / "attention.py")
    assert said.format(cell=cell_of(HOME[name], name)) in error.value.reasons[0]
    assert not (tmp_path / "attention.py").exists()


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("weights @ v, weights * allowed", "a forbidden token changes the output"),
        ("masked_softmax(scores, allowed) @ v, weights", "a forbidden token gets the weight"),
    ],
)
def test_layers_that_do_not_obey_masks_are_named(tmp_path: Path, returned: str, said: str) -> None:
    """Zeros in the weights that hide a leak into the output, and the other way round."""
    leaking = (
        "def masked_attention(q, k, v, mask=None):\n"
        "    scores = q @ k.swapaxes(-1, -2)\n"
        "    weights, allowed = softmax(scores), True if mask is None else mask\n"
        f"    return {returned}"
    )
    write_labs(tmp_path, {"masked_attention": leaking})
    with pytest.raises(NotExported) as error:
        export(tmp_path, tmp_path / "attention.py")
    assert [reason.split(":")[0] for reason in error.value.reasons] == [
        "`MultiHeadAttention`",
        "`Attention`",
    ]
    assert all(said in reason for reason in error.value.reasons)


def test_a_trial_ends_in_time() -> None:
    ((_, said, _),) = problems_of("while True:\n    pass\n", seconds=1.5)
    assert "more than 1.5 seconds" in said


def test_every_building_block_is_tried(reference: Exported) -> None:
    text = reference.path.read_text(encoding="utf-8")
    broken = "".join(f"{name} = None\n" for name in BUILDING_BLOCKS)
    assert [name for name, _, _ in problems_of(f"{text}\n{broken}")] == [*BUILDING_BLOCKS]


def test_a_wrong_count_of_parameters_is_found(reference: Exported) -> None:
    text = reference.path.read_text(encoding="utf-8").replace("= drawn.size", "= d_model")
    assert [name for name, _, _ in problems_of(text)] == ["MultiHeadAttention"]


# ---- reading code ------------------------------------------------------------------------


def test_statements_carry_their_comments() -> None:
    code = (
        "# far away\n\n# above\n# it\n@wraps\ndef f():\n    return '''\n# text\n'''\n"
        "    # inside\n\n# below\nx = 1; y = 2  # both\n\nz = (\n    3)  # last\n"
    )
    statements = cut(code, LAB00, 1)
    assert statements[0].text.startswith("# above\n# it\n@wraps")
    assert statements[0].text.endswith("# text\n'''\n    # inside")
    assert [statement.text for statement in statements[1:]] == [
        "# below\nx = 1; y = 2  # both",
        "z = (\n    3)  # last",
    ]
    assert [statement.line for statement in statements] == [3, 12, 15]


@pytest.mark.parametrize("code", ["x = 1\ny = (", "return 1", "x = '\ud800'", "a\x00"])
def test_what_python_cannot_read_is_an_error(code: str) -> None:
    with pytest.raises((SyntaxError, ValueError)):
        cut(code, LAB00, 1)


@pytest.mark.parametrize(
    ("code", "binds", "now", "when_called"),
    [
        ("@deco(g)\ndef f(x: hint = default, *args, **kw) -> back:\n"
         "    y = [x + free for x in y0]\n    def inner(z=late):\n        nonlocal y\n"
         "        y = deep\n    return args, kw, inner",
         "f", "deco g hint default back", "free y0 late deep"),
        ("class C(Base, metaclass=Meta):\n    a = value\n    b = a\n"
         "    def method(self):\n        return a, C, super(), __class__",
         "C", "Base Meta value", "a C super"),
        ("f = lambda x, y=default: x + outer", "f", "default", "outer"),
        ("rows = {n: (m, top) for n in range(3) for m in table}", "rows", "range top table", ""),
        ("total += 1", "total", "total", ""),
        ("if ready:\n    size = 1", "size", "ready size", ""),
        ("C.method = f", "", "C f", ""),
        ("from a import b as c", "c", "", ""),
        ("import a.b", "a", "", ""),
    ],
)  # fmt: skip
def test_names_are_what_python_makes_of_them(
    code: str, binds: str, now: str, when_called: str
) -> None:
    statement = Statement(LAB00, 1, 1, code)
    assert statement.binds == {*binds.split()}
    assert statement.needs_now == {*now.split()}
    assert statement.needs_when_called == {*when_called.split()}


# ---- loading one's own -------------------------------------------------------------------


@pytest.fixture
def deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "a" / "b")
    before = sys.modules.get("attention")
    yield tmp_path
    sys.modules.pop("attention", None)
    if before:
        sys.modules["attention"] = before


def test_the_nearest_module_is_loaded_and_read_again_when_it_changes(deep: Path) -> None:
    (deep / "attention.py").write_text("WHERE = 'top'\n")
    assert own.load().WHERE == "top"
    for word in ("one", "two"):  # of one length, and within one second
        (deep / "a" / "b" / "attention.py").write_text(f"WHERE = '{word}'\n")
        loaded = own.load()
        assert word == loaded.WHERE
    assert own.load(deep / "attention.py").WHERE == "top"
    assert not [*deep.rglob("__pycache__")]


def test_a_module_too_far_up_or_missing_is_not_loaded_and_it_says_what_to_do(
    deep: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (deep / "attention.py").write_text("")
    monkeypatch.chdir(deep / "a" / "b" / "c")
    with pytest.raises(FileNotFoundError, match="attnlab export") as error:
        own.load()
    assert len(str(error.value).splitlines()) == 1


def test_a_module_that_raises_leaves_nothing_behind(deep: Path) -> None:
    (deep / "attention.py").write_text("1 / 0\n")
    sys.modules.pop("attention", None)
    with pytest.raises(ZeroDivisionError):
        own.load()
    assert "attention" not in sys.modules


@pytest.mark.parametrize("exported", [False, True])
def test_lab_03s_last_cell_uses_it_when_it_is_there(
    deep: Path, reference: Exported, exported: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    if exported:
        (deep / "attention.py").write_bytes(reference.path.read_bytes())
    exec(source(LAB03).cells[-1].source, {"np": np})
    lines = capsys.readouterr().out.splitlines()
    if exported:
        assert "16384" in lines[0]
        assert lines[1].endswith(" 0.0")
    else:
        assert len(lines) == 1
        assert "attnlab export" in lines[0]


def test_python_m_attnlab_is_the_command(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "attnlab", "export", str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=False,
    )
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 5
