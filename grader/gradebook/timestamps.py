"""When a hand-in was handed in, from its timestamp.txt."""

from __future__ import annotations

import stat
from datetime import datetime
from pathlib import Path

from nbgrader.utils import parse_utc

NAME = "timestamp.txt"
LONGEST = 200  # characters; a time of day in words of any kind is shorter

UNREADABLE = (
    f"Its {NAME} holds no time, so it counts as on time; if it was late, write one into it such as "
    "2026-01-31 18:00:00 UTC."
)


def read_timestamp(folder: Path) -> tuple[datetime | None, str]:
    """Read when a hand-in was handed in.

    nbgrader's own reader stops the command when the file is not as it should be.

    Returns
    -------
    the time in UTC, None when it is not known, and a complaint, "" when there is none
    """
    path = folder / NAME
    try:
        mode = path.lstat().st_mode
    except OSError:
        return None, ""
    if not stat.S_ISREG(mode):  # a link could lead anywhere, a pipe would never end
        return None, UNREADABLE
    try:
        with path.open("rb") as file:
            text = file.read(LONGEST + 1).decode("utf-8-sig").strip()
        if not text:
            return None, ""  # as nbgrader does
        return (parse_utc(text), "") if len(text) <= LONGEST else (None, UNREADABLE)
    except Exception:  # dateutil raises many kinds on text that is no time
        return None, UNREADABLE
