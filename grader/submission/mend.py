"""Make a valid notebook of whatever JSON a hand-in holds, as long as its cells can be told."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import nbformat
from nbformat import NotebookNode

_TYPES = {"code": "code", "markdown": "markdown", "raw": "raw"}
_OLD_TYPES = {"heading": "markdown", "html": "markdown", "plaintext": "raw"}


def mend(data: Mapping[str, Any]) -> tuple[NotebookNode, list[str]]:
    """Make a notebook of nbformat 4.5 of a notebook's JSON of any version.

    Kept are the text, type, id, pictures and nbgrader metadata of each cell. Outputs go, since
    they are made anew, and so does what editors add for themselves.

    Returns
    -------
    the notebook, and a sentence on each thing that was mended and may matter
    """
    notes = []
    entries = list(_entries(data))
    cells = [entry for entry in entries if isinstance(entry, Mapping)]
    if len(cells) < len(entries):
        notes.append(f"{len(entries) - len(cells)} of the file's cells held no cell.")
    version = data.get("nbformat", 4)
    if "cells" not in data or version in (1, 2, 3):
        notes.append(f"The file is in the old notebook format {version}; it was brought up to 4.")
    mended, odd = [], 0
    seen: set[str] = set()
    for place, cell in enumerate(cells):
        kind = _kind(cell)
        odd += kind == ""
        name = _free_id(cell.get("id"), place, seen)
        mended.append(_cell(cell, kind or "raw", name))
    if odd:
        notes.append(f"{odd} of the file's cells are of an unknown type; they are read as text.")
    metadata = _metadata(data)
    language = _language(data)
    if language not in ("", "python"):
        notes.append(f"The notebook was saved for {language[:20]!r}; it is marked with Python.")
    notebook = NotebookNode(cells=mended, metadata=metadata, nbformat=4, nbformat_minor=5)
    return notebook, notes


def _entries(data: Mapping[str, Any]) -> Iterator[Any]:
    """Go through what stands where cells should: at the top, or in version 3's worksheets."""
    cells = data.get("cells")
    if isinstance(cells, list):
        yield from cells
    sheets = data.get("worksheets")
    for sheet in sheets if isinstance(sheets, list) else ():
        if isinstance(sheet, Mapping) and isinstance(sheet.get("cells"), list):
            yield from sheet["cells"]


def _kind(cell: Mapping[str, Any]) -> str:
    """Read a cell's type; empty when it is unknown."""
    kind = cell.get("cell_type")
    if not isinstance(kind, str):
        return "code" if "outputs" in cell or "input" in cell else ""
    return _TYPES.get(kind) or _OLD_TYPES.get(kind, "")


def _cell(cell: Mapping[str, Any], kind: str, name: str) -> NotebookNode:
    source = cell.get("source", cell.get("input", cell.get("code", "")))
    mended = NotebookNode(id=name, cell_type=kind, metadata=NotebookNode(), source=_text(source))
    if cell.get("cell_type") == "heading":
        level = cell.get("level")
        hashes = "#" * (min(level, 6) if isinstance(level, int) else 1)
        mended.source = f"{hashes} {mended.source}"
    metadata = cell.get("metadata")
    about = metadata.get("nbgrader") if isinstance(metadata, Mapping) else None
    if isinstance(about, Mapping):
        mended.metadata["nbgrader"] = nbformat.from_dict(_clean(about))
    if kind == "code":
        mended.update(outputs=[], execution_count=None)
    elif pictures := _pictures(cell.get("attachments")):
        mended["attachments"] = nbformat.from_dict(pictures)
    return mended


def _text(source: Any) -> str:
    """Read a cell's text, which may be a string or a list of lines."""
    parts = source if isinstance(source, list) else [source]
    text = "".join(part for part in parts if isinstance(part, str))
    return _writable(text).replace("\r\n", "\n").replace("\r", "\n")


def _writable(text: str) -> str:
    """Replace halves of characters, which JSON may hold and no file can."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _clean(value: Any) -> Any:
    """Copy metadata with keys and texts that can be written."""
    if isinstance(value, Mapping):
        return {_writable(str(key)): _clean(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_clean(inner) for inner in value]
    return _writable(value) if isinstance(value, str) else value


def _pictures(attachments: Any) -> dict[str, dict[str, str]]:
    """Keep the attached pictures that are well formed."""
    if not isinstance(attachments, Mapping):
        return {}
    return {
        _writable(name): {_writable(kind): _writable(data)}
        for name, bundle in attachments.items()
        if isinstance(bundle, Mapping)
        for kind, data in bundle.items()
        if isinstance(data, str)
    }


def _free_id(name: Any, place: int, seen: set[str]) -> str:
    """Take a cell's id when it is valid and new; else make one that depends on its place only."""
    valid = isinstance(name, str) and 0 < len(name) <= 64 and name.isascii()
    if not (valid and name.replace("-", "").replace("_", "").isalnum()) or name in seen:
        name = next(n for n in _numbered(f"handed-in-{place + 1}") if n not in seen)
    seen.add(name)
    return str(name)


def _numbered(stem: str) -> Iterator[str]:
    yield stem
    number = 2
    while True:
        yield f"{stem}-{number}"
        number += 1


def _metadata(data: Mapping[str, Any]) -> NotebookNode:
    """Keep what tells which lab a notebook is of."""
    metadata = data.get("metadata")
    origin = metadata.get("made_from") if isinstance(metadata, Mapping) else None
    return NotebookNode({"made_from": _writable(origin)} if isinstance(origin, str) else {})


def _language(data: Mapping[str, Any]) -> str:
    """Read the language a notebook was saved for; empty when it does not say."""
    metadata = data.get("metadata")
    for key, inner in (("kernelspec", "language"), ("language_info", "name")):
        about = metadata.get(key) if isinstance(metadata, Mapping) else None
        language = about.get(inner) if isinstance(about, Mapping) else None
        if isinstance(language, str) and language:
            return _writable(language).lower()
    return ""
