"""Make HTML inert: what came from a hand-in is data, and nothing in it runs or is fetched."""

from __future__ import annotations

import re

import nh3
from markupsafe import Markup

_MATHML = {
    *("math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "mfrac", "msqrt", "mroot"),
    *("msub", "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts"),
    *("mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom", "menclose"),
}
_MATHML_ATTRIBUTES = {
    *("display", "displaystyle", "scriptlevel", "mathvariant", "linethickness", "notation"),
    *("stretchy", "fence", "separator", "form", "accent", "accentunder", "movablelimits"),
    *("minsize", "maxsize", "lspace", "rspace", "width", "linebreak"),
    *("columnalign", "rowspacing", "columnspacing", "columnlines", "rowlines"),
}
_HTML = {
    *("p", "br", "hr", "div", "span", "blockquote", "pre", "code", "kbd", "samp", "var"),
    *("b", "i", "u", "s", "em", "strong", "del", "ins", "mark", "small", "sub", "sup", "q", "cite"),
    *("ul", "ol", "li", "dl", "dt", "dd", "details", "summary", "figure", "figcaption", "img"),
    *("table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "abbr"),
}
_ATTRIBUTES = {
    "*": {"lang", "dir"},
    "img": {"src", "alt", "width", "height"},
    "th": {"scope", "colspan", "rowspan"},
    "td": {"colspan", "rowspan"},
    "ol": {"start"},
    **dict.fromkeys(_MATHML, _MATHML_ATTRIBUTES),
}
_GONE = {
    *("script", "style", "template", "noscript", "iframe", "object", "embed", "title", "textarea"),
    *("select", "button", "svg", "annotation", "annotation-xml", "audio", "video", "canvas"),
}

# Drawn by <img>, an SVG runs no script and fetches nothing either.
PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/=\s]*")


def _only_pictures(tag: str, attribute: str, value: str) -> str | None:
    if (tag, attribute) == ("img", "src"):
        return value if PICTURE.fullmatch(value) else None
    return value


# No class, no id and no style: nothing in a hand-in can look like a part of the page.
_of_student = nh3.Cleaner(
    tags=_HTML | _MATHML,
    clean_content_tags=_GONE,
    attributes=_ATTRIBUTES,
    attribute_filter=_only_pictures,
    url_schemes={"data"},
    url_relative="deny",
    link_rel=None,
)

# The grader's tables carry their looks with them.
_of_grader = nh3.Cleaner(
    tags=_HTML | _MATHML,
    clean_content_tags=_GONE,
    attributes=_ATTRIBUTES | {"*": {"lang", "dir", "style"}},
    attribute_filter=_only_pictures,
    filter_style_properties={
        *("border-collapse", "border-bottom", "margin", "padding", "text-align"),
        *("vertical-align", "font-size", "white-space"),
    },
    url_schemes={"data"},
    url_relative="deny",
    link_rel=None,
)


def of_student(html: str) -> Markup:
    """Keep text, tables, pictures and formulas of a hand-in's HTML, without any looks."""
    return Markup(_of_student.clean(html))


def of_grader(html: str) -> Markup:
    """Keep a table that the grader wrote, with its looks; it may quote the hand-in."""
    return Markup(_of_grader.clean(html))
