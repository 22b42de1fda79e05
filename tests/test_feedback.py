"""The page a student gets back: whole in one file, nothing kept back, nothing that runs."""

from __future__ import annotations

import base64
import io
import re
import shutil
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from nbgrader.api import Gradebook

from grader.catalogue import LABS, exercises
from grader.feedback.formulas import mathml
from grader.feedback.marks import Mark, Marks
from grader.feedback.page import FeedbackPage
from grader.feedback.prose import prose
from grader.feedback.summary import rows
from grader.hand_ins import demo_class
from grader.markers import read_lab
from grader.release import kept_numbers
from tests.conftest import ROOT
from tests.nbgrader_course import Course, nbgrader

STEM, STUDENT = "lab02_multi_head", "student04"  # one exercise is wrong, the others are right
WRONG, WRITTEN = "multi_head_attention", "one_head_or_many"
NAMES = [exercise.name for exercise in exercises(STEM)]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="grading is on Linux first")


class Graded:
    """One hand-in, marked once; pages are made from changed copies of it."""

    def __init__(self, place: Path) -> None:
        self.course = Course(place, STEM)
        lab = read_lab(ROOT / "course" / f"{STEM}.py")
        self.course.hand_in(STUDENT, demo_class(lab, 4, 15)[STUDENT])
        self.marks = self.course.grade(STUDENT)
        self.database = place / "gradebook.db"
        self.path = self.course.path("autograded", STUDENT)

    def notebook(self) -> NotebookNode:
        return nbformat.read(self.path, as_version=4)

    def page(
        self,
        change: Callable[[NotebookNode], Any] = lambda notebook: None,
        student: str = STUDENT,
        database: Path | None = None,
    ) -> str:
        notebook = self.notebook()
        change(notebook)
        url = f"sqlite:///{database or self.database}"
        about = {"student": student, "assignment": STEM, "notebook": STEM, "db_url": url}
        where = {"name": STEM, "path": str(self.path.parent)}
        resources = {"nbgrader": about, "metadata": where}
        page, _ = FeedbackPage()._page(notebook, resources)  # past nbformat's own checks
        return page


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Graded:
    return Graded(tmp_path_factory.mktemp("course"))


def cell_of(notebook: NotebookNode, grade_id: str) -> NotebookNode:
    return next(
        cell
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id
    )


class Tags(HTMLParser):
    """Every element of a page, and whatever in it could run, fetch or cover something."""

    HARMLESS = re.compile(r"#[\w%.-]*|data:image/[\w+]+;base64,[A-Za-z0-9+/=]*")
    RUNS = ("script", "iframe", "object", "embed", "link", "base", "form", "svg", "video")

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, {name: value or "" for name, value in attrs}))

    def all(self, tag: str) -> list[dict[str, str]]:
        return [attributes for seen, attributes in self.seen if seen == tag]

    def harmful(self) -> list[str]:
        found = [tag for tag, _ in self.seen if tag in self.RUNS]
        for tag, attributes in self.seen:
            for name, value in attributes.items():
                fetches = name in ("src", "href", "srcset", "action", "poster", "background")
                leads_out = fetches and not self.HARMLESS.fullmatch(value)
                covers = name == "style" and re.search(r"url|position|@|:-\d", value)
                if name.startswith("on") or covers or leads_out:
                    found.append(f"{tag} {name}={value}")
        return found


# ---- the page as a whole -----------------------------------------------------------------


def test_a_page_needs_no_other_file_and_runs_nothing(graded: Graded) -> None:
    page = graded.page()
    assert "default-src 'none'; style-src 'unsafe-inline'; img-src data:" in page
    assert Tags(page).harmful() == []
    (style,) = re.findall(r"<style>(.*?)</style>", page, flags=re.DOTALL)
    assert not re.search(r"url\(|@import|http", style)


