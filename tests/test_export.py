"""What `attnlab export` makes of four labs, and when it refuses."""

from __future__ import annotations

import ast
import copy
import importlib.util
import os
import subprocess
import symtable
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
from attnlab.export.answers import BUILDING_BLOCKS
from attnlab.export.cells import NotPython, read_cell
from attnlab.export.labs import NoLab, find
from attnlab.export.module import Module
from attnlab.export.scopes import uses
from attnlab.export.trial import problems_of
from attnlab.judge import judge
from attnlab.run import run
from grader.catalogue import LABS, right_variants
from tests.conftest import ROOT

LAB00, LAB01, LAB02, LAB03 = LABS
HOME = {name: sheet.exercise.lab for name, sheet in visible_sheets().items()}

Answers = Mapping[str, str]


@cache
def source(lab: str) -> Any:
    return nbformat.read(ROOT / "source" / lab / f"{lab}.ipynb", as_version=4)


def write_labs(
    folder: Path, answers: Answers | None = None, more: Mapping[str, list[str]] | None = None
) -> Path:
    """Write the source notebooks with some answers replaced and cells put in at the end."""
    for lab in LABS:
        notebook = copy.deepcopy(source(lab))
        for cell in notebook.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id", "")
            cell.source = (answers or {}).get(name, cell.source)
        for code in (more or {}).get(lab, []):
            notebook.cells.append(nbformat.v4.new_code_cell(code))
        nbformat.write(notebook, folder / f"{lab}.ipynb")
    return folder


def cell_of(lab: str, name: str) -> int:
    """The number of an answer's cell, as one counts them in the notebook."""
    names = [c.metadata.get("nbgrader", {}).get("grade_id", "") for c in source(lab).cells]
    return names.index(name) + 1


