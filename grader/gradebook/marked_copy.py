"""The marked notebook in autograded/, as nbgrader's feedback and formgrader expect it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from grader.gradebook.timestamps import NAME as TIMESTAMP

READ_ONLY, SHARED = 0o444, 0o664  # nbgrader's own choice, without and with a shared group
NEW = ".new"


def marked_folder(coursedir: Any, student: str, lab: str) -> Path:
    """Find where a student's marked notebook lies, or would lie."""
    return Path(coursedir.format_path(coursedir.autograded_directory, student, lab))


@contextmanager
def replacing(
    coursedir: Any, student: str, lab: str, notebook: str, timestamp: datetime | None
) -> Iterator[None]:
    """Write a marked notebook beside its place, and move it there when the block ends well.

    Nothing else of the hand-in is copied, and what else lies there goes: files of an earlier
    hand-in would be taken for this one's.

    Parameters
    ----------
    notebook : the notebook as JSON text; "" leaves no marked copy at all
    timestamp : when it was handed in; nbgrader compares it with submitted/'s
    """
    folder = marked_folder(coursedir, student, lab)
    mode = SHARED if coursedir.groupshared else READ_ONLY
    texts = {f"{lab}.ipynb": notebook} if notebook else {}
    if texts and timestamp:
        texts[TIMESTAMP] = f"{timestamp:%Y-%m-%d %H:%M:%S.%f} UTC"
    if texts:
        folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        new = folder / (name + NEW)
        new.unlink(missing_ok=True)
        # A lone surrogate cannot be written; a student's text may hold one.
        new.write_text(text, encoding="utf-8", errors="replace")
        new.chmod(mode)
    try:
        yield
        for name in texts:
            os.replace(folder / (name + NEW), folder / name)
    finally:
        for name in texts:
            (folder / (name + NEW)).unlink(missing_ok=True)
    for other in folder.iterdir() if folder.is_dir() else ():
        if other.name not in texts:
            remove(other)
    if not texts and folder.is_dir():
        folder.rmdir()


def remove(path: Path) -> None:
    """Remove a file, a link or a whole folder."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