def test_nbgraders_own_command_makes_the_page(graded: Graded) -> None:
    place = graded.course.place
    shutil.copy(ROOT / "nbgrader_config.py", place)
    (place / "grader").symlink_to(ROOT / "grader")
    done = nbgrader(place, "generate_feedback", STEM, "--force")
    assert done.returncode == 0, done.stderr
    written = place / "feedback" / STUDENT / STEM / f"{STEM}.html"
    assert written.read_text(encoding="utf-8") == graded.page()
    assert graded.course.feedback(STUDENT) == graded.page()


def test_a_row_of_the_summary_leads_to_each_part(graded: Graded) -> None:
    tags = Tags(graded.page())
    ids = [attributes["id"] for _, attributes in tags.seen if "id" in attributes]
    links = {attributes["href"].removeprefix("#") for attributes in tags.all("a")}
    assert len(ids) == len(set(ids))
    assert {*(f"check_{name}" for name in NAMES), WRITTEN} <= links <= set(ids)
    assert all(attributes.get("scope") for attributes in tags.all("th"))


def test_headings_make_an_outline(graded: Graded) -> None:
    cells = [new_markdown_cell(f"{'#' * level} x\n\ny") for level in (1, 5, 1, 3, 6, 2, 4)]
    alone, _ = FeedbackPage().from_notebook_node(new_notebook(cells=cells))
    for page in (graded.page(), alone):
        levels = [int(tag[1]) for tag, _ in Tags(page).seen if re.fullmatch(r"h[1-6]", tag)]
        assert levels[0] == 1
        assert levels.count(1) == 1
        assert all(after <= before + 1 for before, after in pairwise(levels))


def test_the_labs_own_text_is_folded_and_the_students_is_not(graded: Graded) -> None:
    def add(notebook: NotebookNode) -> None:
        notebook.cells[9:9] = [
            new_markdown_cell("A thought of mine."),
            new_code_cell("mine = 1 + 1"),
        ]

    page = graded.page(add)
    open_ = re.sub(r"<details class=\"told\">.*?</details>\n", "", page, flags=re.DOTALL)
    assert "A thought of mine." in open_
    assert re.search(r"mine</span>|mine ", open_)
    assert "That is lab 03." in page
    assert "That is lab 03." not in open_


# ---- marks -------------------------------------------------------------------------------


def test_each_exercise_shows_the_graders_table_and_the_mistake_by_name(graded: Graded) -> None:
    page = graded.page()
    assert page.count('class="verdict"') == len(NAMES)
    output = cell_of(graded.notebook(), f"check_{WRONG}").outputs[0]
    (mistake, *_) = output.metadata["attnlab"]["mistakes"]
    (row,) = re.findall(rf'<tr><th scope="row"><a href="#check_{WRONG}">.*?</tr>', page)
    assert mistake.replace("`", "") in re.sub(r"<[^>]*>", "", row)
    assert "part of the marks" in row
    assert page.count("full marks") == sum(
        graded.marks[exercise.name] == exercise.points for exercise in exercises(STEM)
    )


def test_what_a_person_gave_and_wrote_is_shown(graded: Graded, tmp_path: Path) -> None:
    database = tmp_path / "gradebook.db"
    shutil.copy(graded.database, database)
    with Gradebook(f"sqlite:///{database}") as gradebook:
        hand_in = gradebook.find_submission_notebook(STEM, STEM, STUDENT)
        grades = {grade.name: grade for grade in hand_in.grades}
        grades[WRITTEN].manual_score, grades[WRITTEN].extra_credit = 1.5, 0.25
        grades[WRITTEN].needs_manual_grade = False
        grades["check_split_heads"].manual_score = 3.0
        comments = {comment.name: comment for comment in hand_in.comments}
        comments[WRITTEN].manual_comment = "Say *why* $PX$ is one. <script>x()</script>"
        comments["merge_heads"].manual_comment = "Short and clear."
        hand_in.late_submission_penalty = 2.0
        gradebook.db.commit()

    def answer(notebook: NotebookNode) -> None:
        cell_of(notebook, WRITTEN).source = "Since $A_{ij} > 0$, all of it."

    page = graded.page(answer, database=database)
    assert "Your instructor set this to 3 of 5." in page
    assert "1.5 + 0.25 of 3" in page
    assert "Say <em>why</em> <math" in page
    assert "Short and clear." in page
    assert "<p>Since <math" in page
    assert "For handing in late, 2 points are taken off." in page
    assert "Extra credit is in the total: 0.25 points." in page
    auto = sum(graded.marks.values()) - graded.marks["split_heads"]
    assert f'class="total">{auto + 3 + 1.5 + 0.25 - 2:g} of 30 points' in page
    assert Tags(page).harmful() == []


