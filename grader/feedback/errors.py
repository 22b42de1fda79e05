"""Show an error with the student's own frames, and with no others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from grader.feedback.text import clean

LARGEST = 20_000  # characters of a frame or a message

_CELL = re.compile(r"\s*(?:Cell|Input) In ?\[")
_BETWEEN = re.compile(r"\s*(?:During handling of the above|The above exception was)")


def shown_error(output: Mapping[str, Any]) -> str:
    """Write an error output as text: frames in cells, then the error itself.

    Frames in files are left out: they are the course's or a library's, and name the machine.
    """
    name, value = (clean(str(output.get(key, ""))[:LARGEST]) for key in ("ename", "evalue"))
    last = f"{name}: {value}" if value else name
    frames = output.get("traceback") or ()
    kept = [text for frame in _texts(frames) if _is_the_students(text := clean(frame[:LARGEST]))]
    if kept and kept[-1].rstrip().endswith(last):  # a syntax error's frame says it all
        return "\n".join(kept)
    return "\n".join([*kept, last])


def _texts(frames: object) -> Sequence[str]:
    if isinstance(frames, str):
        return [frames]
    return [str(frame) for frame in frames] if isinstance(frames, Sequence) else []


def _is_the_students(frame: str) -> bool:
    return bool(_CELL.match(frame) or _BETWEEN.match(frame))