@pytest.fixture
def untried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the trial in a process of its own out: it has tests of its own, and takes a second."""
    monkeypatch.setattr(exporting, "problems_of", lambda module: [])


@pytest.fixture
def made(tmp_path: Path, untried: None) -> Callable[..., ModuleType]:
    """Export labs with some answers replaced, and import the result here."""

    def make(answers: Answers | None = None, **more: list[str]) -> ModuleType:
        folder = tmp_path / f"labs{len([*tmp_path.iterdir()])}"
        folder.mkdir()
        by_stem = {stem: more.get(stem.partition("_")[0], []) for stem in LABS}
        export(write_labs(folder, answers, by_stem), folder / "attention.py")
        return own.load(folder / "attention.py")

    return make


@pytest.fixture
def refused(tmp_path: Path, untried: None) -> Callable[..., list[str]]:
    """Say why labs with some answers replaced are refused."""

    def reasons(answers: Answers | None = None, **more: list[str]) -> list[str]:
        by_stem = {stem: more.get(stem.partition("_")[0], []) for stem in LABS}
        write_labs(tmp_path, answers, by_stem)
        with pytest.raises(NotExported) as error:
            export(tmp_path, tmp_path / "attention.py")
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
    sheet = visible_sheets()[name]
    records = run(getattr(module, name), sheet.exercise, sheet.cases)
    report = judge(sheet.exercise, sheet.cases, sheet.keys, sheet.mistakes, records)
    assert report.passed, [verdict.message for verdict in report.verdicts]


def test_it_imports_from_an_empty_folder_without_notebook_or_shell(
    reference: Exported, tmp_path: Path
) -> None:
    code = (
        "import importlib.util, sys\n"
        "class Blocked:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name in ('nbformat', 'ipykernel', 'nbgrader', 'matplotlib', 'grader'):\n"
        "            raise ImportError(name)\n"
        "sys.meta_path.insert(0, Blocked())\n"
        "spec = importlib.util.spec_from_file_location('attention', sys.argv[1])\n"
        "module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
        "X = module.np.ones((8, 8))\n"
        "out, weights = module.MultiHeadAttention(d_model=8, n_heads=1, seed=0)"
        ".forward(X, mask=None)\n"
        "assert (out.shape, weights.shape) == ((8, 8), (1, 8, 8))\n"
        "assert module.MultiHeadAttention(64, 8).n_parameters == 16384\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code, str(reference.path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_layer_of_heads_obeys_masks_and_keeps_its_weights(module: ModuleType) -> None:
    x = np.random.default_rng(0).normal(size=(3, 5, 8))
    layer = module.MultiHeadAttention(d_model=8, n_heads=2, seed=3)
    _, weights = layer.forward(x, module.causal_mask(5) & module.padding_mask([5, 4, 3], 5))
    assert weights.shape == (3, 2, 5, 5)
    assert np.all(np.triu(weights, 1) == 0)
    assert np.all(weights[2, :, :, 3:] == 0)
    np.testing.assert_allclose(weights.sum(-1), 1)
    plain = module.MultiHeadAttention_lab02(d_model=8, n_heads=2, seed=3)
    assert np.array_equal(plain.w_o, layer.w_o)
    np.testing.assert_allclose(plain.forward(x)[0], layer.forward(x)[0])


def test_docstrings_and_comments_are_kept_and_markers_are_not(reference: Exported) -> None:
    text = reference.path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    kept = {n.name: n for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    for name, lab in HOME.items():
        (cell,) = [
            c for c in source(lab).cells if c.metadata.get("nbgrader", {}).get("grade_id") == name
        ]
        (original,) = [n for n in ast.parse(cell.source).body if getattr(n, "name", "") == name]
        assert isinstance(original, (ast.FunctionDef, ast.ClassDef))
        exported = kept.get(f"{name}_lab02", kept[name])
        assert ast.get_docstring(exported) == ast.get_docstring(original)
        for line in cell.source.splitlines():
            if "class MultiHeadAttention:" not in line and "### " not in line:
                assert line in text.splitlines()
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
    made = export(write_labs(tmp_path, answers), tmp_path / "attention.py")
    module = own.load(made.path)
    for name in HOME:
        sheet = visible_sheets()[name]
        records = run(getattr(module, name), sheet.exercise, sheet.cases)
        report = judge(sheet.exercise, sheet.cases, sheet.keys, sheet.mistakes, records)
        assert report.passed, (name, [verdict.message for verdict in report.verdicts])


def test_lambdas_partials_and_objects_are_answers(made: Callable[..., ModuleType]) -> None:
    module = made(
        {
            "embed": "embed = lambda ids, table: table[np.asarray(ids)]  # a row each",
            "blend": "from functools import partial\n\n"
            "def mixed(how, weights, v):\n    return np.einsum(how, weights, v)\n\n\n"
            "blend = partial(mixed, '...ts,...sd->...td')",
            "scores": "class Scores:\n    def __call__(self, q, k):\n"
            "        return q @ k.swapaxes(-1, -2)\n\n\nscores = Scores()",
        }
    )
    assert module.embed([1], np.eye(2)).tolist() == [[0, 1]]
    assert module.blend(np.eye(2), np.eye(2)).tolist() == np.eye(2).tolist()
    assert module.scores(np.eye(2), np.eye(2)).tolist() == np.eye(2).tolist()
    assert "embed = lambda ids, table: table[np.asarray(ids)]  # a row each" in text_of(module)
    assert text_of(module).index("def mixed") < text_of(module).index("blend = partial")


def test_whatever_an_answer_leans_on_comes_along(made: Callable[..., ModuleType]) -> None:
    module = made(
        {
            "softmax": "%matplotlib inline\n!pip --version\nfrom math import tau as two_pi\n\n"
            "LARGE = 50\n\n\n# Keeps e to a power finite.\n@noisy\ndef shrunk(x):\n"
            "    return x - np.max(x, axis=-1, keepdims=True) + 0 * LARGE * two_pi\n"
            "    # (nothing more)\n\n\n"
            "def softmax(x):\n    # YOUR CODE HERE\n    e = np.exp(shrunk(x))\n"
            "    return e / total(e)\n"
        },
        lab01=[
            "%%time\ndef total(e):\n    return e.sum(-1, keepdims=True)\n",
            "def noisy(f):\n    CALLS.append(f.__name__)\n    return f",
            "CALLS = []\nCALLS.append('first')\nCALLS",
            "unused = 3",
        ],
    )
    np.testing.assert_allclose(module.softmax(np.zeros(4)), 0.25)
    assert module.CALLS == ["first", "shrunk"]
    text = text_of(module)
    assert "# Keeps e to a power finite.\n@noisy\ndef shrunk(x):" in text
    assert "    # (nothing more)" in text
    assert "from math import tau as two_pi" in text.split("# ----")[0]
    for absent in ("get_ipython", "%", "!pip", "YOUR CODE", "unused", "CALLS\n\n"):
        assert absent not in text.replace("% n_heads", "").replace("{d_model % ", "")


def test_names_mean_what_they_mean_at_the_end_of_the_notebook(
    made: Callable[..., ModuleType],
) -> None:
    module = made(
        {"embed": "SIZE = 2\nFIRST = SIZE * 10\n\n\ndef embed(ids, table):\n    return ids"},
        lab00=[
            "SIZE = 3",
            "def embed(ids, table):\n    return SIZE, FIRST, STEPS, TABLE2, KIND",
            "STEPS = 0\nfor step in range(4):\n    STEPS += step",
            "TABLE2 = {}\nTABLE2['a'] = 1",
            "KIND = 'small'",
            "if SIZE > 100:\n    KIND = 'large'",
        ],
    )
    assert module.embed(0, 0) == (3, 20, 6, {"a": 1}, "small")


def test_what_is_needed_at_once_stands_above_even_from_a_later_lab(
    made: Callable[..., ModuleType],
) -> None:
    early = "EARLY = MultiHeadAttention(4, 2), softmax(np.zeros(2))\n\n\n"
    module = made({"embed": f"{early}def embed(ids, table):\n    return EARLY"})
    layer, weights = module.embed(0, 0)
    assert type(layer) is module.MultiHeadAttention
    assert weights.tolist() == [0.5, 0.5]


def test_methods_attached_later_are_attached(made: Callable[..., ModuleType]) -> None:
    module = made(
        lab02=[
            "def describe(self):\n    return f'{self.n_parameters} numbers'\n\n\n"
            "MultiHeadAttention.describe = describe",
        ],
        lab03=["setattr(Attention, 'kind', 'one head')"],
    )
    assert module.MultiHeadAttention(4, 2).describe() == "64 numbers"
    assert module.Attention.kind == "one head"


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


def test_given_helpers_are_imported_or_copied(made: Callable[..., ModuleType]) -> None:
    module = made(
        {
            "steer": "def steer():\n    w = X[:, :2] * 0, TOKENS, FEATURES\n    return w",
            "is_permutation_equivariant": "def is_permutation_equivariant(layer, x, p, atol=0):\n"
            "    return FEATURES, sentence('I')",
        }
    )
    text = text_of(module)
    assert "from attnlab.example import FEATURES, TOKENS, X\n" in text
    assert module.steer()[2][2] == "comma"  # lab 00's features, and not those of lab 02
    assert module.is_permutation_equivariant(0, 0, 0)[0][-1] == "spanish"
    assert "FEATURES_lab02 = (" in text
    assert "for name in FEATURES_lab02]" in text


def test_an_exercises_name_always_means_the_learners_own_version(
    made: Callable[..., ModuleType],
) -> None:
    mark = "    softmax.used = True\n"
    own_softmax = (
        f"def softmax(x):\n{mark}    e = np.exp(x - np.max(x, -1, keepdims=True))\n"
        "    return e / e.sum(-1, keepdims=True)"
    )
    module = made({"softmax": own_softmax})
    assert text_of(module).count("def softmax(") == 1
    module.masked_attention(np.eye(2), np.eye(2), np.eye(2))
    assert module.softmax.used


def test_two_labs_with_different_helpers_of_one_name_keep_each_their_own(
    made: Callable[..., ModuleType],
) -> None:
    helper = "SCALE = {0}\n\n\ndef helper(x, *, SCALE_IT=True):\n    return x * SCALE\n\n\n"
    recursive = "def both(n):\n    both_ = [both(n - 1) for n in range(n)]\n    return both_\n\n\n"
    answers = {
        "embed": helper.format(2) + recursive + "def embed(ids, table):\n"
        "    return helper(1), f'{SCALE!r}', both(0)",
        "causal_mask": helper.format(3) + recursive + "def causal_mask(T):\n"
        "    return helper(1), f'{SCALE!r}', both(0), [helper for helper in 'a'], _inner()\n\n\n"
        "def _inner():\n    helper = 5  # a name of its own\n    return helper",
    }
    module = made(answers)
    text = text_of(module)
    assert module.embed(0, 0) == (2, "2", [])
    assert module.causal_mask(0) == (3, "3", [], ["a"], 5)
    assert "def helper_lab03(x, *, SCALE_IT=True):" in text
    assert "helper = 5  # a name of its own" in text
    assert text.count("def both(") == 1  # the same in both labs, so it stands there once


def test_what_changes_is_each_labs_own(made: Callable[..., ModuleType]) -> None:
    kept = "KEPT = []\n\n\ndef {0}(*args):\n    KEPT.append('{0}')\n    return KEPT"
    module = made({name: kept.format(name) for name in ("embed", "causal_mask")})
    assert module.embed() == ["embed"]
    assert module.causal_mask() == ["causal_mask"]


def test_a_helper_called_like_a_builtin_does_not_reach_other_labs(
    made: Callable[..., ModuleType],
) -> None:
    module = made(
        {
            "embed": "def sum(x):\n    return 'mine'\n\n\ndef embed(i, t):\n    return sum(i)",
            "causal_mask": "def causal_mask(T):\n    return sum([T, 1])",
        }
    )
    assert module.embed([1], 0) == "mine"
    assert module.causal_mask(4) == 5


def test_a_package_imported_twice_is_one_and_the_same(made: Callable[..., ModuleType]) -> None:
    imports = "import os\nimport os.path\nimport os.path as way\n\n\n"
    module = made({"embed": f"{imports}def embed(i, t):\n    return os.path.sep == way.sep"})
    assert module.embed(0, 0)


def test_a_name_that_was_something_else_before_its_import_is_refused(
    refused: Callable[..., list[str]],
) -> None:
    before = "def exp(x):\n    return 2\n\n\nTWO = exp(1)\nfrom math import exp\n\n\n"
    (reason,) = refused({"embed": f"{before}def embed(i, t):\n    return exp(TWO)"})
    assert "`exp` is imported there and was something else" in reason


def test_a_helper_that_cannot_be_renamed_safely_is_refused(
    refused: Callable[..., list[str]],
) -> None:
    code = "n = {0}\n\n\ndef {1}(*args):\n    global n\n    n += 1\n    return n"
    answers = {"embed": code.format(0, "embed"), "causal_mask": code.format(1, "causal_mask")}
    (reason,) = refused(answers)
    assert f"{LAB03}, cell {cell_of(LAB03, 'causal_mask')}: `n`" in reason
    assert "Rename it here" in reason


def test_notebooks_that_have_lost_their_metadata_are_read_all_the_same(
    reference: Exported, tmp_path: Path, untried: None
) -> None:
    for lab in LABS:
        notebook = copy.deepcopy(source(lab))
        for cell in notebook.cells:
            cell.metadata = nbformat.NotebookNode()
        nbformat.write(notebook, tmp_path / f"{lab}.ipynb")
    made = export(tmp_path, tmp_path / "attention.py")
    text, wanted = (path.read_text(encoding="utf-8") for path in (made.path, reference.path))
    assert text.split("# ----")[1:] == wanted.split("# ----")[1:]


def test_names_of_star_imports_are_imported_by_name(made: Callable[..., ModuleType]) -> None:
    module = made({"embed": "from math import *\n\n\ndef embed(i, t):\n    return floor(pi)"})
    assert module.embed(0, 0) == 3
    assert "from math import floor, pi\n" in text_of(module)


def test_cells_that_are_not_code_of_an_answer_only_give_a_note(
    tmp_path: Path, untried: None
) -> None:
    more = {LAB00: ["what about q @ k ?!", "%%bash\nls (", "def embed(:\n    pass"]}
    made = export(write_labs(tmp_path, {}, more), tmp_path / "attention.py")
    last = len(source(LAB00).cells)
    assert [note.split(" is not")[0] for note in made.notes] == [
        f"{LAB00}.ipynb, cell {last + 1}",
        f"{LAB00}.ipynb, cell {last + 3}",
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
        assert f"cell {cell_of(HOME[name], name)}" in line
    module = own.load(to)
    assert not hasattr(module, "steer")
    assert hasattr(module, "influence")


# ---- refusals ----------------------------------------------------------------------------


def stub(name: str) -> str:
    return f"def {name}(*args):\n    '''Words.'''\n    # YOUR CODE HERE\n    "


@pytest.mark.parametrize(
    ("answers", "said"),
    [
        ({"embed": stub("embed") + "raise NotImplementedError()"}, "`embed` is not written yet"),
        ({"embed": stub("embed") + "raise NotImplementedError"}, "`embed` is not written yet"),
        ({"embed": stub("embed") + "pass"}, "`embed` is not written yet"),
        ({"embed": stub("embed") + "..."}, "`embed` is not written yet"),
        (
            {"embed": stub("embed") + "x = args\n    raise NotImplementedError()"},
            "`embed` is not written yet",
        ),
        ({"embed": "embed = ..."}, "`embed` is not written yet"),
        (
            {"Attention": "class Attention:\n    def __init__(self, d):\n        self.d = d\n\n"
             "    def forward(self, x, mask=None):\n        raise NotImplementedError()"},
            "`Attention` is not written yet",
        ),
        (
            {"Attention": "class Attention:\n    def forward(self, x, mask=None):\n"
             "        return self.heads(x)\n\n    def heads(self, x):\n"
             "        raise NotImplementedError"},
            "`Attention` is not written yet",
        ),
        ({"embed": "def embed(ids, table):\n    return table[ids"}, "line 2: '[' was never closed"),
        ({"embed": "return 3"}, "line 1: 'return' outside function"),
        ({"embed": "# later"}, "`embed` is not defined"),
        ({"embed": "def embed(i, t):\n    return t[i] + offset"}, "`offset` is used and nowhere"),
        ({"embed": "def embed(i, t):\n    display(i)\n    return t[i]"}, "only inside a notebook"),
        ({"scores": "def scores(q, k):\n    return causal_mas(3)"}, "`causal_mas` is used and"),
        ({"blend": "a = 1\ndel a\n\n\ndef blend(w, v):\n    return a"}, "leave out the `del`"),
        ({"blend": "def blend(w, v):\n    return past"}, f"{LAB03} has one: copy that cell"),
        (
            {"embed": "def embed(i, t):\n    return steer()",
             "steer": "def steer():\n    pass"},
            "`embed` calls `steer`, which is not written",
        ),
    ],
)  # fmt: skip
def test_what_is_not_there_or_not_finished_is_refused(
    refused: Callable[..., list[str]], answers: Answers, said: str
) -> None:
    (reason,) = refused(answers)
    name = next(iter(answers))
    assert said in reason
    assert f"{HOME[name]}.ipynb" in reason
    if "not defined" not in said and "calls" not in said:
        assert f"cell {cell_of(HOME[name], name)}:" in reason


def test_all_reasons_are_said_at_once(refused: Callable[..., list[str]]) -> None:
    reasons = refused(
        {
            "embed": "def embed(:",
            "softmax": stub("softmax") + "raise NotImplementedError()",
            "Attention": "class Attention(Layer):\n    pass",
        }
    )
    assert [reason.split(".ipynb")[0] for reason in reasons] == [LAB00, LAB01, LAB03]


def test_an_empty_cell_below_the_answer_is_named(refused: Callable[..., list[str]]) -> None:
    (reason,) = refused(lab00=[stub("embed") + "raise NotImplementedError()"])
    assert f"Cell {cell_of(LAB00, 'embed')} has one too" in reason


def test_a_refusal_to_do_one_thing_is_no_stub(made: Callable[..., ModuleType]) -> None:
    module = made(
        {
            "embed": "def embed(ids, table):\n    if ids is None:\n"
            "        raise NotImplementedError('ids')\n    return table[ids]"
            "\n    raise NotImplementedError()"
        }
    )
    assert module.embed(0, [5]) == 5


def test_lab_03s_given_cell_is_needed(tmp_path: Path) -> None:
    write_labs(tmp_path, {"given_4": "# gone"})
    with pytest.raises(NotExported, match=r"given cell that lets MultiHeadAttention obey masks"):
        export(tmp_path, tmp_path / "attention.py")


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


def test_a_folder_that_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotExported, match="no such folder"):
        export(tmp_path / "nowhere", tmp_path / "attention.py")


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


@pytest.mark.parametrize("to", ["notes.txt", "my-module.py", "nowhere/attention.py", "folder.py"])
def test_a_place_that_makes_no_module_is_refused(tmp_path: Path, to: str) -> None:
    (tmp_path / "folder.py").mkdir()
    with pytest.raises(NotExported):
        export(tmp_path, tmp_path / to)


# ---- the trial ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"causal_mask": "def causal_mask(T):\n    return np.ones((T, T))[1:]"},
         "`causal_mask`: returns the shape (3, 4) where (4, 4) is wanted"),
        ({"scores": "NUMBER = 1\nSCALE = NUMBER / 0\n\n\ndef scores(q, k):\n    return SCALE"},
         "cell {cell}, line 2: importing the module: ZeroDivisionError"),
        ({"scores": "\n\ndef scores(q, k):\n    return q @ k"},
         "cell {cell}, line 4: `scores`: ValueError"),
        ({"scores": "import os\n\nSTOP = os._exit(3)\n\n\ndef scores(q, k):\n    return STOP"},
         "ended Python, with code 3"),
        ({"scores": "WORD = input()\n\n\ndef scores(q, k):\n    return WORD"}, "EOFError"),
        ({"scores": "def scores(q, k):\n    return q @ k.T\n\n\nscores = scores(X, X)"},
         "`scores`: is no function but ndarray"),
    ],
    ids=["shape", "import", "call", "exit", "input", "value"],
)  # fmt: skip
def test_a_module_that_fails_its_trial_is_not_written(
    tmp_path: Path, answer: Answers, said: str
) -> None:
    write_labs(tmp_path, answer)
    (name,) = answer
    with pytest.raises(NotExported) as error:
        export(tmp_path, tmp_path / "attention.py")
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
    (reason,) = problems_of(Module("while True:\n    pass\n"), seconds=1.5)
    assert "more than 1.5 seconds" in reason


def test_every_building_block_is_tried(reference: Exported) -> None:
    text = reference.path.read_text(encoding="utf-8")
    broken = "".join(f"{name} = None\n" for name in BUILDING_BLOCKS)
    reasons = problems_of(Module(f"{text}\n{broken}"))
    assert [reason.split(":")[0] for reason in reasons] == [f"`{n}`" for n in BUILDING_BLOCKS]


# ---- reading code ------------------------------------------------------------------------


def statements_of(code: str) -> list[Any]:
    return read_cell(code, LAB00, 1, False, 0)


def test_statements_carry_their_comments() -> None:
    code = (
        "# far away\n\n# above\n# it\n@wraps\ndef f():\n    return '''\n    ### END SOLUTION\n'''\n"
        "    # inside\n\n# below\nx = 1; y = 2  # both\n\nz = (\n    3)  # last\n"
    )
    texts = [statement.text for statement in statements_of(code)]
    assert texts[0].startswith("# above\n# it\n@wraps")
    assert texts[0].endswith("### END SOLUTION\n'''\n    # inside")
    assert texts[1:] == ["x = 1", "y = 2", "z = (\n    3)  # last"]


def test_lines_of_statements_know_their_place_in_the_cell() -> None:
    code = "\ndef f():\n    ### BEGIN SOLUTION\n    return 1\n    ### END SOLUTION\n"
    (statement,) = statements_of(code)
    assert statement.lines == ("def f():", "    return 1")
    assert statement.numbers == (2, 4)


@pytest.mark.parametrize(
    ("code", "line"), [("x = 1\ny = (", 2), ("return 1", 1), ("x = '\ud800'", 1), ("a\x00", 1)]
)
def test_what_python_cannot_read_is_said_with_its_line(code: str, line: int) -> None:
    with pytest.raises(NotPython, match=f"^line {line}: "):
        statements_of(code)


SCOPES = """
import a.b
from c import d as e
@deco(g)
def f(x: hint = default, *args, k=dk, **kw) -> back:
    global made
    made = x + outer
    y = [x + free for x in y0 if cond]
    (lambda z, w=lam: z + w + free2)(1)
    def inner():
        nonlocal y
        y = inner_free
    for i in it: pass
    try: import local
    except Error as err: err
    with ctx as cm: cm
    if (walrus := x): walrus
    [hidden := q for q in y]
    match x:
        case {"a": cap, **rest}: cap, rest
        case Cls(val=[*star]) as whole: star, whole
    return hidden, local
