"""Read what a runner says that a cell put out. It may say anything; what a notebook cannot hold
is changed or cut, and nothing of it reaches past the output it stands in."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from nbformat import NotebookNode, from_dict
from nbformat.v4 import new_output

MOST_OUTPUTS = 500  # of one cell
MOST_TEXT = 6_000_000  # characters of one cell's outputs; the runner cuts honest ones before
MOST_COUNT = 1_000_000
DEEPEST = 40  # levels of displayed JSON
CUT = "\n… the rest of this cell's output was cut off.\n"


def as_outputs(said: object) -> list[NotebookNode]:
    """Read all outputs of one cell."""
    found: list[NotebookNode] = []
    room = MOST_TEXT
    for one in said if isinstance(said, Sequence) and not isinstance(said, str) else ():
        output = as_output(one if isinstance(one, Mapping) else {})
        room -= len(json.dumps(output))
        if room < 0 or len(found) == MOST_OUTPUTS:
            return [*found, new_output("stream", name="stdout", text=CUT)]
        found.append(output)
    return found


def as_output(said: Mapping[str, Any]) -> NotebookNode:
    """Read one output; what is neither text nor an error counts as displayed."""
    kind = said.get("output_type")
    about: dict[str, Any]
    if kind == "stream":
        name = "stderr" if said.get("name") == "stderr" else "stdout"
        about = {"name": name, "text": as_text(said.get("text", ""))}
    elif kind == "error":
        lines = said.get("traceback")
        about = {name: as_text(said.get(name, "")) for name in ("ename", "evalue")}
        about["traceback"] = [as_text(n) for n in lines] if isinstance(lines, list) else []
    else:
        about = {"data": _bundle(said.get("data")), "metadata": {}}
        if kind == "execute_result":
            about["execution_count"] = as_count(said.get("execution_count"))
        else:
            kind = "display_data"
    # What is made here is valid: nbformat's own maker would check each against its schema.
    output: NotebookNode = from_dict({"output_type": kind, **about})
    return output


def as_count(value: object) -> int | None:
    """Read the number of a run."""
    return value if type(value) is int and 0 <= value <= MOST_COUNT else None


def as_text(value: object) -> str:
    """Read a text; halves of surrogate pairs, which no file can hold, become question marks."""
    text = value if isinstance(value, str) else f"<{type(value).__name__}>"
    return text.encode("utf-8", "replace").decode()


def _bundle(data: object) -> dict[str, Any]:
    """Keep what a notebook may show: texts and JSON under names of media types."""
    found = data if isinstance(data, dict) else {}
    return {
        as_text(kind): _json(value) if kind.endswith("json") else as_text(value)
        for kind, value in found.items()
        if "/" in kind
    }


def _json(value: Any) -> Any:
    """Keep JSON that others can read too: not too deep, without nan, all texts of whole letters."""
    if _depth(value) > DEEPEST:
        return CUT.strip()
    try:
        return json.loads(as_text(json.dumps(value, ensure_ascii=False, allow_nan=False)))
    except ValueError:
        return CUT.strip()


def _depth(value: Any) -> int:
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        inner = [list(v.values()) if isinstance(v, dict) else v for v in level]
        level = [item for v in inner if isinstance(v, list) for item in v]
        depth += 1
    return depth