def test_what_is_not_marked_is_said_and_never_counted_as_full(graded: Graded) -> None:
    page = graded.page(student="nobody")
    assert "No marks are written down for this hand-in yet." in page
    assert "full marks" not in page
    assert 'class="verdict"' not in page
    waits, none = Mark("check_x", 3.0, waits=True), Mark("check_x", 3.0)
    for mark, word in ((waits, "waits for a person"), (none, "not marked")):
        (row,) = rows(Marks({"check_x": mark}), [])
        assert (row.points, row.result) == ("– of 3", word)


def test_a_blank_answer_is_called_not_written(graded: Graded) -> None:
    page = graded.page()
    (row,) = re.findall(rf'<tr><th scope="row"><a href="#{WRITTEN}">.*?</tr>', page)
    assert "not written" in row
    assert "Nothing is written here." in page


def test_what_was_put_right_is_said_and_what_looks_like_tampering_is_not(graded: Graded) -> None:
    def note(notebook: NotebookNode) -> None:
        notebook.metadata["attnlab"] = {
            "repairs": ["A copy of `softmax`'s check was left out.", 7],
            "tampering": ["numpy.py lies beside the notebook"],
        }

    page = graded.page(note)
    assert "Before marking we put these right:" in page
    assert "<li>A copy of <code>softmax</code>'s check was left out.</li>" in page
    assert "numpy.py lies" not in page


# ---- nothing kept back -------------------------------------------------------------------


def test_a_page_holds_nothing_that_is_kept_back(graded: Graded) -> None:
    page = graded.page()
    assert not [number for number in kept_numbers(STEM) if number in page]
    source = cell_of(graded.notebook(), f"check_{WRONG}").source
    about = source.splitlines()[0].strip('"')
    assert about not in page
    assert "from attnlab import check\n\ncheck(" not in re.sub(r"<[^>]*>", "", page)
    for word in ("grader.mark", "HIDDEN", "execute_result"):
        assert word not in page


def test_errors_keep_the_students_frames_and_name_no_machine(graded: Graded) -> None:
    error = new_output(
        "error",
        ename="ValueError",
        evalue="cannot read /srv/course/secret/data.npy",
        traceback=[
            "\x1b[31m-----\x1b[39m",
            "\x1b[31mValueError\x1b[39m   Traceback (most recent call last)",
            "\x1b[36mCell\x1b[39m\x1b[36m \x1b[39m\x1b[32mIn[7]\x1b[39m, line 2\n----> 2 merge(x)",
            "File \x1b[32m/srv/course/attnlab/run.py:33\x1b[39m, in run(x)\n---> 33 expected = 0.7",
            "ValueError: cannot read",
        ],
    )
    printed = new_output(
        "stream",
        name="stderr",
        text="Traceback (most recent call last):\n"
        '  File "/tmp/ipykernel_7/12.py", line 1, in <module>\n    mine()\n'
        '  File "/srv/course/grader/mark.py", line 9, in grade\n    expected = 0.7\n'
        "ValueError: no\n/srv/venv/lib/numpy/core.py:3: RuntimeWarning: careful\n"
        "### BEGIN HIDDEN TESTS\nmark(1)\n### END HIDDEN TESTS\nhttps://example.org/a/b 1/2/3\n",
    )

    def fail(notebook: NotebookNode) -> None:
        cell_of(notebook, "merge_heads").outputs = [error, printed]

    page = graded.page(fail)
    assert "Cell In[7], line 2\n----&gt; 2 merge(x)\nValueError: cannot read …/data.npy" in page
    assert "line 1, in &lt;module&gt;\n    mine()\nValueError: no\n…/core.py:3: Run" in page
    assert "https://example.org/a/b 1/2/3" in page
    for word in ("/srv", "expected = 0.7", "HIDDEN", "\x1b"):
        assert word not in page


