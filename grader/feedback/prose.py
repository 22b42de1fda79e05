"""Markdown as inert HTML, with its formulas as MathML and without addresses to go to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from html import escape
from typing import Any

from markupsafe import Markup
from mistune import HTMLRenderer
from nbconvert.filters.markdown_mistune import MarkdownWithMath, MathBlockParser, MathInlineParser

from grader.feedback.formulas import mathml
from grader.feedback.safe import of_student
from grader.feedback.text import cut, preformatted, short_paths

_HEADER = re.compile(r"<th(?=[ >])(?![^>]*\bscope=)")  # of a table in markdown

# Formulas begun with one of two words; Jupyter's rules search on to the end for each of them.
MOST_OPENED = 100

_ATTACHED = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/svg+xml")


class _Inline(MathInlineParser):
    r"""Jupyter's rules for formulas, and one more, so that $5 stays money.

    A formula holds no backtick, neither begins nor ends with a blank, and no digit follows its
    end; but blanks on both sides, as in `$ x $`, are a habit and harmless.
    """

    SPECIFICATION = MathInlineParser.SPECIFICATION | {
        "inline_math_tex": (
            r"(?<![$\\])\$(?P<math_inline_tex>"
            r"(?=\S)(?s:[^$`\\]|\\.)+?(?<=\S)"
            r"| (?=\D)(?:[^$`\\\n]|\\.)+? "
            r")\$(?!\$|\d)"
        )
    }


class _Renderer(HTMLRenderer):
    """HTML in which a cell's headings are bold lines: the page has an outline of its own."""

    def __init__(self, attachments: Mapping[str, Any]) -> None:
        super().__init__(escape=False)  # raw HTML is kept here and made inert afterwards
        self.attachments = attachments

    def heading(self, text: str, level: int, **attrs: Any) -> str:
        """Draw a heading as a bold line."""
        return f"<p><strong>{text}</strong></p>\n"

    def link(self, text: str, url: str, title: str | None = None) -> str:
        """Write an address out: nothing on the page leads away from it."""
        return text if url.startswith("#") or url in text else f"{text} ({escape(url)})"

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """Draw a picture that is in the notebook; of any other only the words are shown."""
        if url.startswith("attachment:"):
            url = self._attached(url.removeprefix("attachment:"))
        source = f' src="{escape(url)}"' if url.startswith("data:image/") else ""
        words = re.sub(r"<[^>]*>", "", text)
        return f'<img{source} alt="{words}">' if source else f"[{words}]"

    def _attached(self, name: str) -> str:
        bundle = self.attachments.get(name)
        if isinstance(bundle, Mapping):
            for kind in _ATTACHED:
                if isinstance(bundle.get(kind), str):
                    return f"data:{kind};base64,{bundle[kind]}"
        return ""

    def inline_math(self, body: str) -> str:
        """Draw a formula inside a sentence."""
        return mathml(body.strip())

    def block_math(self, body: str) -> str:
        """Draw a formula on a line of its own."""
        return mathml(body.strip(), block=True)

    def latex_environment(self, name: str, body: str) -> str:
        r"""Draw a formula that stands between \begin and \end without dollars."""
        return mathml(f"\\begin{{{name}}}{body}\\end{{{name}}}", block=True)


def prose(source: str, attachments: Mapping[str, Any] | None = None) -> Markup:
    """Turn a text cell into inert HTML.

    Parameters
    ----------
    source : markdown with formulas and raw HTML
    attachments : the cell's pictures, by name
    """
    return _prose(source, attachments) if attachments else _cached(source)


def line(text: str) -> Markup:
    """Turn a short text, such as a heading, into inert HTML without a paragraph around it."""
    return Markup(prose(text).strip().removeprefix("<p>").removesuffix("</p>"))


def _prose(source: str, attachments: Mapping[str, Any]) -> Markup:
    kept, note = cut(source)
    if max(kept.count("\\\\["), kept.count("\\begin")) > MOST_OPENED:
        return preformatted(source)
    try:
        parser = MarkdownWithMath(_Renderer(attachments), MathBlockParser(), _Inline())
        html = of_student(short_paths(_HEADER.sub(r'<th scope="col"', parser.render(kept))))
    except Exception:  # whatever a learner typed, the page is made
        return preformatted(source)
    return html + Markup("<p>{}</p>").format(note) if note else html


# A class hands in the same text of the lab again and again.
@lru_cache(maxsize=2048)
def _cached(source: str) -> Markup:
    return _prose(source, {})
