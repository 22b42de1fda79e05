"""Try a module's text in a Python of its own, without notebook and IPython."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from attnlab.export import interface
from attnlab.export.module import Module

SECONDS = 60.0  # importing NumPy on a busy machine takes some; the trial itself less than one


def problems_of(module: Module, seconds: float = SECONDS) -> list[str]:
    """Import a module in a fresh process, try its interface, and list what went wrong.

    Returns
    -------
    a sentence each, with the cell of the lab where it happened; none when all is well
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path, found = Path(folder, "attention.py"), Path(folder, "found.json")
        path.write_text(module.text, encoding="utf-8", newline="\n")
        home = str(Path(interface.__file__).resolve().parents[2])  # for `from attnlab.example …`
        paths = [home, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "PYTHONDONTWRITEBYTECODE": "1",
            "MPLBACKEND": "agg",  # no window, whatever the labs import
        }
        command = [sys.executable, "-P", "-X", "utf8", interface.__file__, str(path), str(found)]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return [
                f"Importing and trying the module took more than {seconds:g} seconds. Is there a "
                "loop without an end, or long work outside of functions?"
            ]
        if not found.exists():
            return [
                f"The module ended Python, with code {done.returncode}. Does it call `exit` or "
                "`quit`, or use very much memory?"
            ]
        reports = json.loads(found.read_text(encoding="utf-8"))
    return [_sentence(module, **report) for report in reports]


def _sentence(module: Module, name: str, said: str, line: int | None) -> str:
    what = f"`{name}`" if name else "importing the module"
    origin = module.origins.get(line or 0)
    if origin is None:
        where = f" (line {line} of the module)" if line else ""
        return f"{what}: {said}{where}."
    statement, number = origin
    cell = "lab 03's given cell" if statement.given else f"cell {statement.cell}"
    return f"{statement.lab}, {cell}, line {number}: {what}: {said}."