# ---- what came from a hand-in is data ----------------------------------------------------

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '<img src="https://example.org/x.png"><img src=//example.org/y>',
    '<a href="javascript:alert(1)">x</a><a href="https://example.org">y</a>',
    '<svg onload=alert(1)><use href="https://example.org/a.svg#x"/></svg>',
    '<div style="position:fixed;top:0;background:url(https://example.org)">0 of 0</div>',
    "<style>@import url(https://example.org/a.css); body{display:none}</style>",
    '<iframe srcdoc="<script>alert(1)</script>"></iframe><object data=x></object><embed src=x>',
    '<form action="https://example.org"><input autofocus onfocus=alert(1)></form>',
    '<meta http-equiv="refresh" content="0;url=https://example.org"><base href="//example.org/">',
    "<math><mtext><table><mglyph><style><!--</style><img title='--><img src=x onerror=a()>'>",
    '<math href="javascript:alert(1)"><mi xlink:href="javascript:alert(1)">x</mi></math>',
    '<img alt="$x$ onerror=alert(1) a" src=x>',
    "</div></div></main></body></html><script>alert(1)</script>",
    '<video poster="https://example.org/p.png" src="https://example.org/v.mp4"></video>',
    "![x](https://example.org/x.png) ![y](javascript:alert(1)) [z](javascript:alert(1))",
    "![x](attachment:no.png) <https://example.org> https://example.org",
    r"$\href{javascript:alert(1)}{x}$ $\text{<script>alert(1)</script>}$ $\style{x:url(y)}{z}$",
    r"$\text{<img src=x onerror=alert(1)>}$ $\color{url(https://example.org)}{x}$",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_hand_in_runs_or_is_fetched(graded: Graded, text: str) -> None:
    picture = f'<svg xmlns="http://www.w3.org/2000/svg">{text}</svg>'

    def write(notebook: NotebookNode) -> None:
        cell_of(notebook, WRITTEN).source = text
        notebook.cells[0].source += f"\n\n{text}"
        notebook.cells[3:3] = [new_markdown_cell(f"## {text}\n\n{text}"), new_code_cell(text)]
        notebook.metadata["attnlab"] = {"repairs": [text]}
        cell_of(notebook, "merge_heads").outputs = [
            new_output("display_data", data={kind: text})
            for kind in ("text/html", "text/markdown", "text/latex", "text/plain", "image/png")
        ] + [
            new_output("display_data", data={"image/svg+xml": picture}),
            new_output("stream", name="stdout", text=text),
            new_output("error", ename=text, evalue=text, traceback=[f"Cell In[1]\n{text}"]),
        ]

    page = graded.page(write)
    plain, hostile = Tags(graded.page()), Tags(page)
    assert hostile.harmful() == []
    assert [tag for tag, _ in hostile.seen if tag in ("html", "body", "main", "meta", "style")] == [
        tag for tag, _ in plain.seen if tag in ("html", "body", "main", "meta", "style")
    ]
    # Nothing closes a box of the page's own: what follows is where it was.
    assert page.count("<main>") == page.count("</main>") == 1
    assert page.rstrip().endswith("</main>\n</body>\n</html>")


