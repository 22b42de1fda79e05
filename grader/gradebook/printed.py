"""A class's marks on the terminal: who got what, and what to look at."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import pandas as pd
from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from grader.gradebook.plain import duration, number, on_one_line
from grader.gradebook.table import NOT_YET
from grader.gradebook.writer import Change
from grader.outcome import ABSENT, GRADED, PARTLY, REPAIRED, UNREADABLE

MANY = 60  # of more students only those to look at are shown
LISTED = 60  # lines of a list
DIGITS = 2  # after the point
STATES = (GRADED, REPAIRED, PARTLY, UNREADABLE, ABSENT, NOT_YET)
SHORT = {REPAIRED: "repaired", PARTLY: "partly", NOT_YET: "not yet"}
HEADER_WIDTHS = (12, 9, 7, 6, 5, 4)  # tried in turn until the table fits
WIDEST = 10_000

NOTHING, WAITS, BY_HAND = "–", "…", "*"


def print_table(
    frame: pd.DataFrame, lab: str, console: Console, changes: Sequence[Change] = ()
) -> None:
    """Print a line for each student, how many are in which state, and what to look at.

    Parameters
    ----------
    frame : as `grader.gradebook.table.grades` reads it
    lab : the lab to print
    console : where to
    changes : marks that are others than at the last grading
    """
    marks = frame[frame.lab == lab]
    students = [(str(name), rows) for name, rows in marks.groupby("student", sort=False)]
    remarks = {name: list(_remarks(rows)) for name, rows in students}
    shown = students if len(students) <= MANY else [s for s in students if remarks[s[0]]]
    title = f"{lab}: {len(students)} students"
    if len(shown) < len(students):
        first = f"first {MANY} of the " if len(shown) > MANY else ""
        title += f"; shown are the {first}{len(shown)} to look at"
    anywhere = console.options.update(max_width=WIDEST)
    for width in HEADER_WIDTHS:
        table = _table(title, marks, shown[:MANY], width)
        if Measurement.get(console, anywhere, table).maximum <= console.width:
            break
    console.print(table)
    for line in _notes(marks, shown[:MANY]):
        _say(console, line)
    console.print(f"\n{_counts(students)}", markup=False, highlight=False, soft_wrap=False)
    _print_list(console, "To look at", [line for _, rows in students for line in _remarks(rows)])
    _print_list(console, "Marks that changed", _changed(changes))


def _table(
    title: str,
    marks: pd.DataFrame,
    students: Iterable[tuple[str, pd.DataFrame]],
    width: int,
) -> Table:
    table = Table(
        title=f"\n{title}", title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, padding=0
    )
    table.add_column("student", overflow="fold", vertical="bottom")
    parts = marks.drop_duplicates("part")
    for name, of in zip(parts.part, parts.of, strict=True):
        header = Text(f"{_broken(str(name), width)}\nof {number(of)}")
        table.add_column(header, justify="right", vertical="bottom", no_wrap=True)
    header = Text(f"all\nof {number(parts.of.sum())}")
    table.add_column(header, justify="right", vertical="bottom", no_wrap=True)
    table.add_column("state", vertical="bottom", no_wrap=True)
    if (marks.late > 0).any():
        table.add_column("late", justify="right", vertical="bottom", no_wrap=True)
    for student, rows in students:
        first = rows.iloc[0]
        cells = [
            on_one_line(student),
            *(_points(row) for row in rows.itertuples()),
            _total(rows),
            SHORT.get(first.state, first.state),
            duration(first.late),
        ]
        table.add_row(*(Text(cell) for cell in cells[: len(table.columns)]))
    if not marks.state.isin([ABSENT, NOT_YET]).all():
        table.add_section()
        handed_in = marks[~marks.state.isin([ABSENT, NOT_YET])]
        by_part = handed_in.groupby("part", sort=False).points
        # Of a part in which some answers wait, the mean so far says nothing.
        means = [by_part.get_group(name).mean(skipna=False) for name in parts.part]
        totals = [_sum(rows) for _, rows in handed_in.groupby("student")]
        shown = ["" if pd.isna(mean) else f"{mean:.{DIGITS}f}" for mean in means]
        table.add_row("mean", *shown, f"{sum(totals) / len(totals):.{DIGITS}f}", "")
    return table


def _broken(name: str, width: int) -> str:
    """Break a name at its words, and words that are longer than the width."""
    words = re.split(r"(?<=_)|(?<=[a-z])(?=[A-Z])", name)
    pieces = [word[at : at + width] for word in words for at in range(0, len(word), width)]
    lines = [""]
    for piece in pieces:
        if len(lines[-1]) + len(piece) > width:
            lines.append("")
        lines[-1] += piece
    return "\n".join(filter(None, lines))


def _points(row: object) -> str:
    points = float(row.points)  # type: ignore[attr-defined]  # a row of pandas
    if pd.isna(points):
        return NOTHING if row.state in (ABSENT, NOT_YET) else WAITS  # type: ignore[attr-defined]
    return number(points, DIGITS) + (BY_HAND if _overridden(row) else "")


def _overridden(row: object) -> bool:
    """Say whether a mark set by hand stands in the place of one of the grader's."""
    by_hand, by_grader = row.set_by_hand, row.by_grader  # type: ignore[attr-defined]
    absent = row.state == ABSENT  # type: ignore[attr-defined]
    return bool(by_hand) and (absent or not pd.isna(by_grader))


