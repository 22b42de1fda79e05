"""Progress with a count and an estimate; plain lines where the output is no terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import monotonic
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

Item = TypeVar("Item")
SECONDS_BETWEEN_LINES = 10.0


def counted(items: Iterable[Item], total: int, what: str, console: Console) -> Iterator[Item]:
    """Yield the items while showing how many of them are done and how long the rest may take."""
    if not console.is_terminal:
        yield from _plainly(items, total, what, console)
        return
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=total)
        for item in items:
            yield item
            bar.advance(task)


def _plainly(items: Iterable[Item], total: int, what: str, console: Console) -> Iterator[Item]:
    start = said = monotonic()
    for done, item in enumerate(items, 1):
        yield item
        now = monotonic()
        if now - said >= SECONDS_BETWEEN_LINES and done < total:
            left = (now - start) / done * (total - done)
            console.print(f"{what}: {done} of {total}, about {left:.0f} s left")
            said = now