def test_a_table_that_only_looks_like_the_graders_is_plain_data(graded: Graded) -> None:
    forged = new_output(
        "display_data",
        data={
            "text/html": '<div class="attnlab-report verdict" id="marks" style="margin:-9em">'
            "<p>forged: 5 of 5 points</p></div>",
            "text/plain": "forged",
        },
        metadata={"attnlab": {"exercise": "merge_heads", "mistakes": []}},
    )

    def forge(notebook: NotebookNode) -> None:
        cell_of(notebook, "merge_heads").outputs = [forged]
        earlier = {"attnlab": {"exercise": WRONG, "mistakes": []}}
        outputs = cell_of(notebook, f"check_{WRONG}").outputs
        outputs.insert(0, new_output("display_data", data=dict(forged.data), metadata=earlier))
        outputs.append(forged)
        made_up = {"grade_id": "check_bonus", "grade": True, "locked": True, "solution": False}
        about = {"nbgrader": {**made_up, "points": 5, "schema_version": 3, "cell_type": "code"}}
        bonus = {"attnlab": {"exercise": "bonus", "mistakes": []}}
        outputs = [new_output("display_data", data=dict(forged.data), metadata=bonus)]
        notebook.cells.append(new_code_cell("1", metadata=about, outputs=outputs))

    page = graded.page(forge)
    assert page.count('class="verdict"') == len(NAMES)
    assert page.count("forged: 5 of 5 points") == 1  # under the student's own code
    assert "<div><div>\n<p>forged" in page or "<div><div><p>forged" in page
    verdicts = re.findall(r'<div class="verdict">.*?</section>', page, flags=re.DOTALL)
    assert not any("forged" in verdict for verdict in verdicts)


def test_pictures_and_their_words_are_kept(graded: Graded) -> None:
    dot = base64.b64encode(b"\x89PNG not really").decode()
    figure = f'<figure><img src="data:image/png;base64,{dot}" alt="a heat map"></figure>'

    def draw(notebook: NotebookNode) -> None:
        cell_of(notebook, "merge_heads").outputs = [
            new_output("display_data", data={"text/html": figure}),
            new_output("display_data", data={"image/png": dot}),
            new_output("display_data", data={"image/svg+xml": "<svg>ü</svg>"}),
        ]
        cell = cell_of(notebook, WRITTEN)
        cell.source = "![mine](attachment:a.png)"
        cell.attachments = {"a.png": {"image/png": dot}}

    pictures = Tags(graded.page(draw)).all("img")
    assert [picture["src"].split(";")[0] for picture in pictures] == [
        "data:image/png",
        "data:image/png",
        "data:image/svg+xml",
        "data:image/png",
    ]
    assert [picture["alt"] for picture in pictures][::3] == ["a heat map", "mine"]
    assert all(picture["alt"] for picture in pictures)


# ---- formulas ----------------------------------------------------------------------------


@pytest.mark.parametrize("stem", LABS)
def test_every_formula_of_a_lab_is_drawn(stem: str) -> None:
    for cell in read_lab(ROOT / "course" / f"{stem}.py").cells:
        if cell.kind != "code":
            text = re.sub(r"`[^`]*`", "", cell.source)
            formulas = re.findall(r"\$\$.+?\$\$|\$.+?\$", text, flags=re.DOTALL)
            page = prose(cell.source)
            assert page.count("<math") == len(formulas), f"line {cell.line}: {cell.source}"
            shown = re.sub(r"<code>.*?</code>|<[^>]*>", "", page)
            assert not re.search(r"\\[a-z]|\$|\[\d+pt\]", shown)


@pytest.mark.parametrize(
    ("latex", "cells"),
    [
        (r"\begin{aligned} a &= b \\[2pt] &= c \end{aligned}", 4),
        (r"\begin{cases} 1 & x > 0 \\ 0 & \text{else} \end{cases}", 4),
        (r"\begin{bmatrix} 1 & 2 & 3 \\ 4 & 5 & 6 \end{bmatrix}", 6),
        (r"\begin{equation} \begin{split} a &= b \end{split} \end{equation}", 2),
    ],
)
def test_aligned_lines_cases_and_matrices_become_tables(latex: str, cells: int) -> None:
    for source in (f"$${latex}$$", latex):
        page = prose(source)
        assert page.count("<mtd") == cells, page
        assert "&amp;" not in page
        assert "pt" not in page.striptags()


