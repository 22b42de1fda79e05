"""Tell the lab's own cells from what a student wrote or changed."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import nbformat


def released_texts(folder: str, assignment: str, notebook: str) -> frozenset[str]:
    """List the cells of a lab as they were handed out; empty when the lab is not at hand.

    Parameters
    ----------
    folder : where the marked copy lies, `<course>/autograded/<student>/<assignment>`
    """
    try:
        path = Path(folder).resolve().parents[2] / "source" / assignment / f"{notebook}.ipynb"
        return _texts(path, path.stat().st_mtime_ns)
    except Exception:  # without it the page is longer, and no less true
        return frozenset()


@lru_cache(maxsize=8)
def _texts(path: Path, _changed: int) -> frozenset[str]:
    cells = nbformat.read(path, as_version=4).cells
    return frozenset(cell.source.strip() for cell in cells if not _is_answer(cell))


def _is_answer(cell: nbformat.NotebookNode) -> bool:
    return bool(cell.metadata.get("nbgrader", {}).get("solution"))
