"""Cut a marked notebook into the parts of the page, in the notebook's order."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from markupsafe import Markup

from grader.feedback import words
from grader.feedback.code import coloured
from grader.feedback.marks import Mark, Marks
from grader.feedback.outputs import shown_outputs
from grader.feedback.prose import line, prose
from grader.feedback.verdict import Verdict, find_verdict

NOTHING = Markup("")

_HEADING = re.compile(r"\s*(#{1,6})[ \t]+(\S[^\n]*?)[ \t#]*(?:\n|\Z)")
_STUB = re.compile(r"[*\s]*YOUR ANSWER HERE[^\n]*")  # see `text_stub` in nbgrader_config.py


@dataclass(frozen=True)
class Heading:
    """A heading of the lab; level 2 stands under the page's title."""

    kind: ClassVar[str] = "heading"
    level: int
    text: Markup


@dataclass(frozen=True)
class Told:
    """Text and code that the lab gave, folded away, under its heading where nothing else is."""

    kind: ClassVar[str] = "told"
    cells: tuple[Markup, ...]
    heading: Heading | None = None


@dataclass(frozen=True)
class Question:
    """The text of a written question."""

    kind: ClassVar[str] = "question"
    text: Markup


@dataclass(frozen=True)
class Work:
    """A cell with what it left behind: an answer, a cell of the student's, or one of the lab.

    Of the lab's own only what they left is open.
    """

    kind: ClassVar[str] = "work"
    title: str
    body: Markup
    outputs: tuple[Markup, ...] = ()
    comment: Markup = NOTHING
    the_labs: bool = False


@dataclass(frozen=True)
class Marked:
    """An exercise's table, or a written answer with its mark."""

    kind: ClassVar[str] = "marked"
    name: str
    mark: Mark | None
    verdict: Verdict | None = None
    written: bool = False
    body: Markup = NOTHING
    outputs: tuple[Markup, ...] = ()
    comment: Markup = NOTHING


Part = Heading | Told | Question | Work | Marked


@dataclass
class _Cutter:
    marks: Marks
    released: frozenset[str]
    title: str = ""
    level: int = 1
    told: list[tuple[bool, Markup]] = field(default_factory=list)  # whether it is text; the cell
    named: set[str] = field(default_factory=set)

    def parts_of(self, cell: Mapping[str, Any]) -> Iterator[Part]:
        role = _role(cell)
        source = str(cell.get("source", ""))
        is_code = cell.get("cell_type") == "code"
        if role == "check" or (role == "answer" and self._id(cell) in self.marks.parts):
            yield from self._marked(cell, source, is_code, role)
        elif role == "answer":
            yield from self.folded()
            yield self._work(words.YOUR_CODE if is_code else words.YOUR_TEXT, cell, source, is_code)
        elif not is_code:
            yield from self._text(cell, source)
        else:
            the_labs = role == "given" or source.strip() in self.released
            yield from self._code(cell, source, the_labs)

    def _marked(
        self, cell: Mapping[str, Any], source: str, is_code: bool, role: str
    ) -> Iterator[Part]:
        name = self._id(cell)
        if name in self.named:  # a copy; the first one counts
            return
        self.named.add(name)
        mark = self.marks.parts.get(name)
        comment = self._comment(cell)
        if role == "check":
            yield from self.folded()
            # A graded cell that the gradebook does not know was not made by the grader.
            verdict = find_verdict(name, cell.get("outputs") or ()) if mark else None
            yield Marked(name, mark, verdict, comment=comment)
            return
        yield from self.folded(question=True)
        body, outputs = _body(cell, source, is_code)
        yield Marked(name, mark, None, True, body, outputs, comment)

    def _text(self, cell: Mapping[str, Any], source: str) -> Iterator[Part]:
        the_labs = not self.released or source.strip() in self.released
        if not the_labs:
            yield from self.folded()
            yield self._work(words.YOUR_TEXT, cell, source, False)
            return
        if found := _HEADING.match(source):
            yield from self.folded()
            source = source[found.end() :]
            text = line(found[2])
            if len(found[1]) == 1 and not self.title:
                self.title = text.striptags()
            else:
                # No level is left out on the way down, so that headings make an outline.
                self.level = max(2, min(len(found[1]), self.level + 1))
                yield Heading(self.level, text)
        if source.strip():
            self.told.append((True, prose(source, cell.get("attachments"))))

    def _code(self, cell: Mapping[str, Any], source: str, the_labs: bool) -> Iterator[Part]:
        if the_labs and not cell.get("outputs"):
            self.told.append((False, coloured(source)))
        elif source.strip() or cell.get("outputs"):
            yield from self.folded()
            title = words.LABS_CELL if the_labs else words.YOUR_CODE
            yield self._work(title, cell, source, True, the_labs)

    def _work(
        self,
        title: str,
        cell: Mapping[str, Any],
        source: str,
        is_code: bool,
        the_labs: bool = False,
    ) -> Work:
        body, outputs = _body(cell, source, is_code)
        return Work(title, body, outputs, self._comment(cell), the_labs)

    def folded(self, question: bool = False) -> Iterator[Part]:
        """Close the fold; text right before a written answer is its question, and stays open."""
        asked = self.told.pop()[1] if question and self.told and self.told[-1][0] else None
        if self.told:
            yield Told(tuple(html for _, html in self.told))
            self.told.clear()
        if asked is not None:
            yield Question(asked)

    def _comment(self, cell: Mapping[str, Any]) -> Markup:
        words_of_instructor = self.marks.comments.get(self._id(cell), "")
        return prose(words_of_instructor) if words_of_instructor.strip() else Markup("")

    @staticmethod
    def _id(cell: Mapping[str, Any]) -> str:
        return str(_about(cell).get("grade_id", ""))


