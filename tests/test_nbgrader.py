"""Marks as nbgrader gives them: full for answers, none for the release, true ones in between."""

from __future__ import annotations

import json
import re
import shutil
import sys
from functools import partial
from pathlib import Path

import nbformat
import pytest

from grader.catalogue import LABS, exercises
from grader.engine.assess import Budget, assess, exercise_of
from grader.engine.play import play_cells
from grader.engine.sandbox import why_missing
from grader.gate import answered
from grader.hand_ins import HandIn, answers
from grader.mark import grade
from grader.markers import read_lab
from grader.release import kept_numbers
from grader.run_notebook import warnings_in
from grader.seed import HiddenSeed
from grader.sheets import PUBLIC_SEED, sheet
from tests.class_course import warm
from tests.conftest import ROOT, needs_sandbox
from tests.nbgrader_course import Course, marks_in, nbgrader, own
from tests.offline import run_offline

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="grading is on Linux first"),
    # nbgrader's own, where it adds a student to others
    pytest.mark.filterwarnings("ignore:Object of type <Submitted"),
]


@pytest.fixture(scope="module")
def lab00(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """Release a lab once; each test hands in as a student of its own."""
    return Course(tmp_path_factory.mktemp("lab00"), "lab00_qkv")


@pytest.mark.parametrize("stem", LABS)
def test_answers_earn_everything_and_the_release_nothing(tmp_path: Path, stem: str) -> None:
    course = Course(tmp_path, stem)
    course.hand_in("right", answers(read_lab(ROOT / "course" / f"{stem}.py")))
    course.hand_in("untouched", {})
    full = {exercise.name: exercise.points for exercise in exercises(stem)}
    assert course.grade("right") == full
    assert course.grade("untouched") == dict.fromkeys(full, 0.0)
    for student in ("right", "untouched"):
        page = course.feedback(student)
        assert not [number for number in kept_numbers(stem) if number in page]
        graded = course.path("autograded", student).read_text(encoding="utf-8")
        assert not [number for number in kept_numbers(stem) if number in graded]


# What a learner may do to a notebook without meaning harm, or meaning it; where it stands, and
# which exercises may lose marks by it.
BEFORE = {
    "names redefined at the start": (
        "check = mark = grade = lambda *a, **k: None\nprint = list = len = None\n",
        "embed",
        set(),
    ),
    "numpy redefined": (
        "np = None\n",
        "steer",
        {"steer"},
    ),
    "prints and warns": (
        "import sys, warnings\nprint('hello')\nprint('careful', file=sys.stderr)\n"
        "warnings.warn('deprecated')\n",
        "scores",
        set(),
    ),
    "warnings are errors": (
        "import warnings\nwarnings.simplefilter('error')\nnp.seterr(all='raise')\n",
        "embed",
        set(),
    ),
    "an error after the answer": ("raise RuntimeError('oops')\n", "blend", {"blend"}),
    "a syntax error": ("def (\n", "blend", {"blend"}),
    "a display hook of one's own": (
        "import sys\nsys.displayhook = lambda value: print('mine', value)\n",
        "steer",
        {"steer"},
    ),
}


@pytest.mark.parametrize("what", BEFORE)
def test_code_above_an_answer_costs_that_exercise_at_most(lab00: Course, what: str) -> None:
    code, where, may_lose = BEFORE[what]
    right = answers(read_lab(ROOT / "course" / "lab00_qkv.py"))
    lab00.hand_in(what, right, {where: code})
    marks = lab00.grade(what)
    for exercise in exercises("lab00_qkv"):
        if exercise.name not in may_lose:
            assert marks[exercise.name] == exercise.points, exercise.name


def test_hard_ends_inside_an_answer_cost_that_exercise_only(
    lab00: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.engine.assess.Budget", partial(Budget, case=1.0, exercise=2.5))
    hand_in: HandIn = {
        **answers(read_lab(ROOT / "course" / "lab00_qkv.py")),
        "embed": own("import os\ndef embed(ids, table):\n    os._exit(0)\n"),
        "project": own("def project(*a):\n    while True: pass\n"),
        "lookup": own("def lookup(q, k, v):\n    return np.ones(2**36)\n"),
        "scores": own(
            "import sys\ndef scores(q, k):\n    print('x' * 10**6); print('y', file=sys.stderr)\n"
            "    return np.float64(0.0)\n"
        ),
    }
    lab00.hand_in("ended", hand_in, {})
    assert lab00.grade("ended") == {
        "embed": 0.0,
        "project": 0.0,
        "lookup": 0.0,
        "scores": 0.0,
        "blend": 4.0,
        "steer": 2.0,
    }
    page = lab00.feedback("ended")
    assert "ended Python itself" in page
    assert "did not finish in time" in page
    assert "more memory than an exercise may use" in page


def test_a_wrong_softmax_costs_attention_nothing(tmp_path: Path) -> None:
    course = Course(tmp_path, "lab01_scaled_dot_product")
    lab = read_lab(ROOT / "course" / "lab01_scaled_dot_product.py")
    hand_in = {**answers(lab), "softmax": own("def softmax(x):\n    return x * 0 + 7\n")}
    course.hand_in("student", hand_in)
    marks = course.grade("student")
    assert marks["softmax"] == 0
    assert marks["attention"] == 8


def test_the_order_of_cells_does_not_change_marks(lab00: Course) -> None:
    lab = read_lab(ROOT / "course" / "lab00_qkv.py")
    lab00.hand_in("another order", answers(lab))
    path = lab00.path("submitted", "another order")
    notebook = nbformat.read(path, as_version=4)
    solutions = [c for c in notebook.cells if c.metadata.get("nbgrader", {}).get("solution")]
    others = [c for c in notebook.cells if c not in solutions]
    code = [c for c in solutions if c.cell_type == "code"]
    written = [c for c in solutions if c.cell_type != "code"]
    first_given = others.index(next(c for c in others if c.cell_type == "code"))
    notebook.cells = (
        others[: first_given + 1] + code[::-1] + others[first_given + 1 :][::-1] + written
    )
    nbformat.write(notebook, path)
    assert sum(lab00.grade("another order").values()) == 18


def test_a_seed_of_ones_own_changes_the_kept_back_cases_and_no_mark(tmp_path: Path) -> None:
    lab00 = Course(tmp_path, "lab00_qkv")  # whose configuration changes
    lab = read_lab(ROOT / "course" / "lab00_qkv.py")
    # A right answer of which a kept-back case can be known by what it is called with.
    telling = own("def scores(q, k):\n    return q @ np.swapaxes(k, -1, -2)\nprint('my cell')\n")
    seeds = {PUBLIC_SEED}
    for student, per_student in (("ada", False), ("ada", True), ("eve", True)):
        lab00.api.config.HiddenSeed.seed = "only we know"
        lab00.api.config.HiddenSeed.per_student = per_student
        lab00.hand_in(student, {**answers(lab), "scores": telling})
        assert sum(lab00.grade(student).values()) == 18
        graded = lab00.path("autograded", student).read_text(encoding="utf-8")
        assert "my cell" in graded
        assert "only we know" not in graded
        seed = HiddenSeed(config=lab00.api.config).of(student)
        assert not [number for number in kept_numbers(lab00.stem, seed) if number in graded]
        seeds.add(seed)
    drawn = {repr(sheet("scores", seed, False).cases) for seed in seeds}
    assert len(drawn) == len(seeds) == 4


def test_a_cell_that_ends_python_costs_no_mark(lab00: Course) -> None:
    right = answers(read_lab(ROOT / "course" / "lab00_qkv.py"))
    lab00.hand_in("exits", right)
    path = lab00.path("submitted", "exits")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(20, nbformat.v4.new_code_cell("import os\nos._exit(1)"))
    nbformat.write(notebook, path)
    assert sum(lab00.grade("exits").values()) == 18


def test_cells_that_play_with_an_answer_are_left_out_and_others_are_not() -> None:
    def cell(source: str, role: str = "") -> nbformat.NotebookNode:
        about = {"nbgrader": {"grade_id": role, "solution": True}} if role else {}
        return nbformat.v4.new_code_cell(source, metadata=about)

    released = [
        cell("E = np.ones(3)"),
        cell("def softmax(x): ...", "softmax"),
        cell("p = softmax(E)"),
        cell("figure(p)"),
        cell("p = 3"),
        cell("print(p)"),
        cell("softmax("),
    ]
    added = [cell("mine = softmax(E)"), cell("print(p + 1)")]
    notebook = nbformat.v4.new_notebook(cells=[*released, *added])
    left_out = play_cells(notebook, nbformat.v4.new_notebook(cells=released))
    assert [c.source for c in left_out] == ["p = softmax(E)", "figure(p)"]


def test_two_exercises_that_lean_on_each_other_earn_nothing(tmp_path: Path) -> None:
    lab = read_lab(ROOT / "course" / "lab01_scaled_dot_product.py")
    namespace = answered(lab)
    exec(
        "def softmax(x):\n    return attention(x, np.eye(x.shape[-1]) * x.shape[-1] ** 0.5, "
        "np.eye(x.shape[-1]))[1]\n"
        "def attention(q, k, v):\n"
        "    weights = softmax(q @ np.swapaxes(k, -1, -2) / np.sqrt(q.shape[-1]))\n"
        "    return weights @ v, weights\n",
        namespace,
    )
    assert grade("softmax", namespace["softmax"], PUBLIC_SEED).score == 0


def test_stock_nbgrader_gives_the_same_marks_and_none_without_the_grader(lab00: Course) -> None:
    lab = read_lab(ROOT / "course" / "lab00_qkv.py")
    hand_in = {**answers(lab), "scores": own("def scores(q, k):\n    return q @ k.T\n")}
    lab00.hand_in("stock", hand_in)
    words = ("autograde", lab00.stem, "--student", "stock", "--force")
    for path, marks in ((str(ROOT), {"scores": 3.25, "blend": 4.0}), ("", {"scores": 0.0})):
        done = nbgrader(lab00.place, *words, PYTHONPATH=path)
        assert done.returncode == 0, done.stderr
        assert marks.items() <= marks_in(lab00.place, lab00.stem, "stock").items()


@needs_sandbox
def test_the_manuals_commands_work_from_release_to_grades(tmp_path: Path) -> None:
    stem = "lab00_qkv"
    for name in ("grader", "course", "attnlab"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "source" / stem, tmp_path / "source" / stem)
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    shutil.copytree(ROOT / "release" / stem, tmp_path / "release" / stem)  # as in a fresh clone
    assert nbgrader(tmp_path, "generate_assignment", stem).returncode == 0
    released = tmp_path / "release" / stem / f"{stem}.ipynb"
    assert released.read_bytes() == (ROOT / "release" / stem / f"{stem}.ipynb").read_bytes()
    validated = nbgrader(tmp_path, "validate", str(released))
    assert "failed" in validated.stdout
    assert "CheckFailed" in validated.stdout, validated.stdout + validated.stderr
    place = tmp_path / "submitted" / "ada" / stem
    shutil.copytree(released.parent, place)
    for step in ("autograde", "generate_feedback"):
        done = nbgrader(tmp_path, step, stem)
        assert done.returncode == 0, done.stderr
    assert nbgrader(tmp_path, "export", "--to", "marks.csv").returncode == 0
    assert "ada" in (tmp_path / "marks.csv").read_text()
    assert (tmp_path / "feedback" / "ada" / stem / f"{stem}.html").exists()


@pytest.mark.parametrize("stem", LABS)
def test_a_source_notebook_runs_as_in_a_kernel_without_a_network_or_a_warning(
    stem: str, tmp_path: Path
) -> None:
    path = ROOT / "source" / stem / f"{stem}.ipynb"
    kernel = run_offline(path, tmp_path / "ran.ipynb")
    assert warnings_in(kernel) == []
    figures = re.findall(r"<figure", json.dumps(kernel))
    assert len(figures) >= 3
    ours = nbformat.read(path, as_version=4)
    released = nbformat.read(ROOT / "release" / stem / f"{stem}.ipynb", as_version=4)
    assess(ours, released, stem, PUBLIC_SEED, warm(not why_missing()))
    for theirs, mine in zip(kernel.cells, ours.cells, strict=True):
        if theirs.cell_type == "code":
            own_check = exercise_of(theirs) != ""  # its table is the learner's, not the grader's
            assert words_of(mine) == words_of(theirs)[own_check:], mine.source


def words_of(cell: nbformat.NotebookNode) -> list[tuple[str, str]]:
    """Read what a cell put out, besides pictures."""
    return [
        (output.output_type, output.get("text") or output.data.get("text/plain"))
        for output in cell.outputs
    ]


def test_marks_do_not_depend_on_where_an_answer_is_graded(lab00: Course) -> None:
    """The same answer earns the same alone, and through nbgrader."""
    lab = read_lab(ROOT / "course" / "lab00_qkv.py")
    wrong = own("def scores(q, k):\n    return q @ k.T\n")
    lab00.hand_in("alone", {**answers(lab), "scores": wrong})
    namespace = answered(lab)
    exec(str(wrong.source), namespace)
    alone = grade("scores", namespace["scores"], PUBLIC_SEED).score
    assert lab00.grade("alone")["scores"] == alone == 3.25
