"""What a cell left behind, as inert HTML."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from grader.feedback import words
from grader.feedback.errors import shown_error
from grader.feedback.prose import prose
from grader.feedback.safe import of_student
from grader.feedback.text import clean, preformatted, short_paths

MOST = 30  # outputs of a cell
LARGEST = 2_000_000  # characters of a picture, or of HTML with its pictures
LARGEST_TEXT = 100_000  # characters of a text that are looked at
MOST_TAGS = 5_000  # of an output in HTML; more takes long to make inert
LONGEST_TEXT = 6_000  # characters of a text

_PICTURES = ("image/svg+xml", "image/png", "image/jpeg", "image/gif", "image/webp")


def shown_outputs(outputs: Sequence[Mapping[str, Any]]) -> list[Markup]:
    """Draw a cell's outputs in their order; what is too large or too many is said, not drawn."""
    drawn = [html for output in outputs[:MOST] for html in _drawn(output)]
    if len(outputs) > MOST:
        drawn.append(_note(words.MORE_OUTPUTS.format(number=len(outputs) - MOST)))
    return drawn


def _drawn(output: Mapping[str, Any]) -> Iterator[Markup]:
    kind = output.get("output_type")
    if kind == "stream":
        text = clean(_text(output.get("text"))[:LARGEST_TEXT])
        if text.strip():
            yield preformatted(text.rstrip("\n"), LONGEST_TEXT)
    elif kind == "error":
        yield preformatted(shown_error(output), LONGEST_TEXT)
    else:
        yield from _of_data(output.get("data") or {}, output.get("metadata") or {})


def _of_data(data: Mapping[str, Any], about: Mapping[str, Any]) -> Iterator[Markup]:
    """Draw the richest form of a result that can be drawn safely."""
    html = _text(data.get("text/html"))
    if html and html.count("<") <= MOST_TAGS:
        if len(html) > LARGEST:
            yield _note(words.TOO_LARGE.format(size=f"{len(html) / 1e6:.0f}"))
            return
        inert = of_student(short_paths(html))
        if "<img src" in inert or inert.striptags().strip():
            yield Markup("<div>{}</div>").format(inert)
            return
    for kind in _PICTURES:
        if content := _text(data.get(kind)):
            yield _picture(kind, content, about)
            return
    for kind in ("text/markdown", "text/latex"):
        if text := _text(data.get(kind)):
            yield prose(text)
            return
    if text := clean(_text(data.get("text/plain"))[:LARGEST_TEXT]):
        yield preformatted(text, LONGEST_TEXT)


def _picture(kind: str, content: str, about: Mapping[str, Any]) -> Markup:
    if len(content) > LARGEST:
        return _note(words.TOO_LARGE.format(size=f"{len(content) / 1e6:.0f}"))
    if kind == "image/svg+xml":
        content = base64.b64encode(content.encode()).decode()
    content = re.sub(r"[^A-Za-z0-9+/=]", "", content)
    own = about.get(kind)
    alt = own.get("alt") if isinstance(own, Mapping) else about.get("alt")
    alt = alt if isinstance(alt, str) and alt else words.EMPTY_PICTURE
    return Markup('<img src="data:{};base64,{}" alt="{}">').format(kind, content, alt)


def _text(value: object) -> str:
    """Read a text, which notebooks may hold in lines."""
    if isinstance(value, (list, tuple)):
        return "".join(part for part in value if isinstance(part, str))
    return value if isinstance(value, str) else ""


def _note(text: str) -> Markup:
    return Markup("<p>{}</p>").format(escape(text))
