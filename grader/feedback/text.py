"""Clean plain text that a hand-in left: no colours, no machine's paths, nothing kept back."""

from __future__ import annotations

import re

from markupsafe import Markup, escape

from grader.feedback import words

LONGEST = 20_000  # characters; a page is to be read

_ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u202a-\u202e\u2066-\u2069]")
_KEPT_BACK = re.compile(r"^[^\n]*BEGIN HIDDEN TESTS(?s:.*?)(?:END HIDDEN TESTS[^\n]*\n?|\Z)", re.M)

# Pictures are long texts with slashes in them, and are no paths.
_PATH = re.compile(
    r"data:image/[^\"'\s>]+"
    r"|(?<![\w/:.+=,<])/(?:[\w.@~+-]+/)+(?=[\w.<-])"  # /home/ada/course/
    r"|(?<![\w\\])[A-Za-z]:\\(?:[\w.@~+ -]+\\)+"  # C:\Users\ada\
)

# A frame as Python itself prints it: where, and the lines quoted under it.
_FRAME = re.compile(r'^[ \t]*File "([^"\n]+)", line \d+(?:, in [^\n]*)?\n(?: {4,}[^\n]*\n)*', re.M)
_A_CELL = re.compile(r"<|.*ipykernel_")


def clean(text: str) -> str:
    """Take out what does not belong on a page: colours, frames that are not cells, long paths."""
    text = _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n")))
    text = _FRAME.sub(lambda frame: frame[0] if _A_CELL.match(frame[1]) else "", text)
    return short_paths(_KEPT_BACK.sub("", text))


def short_paths(text: str) -> str:
    """Cut absolute paths down to the file's name: they tell of the machine, not of the work."""
    return _PATH.sub(lambda found: found[0] if found[0].startswith("data:") else "…/", text)


def cut(text: str, longest: int = LONGEST) -> tuple[str, str]:
    """Cut a long text, and give the note that says so; "" when nothing is left out."""
    if len(text) <= longest:
        return text, ""
    return text[:longest], words.CUT


def preformatted(text: str, longest: int = LONGEST) -> Markup:
    """Show a text as it is, cut where it is too long for a page."""
    kept, note = cut(text, longest)
    more = Markup("<p>{}</p>").format(note) if note else Markup("")
    return Markup("<pre>{}</pre>").format(escape(kept)) + more
