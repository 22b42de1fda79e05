"""`grades.csv`: every mark, for a spreadsheet."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import pandas as pd

from grader.gradebook.plain import number
from grader.gradebook.table import NUMBERS

FORMULA = ("=", "+", "-", "@")  # what spreadsheets run


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    """Write marks in UTF-8, every field quoted, what is missing empty, the whole file at once.

    Parameters
    ----------
    frame : as `grader.gradebook.table.grades` reads it
    path : where to; the file that is there is replaced
    """
    texts = pd.DataFrame(
        {
            name: [_field(name, value) for value in column]
            for name, column in frame.astype(object).items()
        },
        columns=frame.columns,
    )
    new = path.with_name(f".{path.name}.new")
    try:
        texts.to_csv(new, index=False, quoting=csv.QUOTE_ALL, encoding="utf-8", lineterminator="\n")
        os.replace(new, path)
    finally:
        new.unlink(missing_ok=True)


def _field(name: str, value: object) -> str:
    if pd.isna(value):
        return ""
    if name in NUMBERS:
        return number(float(str(value)))
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = "; ".join(str(value).encode("utf-8", errors="replace").decode("utf-8").splitlines())
    return f"'{text}" if text.lstrip().startswith(FORMULA) else text