def _sum(rows: pd.DataFrame) -> float:
    return max(0.0, float(rows.points.sum()) - float(rows.penalty.iloc[0]))


def _total(rows: pd.DataFrame) -> str:
    return number(_sum(rows), DIGITS) if rows.points.notna().any() else NOTHING


def _notes(marks: pd.DataFrame, shown: Iterable[tuple[str, pd.DataFrame]]) -> Iterator[str]:
    points = [_points(row) for _, rows in shown for row in rows.itertuples()]
    if WAITS in points:
        yield f"{WAITS} waits to be marked by a person"
    if any(text.endswith(BY_HAND) for text in points):
        yield f"{BY_HAND} set by hand, in the place of the grader's mark"
    if (marks.penalty > 0).any():
        yield "The penalty for being late is taken off the total."


def _counts(students: Sequence[tuple[str, pd.DataFrame]]) -> str:
    counts = Counter(rows.state.iloc[0] for _, rows in students)
    said = [f"{counts[state]} {state}" for state in STATES if counts[state]]
    late = sum(rows.late.iloc[0] > 0 for _, rows in students)
    return " · ".join([*said, f"{late} late"] if late else said) or "Nobody is on the roster."


def _remarks(rows: pd.DataFrame) -> Iterator[str]:
    """List what there is to look at in one student's hand-in."""
    first = rows.iloc[0]
    if first.state in (REPAIRED, PARTLY, UNREADABLE, NOT_YET) or first.why:
        yield f"{first.student}: {first.state}. {first.why}"
    for remark in first.tampering.splitlines():
        yield f"{first.student}: {remark}"
    for row in rows.itertuples():
        if _overridden(row):
            hand, grader = number(row.points), row.by_grader
            says = "has nothing to mark" if pd.isna(grader) else f"says {number(grader)}"
            yield f"{row.student}: {row.part}: mark set by hand: {hand}, grader {says}"


def _changed(changes: Iterable[Change]) -> list[str]:
    by_student: dict[str, list[str]] = {}
    for change in changes:
        old, new = (NOTHING if x is None else number(x) for x in (change.old, change.new))
        by_student.setdefault(change.student, []).append(f"{change.exercise} {old} → {new}")
    return [f"{student}: {', '.join(marks)}" for student, marks in sorted(by_student.items())]


def _print_list(console: Console, title: str, lines: Sequence[str]) -> None:
    if not lines:
        return
    _say(console, f"\n{title}")
    for line in lines[:LISTED]:
        _say(console, f"  {on_one_line(line)}")
    if len(lines) > LISTED:
        _say(console, f"  and {len(lines) - LISTED} more")


def _say(console: Console, line: str) -> None:
    console.print(line, markup=False, highlight=False, soft_wrap=True)