class C(Base, metaclass=Meta):
    attr = value
    other = attr
    seen = [t for t in attr2]
    def method(self): return attr, C, super, __class__
total += 1
squares = {n: (m, top) for n in range(3) for m in rows}
"""


def test_names_are_resolved_as_python_resolves_them() -> None:
    """Compared with the compiler's own table."""
    ours = {use.name for use in uses(ast.parse(SCOPES)) if use.later}
    theirs: set[str] = set()

    def collect(table: symtable.SymbolTable, inside: bool) -> None:
        is_function = table.get_type() == "function" and table.get_name() not in (
            "listcomp", "dictcomp", "genexpr", "setcomp",
        )  # fmt: skip
        inside = inside or is_function
        if inside:
            theirs.update(s.get_name() for s in table.get_symbols() if s.is_global())
        for child in table.get_children():
            collect(child, inside)

    collect(symtable.symtable(SCOPES, "code", "exec"), inside=False)
    assert ours == theirs
    now = {use.name for use in uses(ast.parse(SCOPES)) if not use.later and use.how == "read"}
    wanted = "deco g hint default dk back Base Meta value attr2 total range rows top"
    assert now == {*wanted.split()}  # not `lam`, a default inside f, nor `attr`, a name of C


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
    assert importlib.util.find_spec("attnlab.__main__")
