"""Make IPython's tracebacks quick to write. Their text stays what a kernel would have written.

A notebook full of stubs is a notebook full of errors, and each took longer than all its cells.
"""

from __future__ import annotations

import inspect
import sys
from functools import cache
from types import FrameType, ModuleType

from pygments.formatters import Terminal256Formatter
from pygments.lexers import PythonLexer


def quicken() -> None:
    """Keep what is worked out anew for every frame of every error though it never changes."""
    # Each frame gets a lexer class of its own, and each class would compile the same expressions.
    tokens = type(PythonLexer()).__dict__["_tokens"]
    PythonLexer.process_tokendef = classmethod(lambda *_: tokens)
    closest = Terminal256Formatter._closest_color
    colours = Terminal256Formatter()

    @cache
    def closest_colour(*rgb: int) -> int:
        return int(closest(colours, *rgb))

    Terminal256Formatter._closest_color = lambda _, *rgb: closest_colour(*rgb)
    # Python looks through all modules to find a frame's, though the frame knows its name.
    search = inspect.getmodule

    def getmodule(object: object, _filename: str | None = None) -> ModuleType | None:
        if isinstance(object, FrameType):
            return sys.modules.get(object.f_globals.get("__name__", ""))
        return search(object, _filename)

    inspect.getmodule = getmodule
