"""Progress with a count and an estimate; plain lines where the output is no terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from time import monotonic
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

Item = TypeVar("Item")
SECONDS_BETWEEN_LINES = 10.0


class Rate(ProgressColumn):
    """How many are done in a second."""

    def render(self, task: Task) -> Text:
        """Write the rate once there is one."""
        return Text(f"{task.speed:.1f}/s" if task.speed else "")


def counted(items: Iterable[Item], total: int, what: str, console: Console) -> Iterator[Item]:
    """Yield the items while showing how many of them are done and how long the rest may take."""
    if not console.is_terminal:
        yield from _plainly(items, total, what, console)
        return
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), Rate(), TimeRemainingColumn())
    # It is drawn between items only: a drawing thread of its own would be copied by forks.
    with Progress(*columns, console=console, transient=True, auto_refresh=False) as bar:
        task = bar.add_task(what, total=total)
        bar.refresh()
        for item in items:
            yield item
            bar.advance(task)
            bar.refresh()


def _plainly(items: Iterable[Item], total: int, what: str, console: Console) -> Iterator[Item]:
    start = said = monotonic()
    for done, item in enumerate(items, 1):
        yield item
        now = monotonic()
        if now - said >= SECONDS_BETWEEN_LINES and done < total:
            left = (now - start) / done * (total - done)
            rate = done / (now - start)
            console.print(
                f"{what}: {done} of {total}, {rate:.1f} a second, about {left:.0f} s left",
                highlight=False,
            )
            said = now
