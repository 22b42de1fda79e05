"""Code with its words in colours that the page's own style sheet gives."""

from __future__ import annotations

from functools import lru_cache

from markupsafe import Markup
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from grader.feedback.text import cut

_LEXER = PythonLexer(stripnl=False)
_FORMATTER = HtmlFormatter(nowrap=True)


@lru_cache(maxsize=2048)
def coloured(source: str) -> Markup:
    """Colour a cell's code."""
    kept, note = cut(source.strip("\n"))
    more = Markup("<p>{}</p>").format(note) if note else Markup("")
    lines = Markup(highlight(kept, _LEXER, _FORMATTER))  # the formatter escapes every token
    return Markup("<pre><code>{}</code></pre>").format(lines) + more
