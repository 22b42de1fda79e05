"""Numbers, durations and other people's words, made fit to be read."""

from __future__ import annotations

MINUTE, HOUR, DAY = 60, 3600, 86400


def number(points: float, digits: int = 4) -> str:
    """Write points without the crumbs of binary fractions: 4, 3.25, 0.1429."""
    return f"{round(points, digits) + 0.0:.{digits}f}".rstrip("0").rstrip(".")


def duration(seconds: float) -> str:
    """Write a time in its largest fitting unit: 40 s, 12 min, 30 h, 3 d; "" for none."""
    if seconds <= 0:
        return ""
    for unit, name, up_to in ((1, "s", MINUTE), (MINUTE, "min", HOUR), (HOUR, "h", 2 * DAY)):
        if seconds < up_to:
            return f"{max(1, round(seconds / unit))} {name}"
    return f"{round(seconds / DAY)} d"


def on_one_line(text: str) -> str:
    """Keep a text from moving the cursor, changing colours or breaking a line of a terminal."""
    return "".join(c if c.isprintable() else "\ufffd" for c in " ".join(text.split()))
