"""What the texts of the labs promise their readers."""

from __future__ import annotations

import ast
import re
from statistics import median

import pytest

from grader.catalogue import LABS, READINGS, Specimen, exercises, right_variants, wrong_answers
from grader.markers import Lab, Text, read_lab, read_reading
from tests.conftest import ROOT

NOT_PROSE = re.compile(r"```.*?```|\$\$.*?\$\$|</?[a-z][^<>]*>|^\|.*?$", re.DOTALL | re.MULTILINE)
PICTURE = re.compile(r"\b(heatmap|head_maps|curves|figure)\(")


def test_there_are_enough_specimens() -> None:
    assert len(wrong_answers()) >= 100
    assert len(right_variants()) >= 30


def test_specimens_have_names_of_their_own() -> None:
    for name in [exercise.name for exercise in exercises()]:
        names = [specimen.mistake.name for specimen in wrong_answers([name])]
        assert len(names) == len(set(names))


@pytest.mark.parametrize(
    "specimen", wrong_answers(), ids=lambda s: f"{s.exercise}: {s.mistake.name}"
)
def test_a_hint_helps_without_giving_the_answer(specimen: Specimen) -> None:
    mistake = specimen.mistake
    assert 20 <= len(mistake.hint) <= 320
    assert mistake.hint.endswith((".", "?", "!"))
    assert not mistake.name.endswith(".")
    assert not re.search(r"return \w+ [@/*]", mistake.hint)


@pytest.fixture(params=LABS + READINGS)
def text(request: pytest.FixtureRequest) -> Text:
    path = ROOT / "course" / f"{request.param}.py"
    return read_reading(path) if request.param in READINGS else read_lab(path)


def without_worked_cases(prose: str) -> str:
    """Leave out what is looked at rather than read: formulas, tables, code, tags."""
    return re.sub(NOT_PROSE, "", prose)


def test_prose_comes_in_small_cells(text: Text) -> None:
    for cell in text.cells:
        if cell.kind == "markdown" and cell.role != "manual":
            words = len(without_worked_cases(cell.source).split())
            assert words <= 120, f"{text.path.name}:{cell.line}: {words} words"


def test_code_comes_in_small_cells(text: Text) -> None:
    lengths = []
    for cell in text.cells:
        if cell.kind == "code":
            lines = [line for line in cell.source.splitlines() if line.strip()]
            if cell.role == "solution":  # the docstring is for reading
                lines = without_docstrings(cell.source)
            lengths.append(len(lines))
            assert len(lines) <= 20, f"{text.path.name}:{cell.line}: {len(lines)} lines"
    assert median(lengths) <= 8


def without_docstrings(source: str) -> list[str]:
    lines = source.splitlines()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            text = node.body[0]
            for number in range(text.lineno - 1, text.end_lineno or text.lineno):
                lines[number] = ""
    return [line for line in lines if line.strip()]


def test_every_exercise_has_its_card_hint_trial_and_check(lab: Lab) -> None:
    for check in lab.of_role("check"):
        (solution,) = [cell for cell in lab.of_role("solution") if cell.name == check.name]
        before = lab.cells[lab.cells.index(solution) - 1]
        points = f"{check.markers['points']:g} point"
        assert points in before.source, f"{lab.path.name}:{before.line}"
        assert "minutes" in before.source
        assert "<details><summary>Hint</summary>" in before.source
        between = lab.cells[lab.cells.index(solution) + 1 : lab.cells.index(check)]
        assert any(cell.kind == "code" for cell in between), f"{check.name} is not tried out"
        assert ast.get_docstring(ast.parse(check.source)), (
            "a graded cell opens by saying what it checks"
        )