@pytest.mark.parametrize(
    "latex", [r"\foo{x}", r"\left(", r"\begin{cases} a", r"\def\x{\x\x}\x", "{" * 3000, "a & b"]
)
def test_a_formula_that_cannot_be_read_is_shown_as_typed(latex: str) -> None:
    shown = mathml(latex)
    assert shown.startswith("<code>$")
    assert latex.replace("&", "&amp;") in shown


@pytest.mark.parametrize(
    ("text", "formulas"),
    [
        ("It costs $5, or $6 with tea.", 0),
        ("Between $5-$10 a month", 0),
        ("`$x$` and `a $ b`, ``$y$``", 0),
        ("    $x$\n", 0),
        ("```\n$x$\n```", 0),
        (r"\$5 is not $x_1$", 1),
        ("from $3$ to $4$", 2),
        ("a habit: $ x + 1 $", 1),
        ("on two\nlines $(a,\nb)$", 1),
    ],
)
def test_money_and_code_are_left_alone(text: str, formulas: int) -> None:
    page = prose(text)
    assert page.count("<math") == formulas
    assert page.count("$") == text.count("$") - 2 * formulas


# ---- whatever was handed in, there is a page ---------------------------------------------


@pytest.mark.parametrize(
    "text", ["", "{", '{"nbformat": 4}', '{"cells": 3, "metadata": {}, "nbformat": 4}', "\ufeff{}"]
)
def test_a_copy_that_cannot_be_read_gets_a_page_that_says_so(text: str) -> None:
    page, _ = FeedbackPage().from_file(io.StringIO(text))
    assert "could not be read" in page
    assert "full marks" not in page


def test_a_notebook_alone_gets_a_page() -> None:
    cells = [new_markdown_cell("# Hello"), new_code_cell("1 + 1")]
    page, _ = FeedbackPage().from_notebook_node(new_notebook(cells=cells))
    assert "<h1>Hello</h1>" in page
    assert "No marks are written down" in page


def test_odd_cells_do_not_stop_the_page(graded: Graded) -> None:
    def spoil(notebook: NotebookNode) -> None:
        output = cell_of(notebook, f"check_{WRONG}").outputs[0]
        output.metadata = {"attnlab": {"exercise": WRONG, "mistakes": {"a": 1}}}
        cell_of(notebook, "merge_heads").outputs = [{"output_type": "stream"}, {}, 3]
        cell_of(notebook, "split_heads").metadata["nbgrader"] = "?"
        del notebook.cells[2]["source"]

    page = graded.page(spoil)
    assert page.count("This cell could not be shown.") == 2
    assert page.count('class="verdict"') == len(NAMES) - 1
    assert page.rstrip().endswith("</html>")


def test_a_flood_of_output_is_cut_and_the_cut_is_said(graded: Graded) -> None:
    calm = len(graded.page())

    def flood(notebook: NotebookNode) -> None:
        html = "<div>" * 400_000
        cell_of(notebook, "merge_heads").outputs = [
            new_output("stream", name="stdout", text="x" * 5_000_000),
            new_output("display_data", data={"image/png": "A" * 9_000_000}),
            new_output("display_data", data={"text/html": html, "text/plain": "many boxes"}),
            new_output("error", ename="E", evalue="y" * 10**6, traceback=["Cell In[1]" * 10**5]),
            *[new_output("stream", name="stdout", text="again")] * 1000,
        ]
        cell_of(notebook, WRITTEN).source = "$x$ " * 10**6

    page = graded.page(flood)
    assert len(page) < calm + 500_000
    assert "the rest is left out here" in page
    assert "too large for this page (9 MB)" in page
    assert "many boxes" in page
    assert "974 more outputs are left out here." in page
