"""`FeedbackPage`: what nbgrader's generate_feedback writes for each hand-in of this course."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import nbformat
from jinja2 import Environment, PackageLoader
from markupsafe import Markup
from nbconvert.exporters import Exporter
from traitlets import default

from grader.feedback import words
from grader.feedback.marks import Marks, read_marks
from grader.feedback.parts import cut_up
from grader.feedback.prose import line
from grader.feedback.released import released_texts
from grader.feedback.summary import points_of, rows
from grader.mark import SUMMARY

MOST_REPAIRS = 50

# Everything is escaped, unless `grader.feedback.safe` has made it inert.
_templates = Environment(
    loader=PackageLoader("grader.feedback"), autoescape=True, trim_blocks=True, lstrip_blocks=True
)


class FeedbackPage(Exporter):
    """One HTML file that needs no other, runs nothing and fetches nothing."""

    output_mimetype = "text/html"

    @default("file_extension")
    def _file_extension_default(self) -> str:
        return ".html"

    def from_file(  # type: ignore[override]  # a page is text, as nbconvert's own exporters do it
        self, file_stream: Any, resources: Any = None, **kw: Any
    ) -> tuple[str, Any]:
        """Make the page of an open file; one that cannot be read gets a page that says so."""
        try:
            notebook = nbformat.read(file_stream, as_version=4)
            list(notebook.cells), dict(notebook.metadata)
        except Exception:  # nbformat raises many kinds, and every student gets a page
            return self._page(None, self._init_resources(resources))  # type: ignore[no-untyped-call]
        return self.from_notebook_node(notebook, resources, **kw)

    def from_notebook_node(  # type: ignore[override]
        self, nb: Any, resources: Any = None, **kw: Any
    ) -> tuple[str, Any]:
        """Make the page of a marked notebook."""
        nb, resources = super().from_notebook_node(nb, resources, **kw)
        return self._page(nb, resources)

    def _page(self, notebook: Any, resources: Any) -> tuple[str, Any]:
        about = resources.get("nbgrader") or {}
        marks = _marks(about)
        cells = list(notebook.cells) if notebook is not None else []
        title, parts = cut_up(cells, marks, _released(about, resources))
        page = _templates.get_template("page.html.j2").render(
            title=title or about.get("assignment") or resources["metadata"]["name"],
            student=about.get("student", ""),
            marks=marks,
            rows=rows(marks, parts),
            parts=parts,
            repairs=_repairs(notebook),
            unreadable=notebook is None,
            words=words,
            points_of=points_of,
        )
        return page, resources


def _marks(about: Mapping[str, Any]) -> Marks:
    if not about:  # made of a notebook alone, without nbgrader
        return Marks()
    return read_marks(about["db_url"], about["notebook"], about["assignment"], about["student"])


def _released(about: Mapping[str, Any], resources: Any) -> frozenset[str]:
    if not about:
        return frozenset()
    folder = resources["metadata"].get("path", "")
    return released_texts(folder, about["assignment"], about["notebook"])


def _repairs(notebook: Any) -> list[Markup]:
    """Read what was put right before marking; what looks like tampering is the instructor's."""
    ours = notebook.metadata.get(SUMMARY) if notebook is not None else None
    found = ours.get("repairs") if isinstance(ours, Mapping) else None
    return [line(text) for text in found or () if isinstance(text, str)][:MOST_REPAIRS]