def test_answers_have_docstrings_and_no_type_hints(lab: Lab) -> None:
    for cell in lab.of_role("solution"):
        (definition,) = [
            node
            for node in ast.parse(cell.source).body
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == cell.name
        ]
        text = ast.get_docstring(definition) or ""
        assert text.splitlines()[0].endswith("."), cell.name
        if isinstance(definition, ast.FunctionDef) and definition.args.args:
            assert "Parameters" in text
            assert "Returns" in text
        for node in ast.walk(definition):
            if isinstance(node, ast.FunctionDef):
                assert node.returns is None
                assert all(arg.annotation is None for arg in node.args.args)


def test_pictures_stand_outside_graded_cells_and_carry_words(lab: Lab) -> None:
    drawn = 0
    for cell in lab.cells:
        pictures = cell.kind == "code" and PICTURE.search(cell.source)
        if pictures and cell.role != "given":
            drawn += 1
            assert not cell.role, f"{lab.path.name}:{cell.line}: a picture in a {cell.role} cell"
            assert "figure(" in cell.source, f"{lab.path.name}:{cell.line}: a picture without words"
            assert "alt=" in cell.source
    assert drawn >= 3


def test_the_worked_example_is_in_every_lab_beside_an_untrained_layer(lab: Lab) -> None:
    text = lab.path.read_text(encoding="utf-8")
    assert re.search(r"TOKENS|I work , you work , he ___", text)
    assert "untrained" in text.lower()
    assert "random" in text.lower()


def test_written_questions_have_a_model_answer_and_a_rubric(lab: Lab) -> None:
    (written,) = lab.of_role("manual")
    assert "**Model answer.**" in written.source
    assert "**Rubric.**" in written.source
    awarded = re.findall(r"(\d+(?:\.\d+)?) points?\b", written.source.split("**Rubric.**")[1])
    assert sum(map(float, awarded)) == written.markers["points"]


def test_the_readme_says_what_a_lab_is_worth_and_asks_for(lab: Lab) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (row,) = [line for line in readme.splitlines() if line.startswith(f"| [`{lab.stem}`]")]
    points, minutes = (cell.strip() for cell in row.strip("| ").split("|")[-2:])
    assert float(points) == lab.points
    assert minutes.replace("–", "-") == lab.minutes
    assert all(f"`{cell.name}`" in row for cell in lab.of_role("check"))


def test_the_readme_counts_its_specimens_right() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"{len(wrong_answers())} wrong answers" in readme
    assert f"{len(right_variants())} right answers" in readme


@pytest.mark.parametrize(
    "idea",
    [
        ("lab00_qkv", r"y_t = \\sum_j .* v_j"),
        ("lab00_qkv", "dictionary"),
        ("lab00_qkv", "differentiable"),
        ("lab00_qkv", "argmax"),
        ("lab00_qkv", "temperature"),
        ("lab00_qkv", "The cat sat"),
        ("lab01_scaled_dot_product", r"\\sqrt\{d_k\}"),
        ("lab01_scaled_dot_product", "variance"),
        ("lab01_scaled_dot_product", "overflow|too large"),
        ("lab01_scaled_dot_product", "slope|gradient|Jacobian"),
        ("lab02_multi_head", "equivarian"),
        ("lab02_multi_head", "specialis"),
        ("lab02_multi_head", "parameters"),
        ("lab02_multi_head", "position"),
        ("lab02_multi_head", "yo"),
        ("lab03_masking", "causal"),
        ("lab03_masking", "padding"),
        ("lab03_masking", "additive"),
        ("lab03_masking", "multipl"),
        ("lab03_masking", r"O\(T\^2"),
        ("lab03_masking", "memory|bytes"),
        ("lab03_masking", "[Cc]ross-attention"),
        ("lab03_masking", "[Ff]lash"),
        ("lab03_masking", "[Ss]liding"),
        ("lab03_masking", "recurren"),
        ("lab03_masking", "gradient"),
    ],
    ids=lambda idea: f"{idea[0]} {idea[1]}",
)
def test_the_ideas_the_course_grew_from_are_in_their_lab(idea: tuple[str, str]) -> None:
    stem, pattern = idea
    assert re.search(pattern, (ROOT / "course" / f"{stem}.py").read_text(encoding="utf-8"))