def cut_up(
    cells: list[Mapping[str, Any]], marks: Marks, released: frozenset[str]
) -> tuple[str, list[Part]]:
    """Make the page's parts.

    Parameters
    ----------
    cells : the marked notebook's
    marks : of this hand-in
    released : texts of the lab's own cells

    Returns
    -------
    the lab's title, "" when it has none, and the parts
    """
    cutter = _Cutter(marks, released)
    parts: list[Part] = []
    for cell in cells:
        try:
            parts += cutter.parts_of(cell)
        except Exception:  # a cell that is no cell; the page says so and goes on
            parts.append(Work(words.YOUR_CODE, Markup("<p>{}</p>").format(words.NOT_SHOWN)))
    parts += cutter.folded()
    return cutter.title, list(_fold_sections(parts))


def _fold_sections(parts: Sequence[Part]) -> Iterator[Part]:
    """Draw a section in which there is only text of the lab as one line to unfold."""
    at = 0
    while at < len(parts):
        part = parts[at]
        then, after = (*parts[at + 1 : at + 3], None, None)[:2]
        alone = isinstance(part, Heading) and (
            after is None or (isinstance(after, Heading) and after.level <= part.level)
        )
        if alone and isinstance(part, Heading) and isinstance(then, Told):
            yield Told(then.cells, part)
            at += 2
        else:
            yield part
            at += 1


def _body(cell: Mapping[str, Any], source: str, is_code: bool) -> tuple[Markup, tuple[Markup, ...]]:
    if is_code:
        return coloured(source), tuple(shown_outputs(cell.get("outputs") or ()))
    if not _STUB.sub("", source).strip():
        return Markup("<p>{}</p>").format(words.NOTHING_WRITTEN), ()
    return prose(source, cell.get("attachments")), ()


def _about(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    about = (cell.get("metadata") or {}).get("nbgrader")
    return about if isinstance(about, Mapping) else {}


def _role(cell: Mapping[str, Any]) -> str:
    """Say what nbgrader takes a cell for: "check", "answer", "given", or "" for no role."""
    about = _about(cell)
    if about.get("solution") or about.get("task"):
        return "answer"
    if about.get("grade"):
        return "check"
    return "given" if about.get("locked") else ""
