"""Formulas as MathML, which browsers draw without a library and without a network."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape, unescape
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import convert_to_element

LONGEST = 4000  # characters; what is longer is not a formula anybody reads

# Definitions can grow without bound when they are expanded, and no lab uses them.
_DEFINES = re.compile(r"\\(?:def|let|[a-z]*newcommand|[a-z]*newenvironment)(?![a-zA-Z])")

# What the converter does not know, in words that it does.
_REWRITTEN = (
    # Lines that meet at the `&`, or at none.
    (r"\\(begin|end)\{(?:aligned|align|split|gathered|gather\*?)\}", r"\\\1{align*}"),
    (r"\\(?:begin|end)\{(?:equation|displaymath|math)\*?\}", ""),
    (r"(\\\\)\s*\[[^\]]*\]", r"\1"),  # more room between two rows, as in \\[2pt]
    (r"\\arg\s*\\(max|min)(?![a-zA-Z])", r"\\arg\1 "),
    (r"\\arg(?![a-zA-Z])", r"\\operatorname{arg}"),
)


@lru_cache(maxsize=4096)
def mathml(latex: str, block: bool = False) -> str:
    """Turn a formula into MathML; one that cannot be read is shown as it was typed.

    Parameters
    ----------
    latex : the formula without its dollars
    block : whether it stands on a line of its own
    """
    try:
        return _converted(latex, block)
    except Exception:  # the converter has no base class of errors, and learners type anything
        dollars = "$$" if block else "$"
        return f"<code>{escape(dollars + latex + dollars)}</code>"


def _converted(latex: str, block: bool) -> str:
    if len(latex) > LONGEST or _DEFINES.search(latex):
        raise ValueError("not a formula of a lab")
    for unknown, known in _REWRITTEN:
        latex = re.sub(unknown, known, latex)
    formula = convert_to_element(latex, display="block" if block else "inline")
    for node in formula.iter():
        node.text = _text(node)
    for node in list(formula.iter()):
        _set_apart(node)
    return tostring(formula, encoding="unicode", short_empty_elements=False)


def _set_apart(row: Element) -> None:
    r"""Put a thin space behind names such as the ln of `\ln 2`, where no bracket follows."""
    for place in reversed(range(len(row) - 1)):
        name, after = row[place], row[place + 1]
        if name.tag in ("msub", "msup", "munder") and len(name):
            name = name[0]
        is_word = name.tag in ("mi", "mo") and re.fullmatch(r"[A-Za-z\s]{2,}", name.text or "")
        if row.tag in ("mrow", "mtd") and is_word and after.tag not in ("mo", "mspace"):
            row.insert(place + 1, Element("mspace", width="0.167em"))


def _text(node: Element) -> str:
    """Read a node's text, which the converter keeps as an entity; refuse what it did not know."""
    text = unescape(node.text or "")
    if node.tag == "mi" and (text == "&" or re.match(r"\\\S", text)):
        raise ValueError(f"{text} is not known")
    return text
