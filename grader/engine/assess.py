"""Mark one notebook: run it, try its answers, judge what they gave, write that into its cells.

A hand-in is run twice, in two processes that never meet. The first shows what its cells put
out and tries the visible cases: all that is quoted to the learner comes from there, and no
kept-back input has been in it. The second tries the kept-back cases; nothing of it is quoted.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output

from attnlab.encode import write_input
from attnlab.exercise import Case
from attnlab.judge import Report
from attnlab.run import Limits, Record, hear
from attnlab.show import Shown
from grader.catalogue import entry, exercises
from grader.engine.given import given_code
from grader.engine.meddling import meddles
from grader.engine.outputs import as_count, as_outputs, as_text
from grader.engine.play import names_in, play_cells
from grader.engine.worker import LATE, Answering, Cell, HandInDied, Session, Worker, WorkerDied
from grader.mark import judge_all, summary
from grader.sheets import sheet
from grader.submission.roles import grade_id

MOST_LEFT_OUT = 6  # cells; then the answers are tried one by one
MOST_CHARACTERS = 40_000_000  # of all cells' outputs; none is kept beyond
STOPPED = ("timeout", "died", "skipped")
TRIED = ("returned", "raised", "unusable")
NOT_TRIED = "What stands under this name cannot be tried."
LONGEST = 2000  # characters of anything that a record says
log = logging.getLogger(__name__)
HIDDEN = re.compile(r"\n?### BEGIN HIDDEN TESTS.*?### END HIDDEN TESTS", re.DOTALL)


@dataclass(frozen=True)
class Budget:
    """How many seconds a hand-in may take.

    Parameters
    ----------
    cell, cells : for one cell, and for all together
    start : until an answer's process says that it is there
    case, exercise : for one case, and for all of an exercise
    hand_in : for everything
    """

    cell: float = 10.0
    cells: float = 60.0
    start: float = 10.0
    case: float = Limits.case_seconds
    exercise: float = Limits.seconds
    hand_in: float = 240.0


@dataclass
class Marked:
    """What a notebook's answers earned.

    Parameters
    ----------
    reports : exercise -> all that is said of it
    stopped : exercise -> why it could not be tried to the end
    left_out : place of a cell -> why it was not run
    """

    reports: dict[str, Report] = field(default_factory=dict)
    stopped: dict[str, str] = field(default_factory=dict)
    left_out: dict[int, str] = field(default_factory=dict)


def assess(
    notebook: NotebookNode,
    released: NotebookNode,
    lab: str,
    seed: str,
    worker: Worker,
    figures: bool = False,
    budget: Budget | None = None,
) -> Marked:
    """Mark a repaired notebook; outputs and verdicts are written into its cells.

    Parameters
    ----------
    notebook : with each check standing once
    released : the notebook as students got it
    lab : the lab's stem
    seed : what kept-back inputs are drawn from
    worker : where it runs
    figures : whether the course's figures are drawn
    budget : how long it may take

    Raises
    ------
    WorkerDied : when the sandbox itself went away; the hand-in is to be marked again
    """
    hand_in = _HandIn(notebook, released, worker, figures, budget or Budget())
    names = [exercise.name for exercise in exercises(lab)]
    whole = {name: sheet(name, seed, with_mistakes=False).cases for name in names}
    visible = {n: [c for c in cases if c.visible] for n, cases in whole.items()}
    kept = {n: [c for c in cases if not c.visible] for n, cases in whole.items()}
    first = hand_in.tried(visible, quietly=False)
    second = hand_in.tried(kept, quietly=True)
    marked = Marked(left_out=hand_in.left_out)
    for name in names:
        records = _in_order(whole[name], first[name], second[name])
        report = _judged(name, seed, records)
        if not report.passed and hand_in.may_be_spoilt(name):
            parts = [hand_in.tried_alone(name, part[name]) for part in (visible, kept)]
            again = _in_order(whole[name], *parts)
            if (better := _judged(name, seed, again)).score > report.score:
                report, records = better, again
        marked.reports[name] = report
        if stop := next((r for r in records if r.outcome in STOPPED), None):
            marked.stopped[name] = WHY[stop.outcome]
    hand_in.write(marked)
    return marked


def _in_order(
    cases: Sequence[Case], visible: Sequence[Record], kept: Sequence[Record]
) -> list[Record]:
    """Put the records of visible and kept-back cases into the order of the cases."""
    parts = {True: iter(visible), False: iter(kept)}
    return [next(parts[case.visible]) for case in cases]


def _judged(name: str, seed: str, records: Sequence[Record]) -> Report:
    """Judge records; those that the judge cannot digest count as no result."""
    try:
        return judge_all(name, seed, records)
    except Exception:
        log.warning("%s: its results could not be judged", name, exc_info=True)
        return judge_all(name, seed, [Record("died")] * len(records))


WHY = {
    "timeout": "it did not finish in time",
    "died": "it ended Python itself",
    "skipped": "the time of its hand-in or exercise was used up",
}


class _HandIn:
    """One notebook on its way through the sandbox."""

    def __init__(
        self,
        notebook: NotebookNode,
        released: NotebookNode,
        worker: Worker,
        figures: bool,
        budget: Budget,
    ) -> None:
        self.notebook = notebook
        self.worker = worker
        self.figures = figures
        self.left_out: dict[int, str] = {}
        self._budget = budget
        self._until = time.monotonic() + budget.hand_in
        self._spent: dict[str, float] = {}
        self._complaints: dict[str, str] = {}
        self._room = MOST_CHARACTERS
        as_released = {cell.source.strip() for cell in released.cells}
        play = {id(cell) for cell in play_cells(notebook, released)}
        self._cells: dict[int, Cell] = {}
        self._play: set[int] = set()
        self._own: set[int] = set()
        for place, cell in enumerate(notebook.cells):
            if cell.cell_type != "code":
                continue
            check = exercise_of(cell)
            code = HIDDEN.sub("", cell.source) if check else cell.source
            course = bool(check) or cell.source.strip() in as_released
            self._cells[place] = Cell(code, check, course)
            if id(cell) in play:
                self._play.add(place)
            elif not cell.metadata.get("nbgrader") and not course:
                self._own.add(place)

    def tried(self, cases: Mapping[str, Sequence[Case]], quietly: bool) -> dict[str, list[Record]]:
        """Run the cells, then every answer on its cases.

        A case that ends its process ends the trial of that answer: the hand-in is then run
        again for the cases behind it.
        """
        records: dict[str, list[Record]] = {name: [] for name in cases}
        broken = 0
        while self._open(cases, records):
            before = sum(map(len, records.values())), len(self.left_out)
            self._try(self._places(quietly), cases, records, quietly)
            if before == (sum(map(len, records.values())), len(self.left_out)):
                broken += 1
            if broken > 1 or len(self.left_out) > MOST_LEFT_OUT:
                break
        for name in self._open(cases, records):
            records[name] += self.tried_alone(name, cases[name][len(records[name]) :])
        return records

    def tried_alone(self, name: str, cases: Sequence[Case]) -> list[Record]:
        """Try an answer with no cells but the given ones and its own."""
        if self._left(name) <= 0:
            return [Record("skipped")] * len(cases)
        records: dict[str, list[Record]] = {name: []}
        self._try(self._alone(name), {name: cases}, records, quietly=True)
        return records[name] + [Record("died")] * (len(cases) - len(records[name]))

    def may_be_spoilt(self, name: str) -> bool:
        """Say whether a learner's cell other than the answer's own may have harmed it."""
        return any(
            place in self.left_out or (not cell.course and meddles(cell.code or ""))
            for place, cell in self._cells.items()
            if grade_id(self.notebook.cells[place]) != name
        )

    def _open(
        self, cases: Mapping[str, Sequence[Case]], records: dict[str, list[Record]]
    ) -> list[str]:
        """List the exercises with cases to try; those whose time is used up are closed."""
        for name in cases:
            rest = len(cases[name]) - len(records[name])
            if rest and (self._left(name) <= 0):
                records[name] += [Record("skipped")] * rest
        return [name for name in cases if len(records[name]) < len(cases[name])]

    def _left(self, name: str) -> float:
        """Say how many seconds an exercise has left."""
        own = self._budget.exercise - self._spent.get(name, 0.0)
        return min(own, self._until - time.monotonic())

    def _places(self, quietly: bool) -> list[int]:
        without = {*self.left_out, *(self._play if quietly else ())}
        return [place for place in self._cells if place not in without]

    def _try(
        self,
        places: Sequence[int],
        cases: Mapping[str, Sequence[Case]],
        records: dict[str, list[Record]],
        quietly: bool,
    ) -> None:
        """Run some cells, and try answers on the cases that have no record yet.

        A cell that ends the process or does not end itself is left out from then on; should
        there be more of them, so are all that the learner added.
        """
        cells = [self._cells[place] for place in places]
        if quietly:  # a check's own text does nothing here
            cells = [Cell(None, c.check, c.course) if c.check else c for c in cells]
        reached = 0
        try:
            with self.worker.play(
                cells, seconds=self._budget.cells, figures=self.figures, quietly=quietly
            ) as session:
                for said in session.cells(self._budget.cell):
                    number = int(said["cell"])
                    reached = max(reached, number + 1)
                    if not quietly:
                        self._keep(places[number], said)
                reached = len(cells)
                self._ask(session, cases, records, quietly)
        except HandInDied as death:
            if not self.worker.alive():
                raise WorkerDied(death.why) from death
            running = [p for p in places[reached:] if self._cells[p].code is not None]
            if running:
                self._leave_out(running[0], death.why)

    def _leave_out(self, place: int, why: str) -> None:
        """Leave a cell out from now on, and with it those that would end as it did."""
        if self.left_out:
            self.left_out |= dict.fromkeys(self._own - self.left_out.keys(), why)
        self.left_out[place] = why
        if place in self._play:  # the course's own cell: what it calls is the learner's
            called = self._called(place)
            self.left_out |= {
                other: f"It calls what ended another cell. {why}"
                for other in self._play
                if other > place and self._called(other) & called
            }

    def _called(self, place: int) -> set[str]:
        """List the answers that a cell names."""
        read, _ = names_in(self._cells[place].code or "")
        return read & {cell.check for cell in self._cells.values()}

    def _keep(self, place: int, said: Mapping[str, Any]) -> None:
        cell = self.notebook.cells[place]
        outputs = as_outputs(said.get("outputs"))
        self._room -= len(repr(outputs))
        cell.execution_count = as_count(said.get("count"))
        cell.outputs = outputs if self._room > 0 else []

    def _ask(
        self,
        session: Session,
        cases: Mapping[str, Sequence[Case]],
        records: dict[str, list[Record]],
        quietly: bool,
    ) -> None:
        """Have every answer tried whose process is still there, in the order of the lab.

        After one that did not end as it should, the rest waits for a new process: this one may
        be busy with it still.
        """
        for name in cases:
            rest = cases[name][len(records[name]) :]
            if not rest or not session.has(name) or self._left(name) <= 0:
                continue
            try:
                trial = session.answer(name, _job(name, rest), self._budget.start)
            except HandInDied as death:
                if death.why == LATE:
                    return  # the others may be as silent
                continue  # somebody else's doing: it will be tried alone
            start = time.monotonic()
            records[name] += self._hear(name, trial, rest, quietly)
            self._spent[name] = self._spent.get(name, 0.0) + time.monotonic() - start
            if records[name][-1].outcome in ("timeout", "died"):
                return

    def _hear(
        self, name: str, trial: Answering, cases: Sequence[Case], quietly: bool
    ) -> list[Record]:
        """Receive what an answer gave; its process may say anything, and what knows kept-back
        inputs must not choose the words that a learner reads."""
        if trial.missing:
            return [Record("no answer", error=("", self._why_missing(name)))] * len(cases)
        if trial.complaint:
            if not quietly:
                self._complaints[name] = as_text(trial.complaint)
            why = self._complaints.get(name, NOT_TRIED)
            return [Record("no answer", error=("", why))] * len(cases)
        deadline = time.monotonic() + self._left(name)
        heard = hear(trial.reader, len(cases), self._budget.case, deadline)
        return [_clipped(r) if r.outcome in (*TRIED, *STOPPED) else Record("died") for r in heard]

    def _why_missing(self, name: str) -> str:
        """Say why there is no answer of that name, from what became of its cell."""
        place = next((p for p in self._cells if grade_id(self.notebook.cells[p]) == name), None)
        if place in self.left_out:
            why = self.left_out[place]
            return f"There is no `{name}`: its cell was left out. {why}"
        outputs = self.notebook.cells[place].outputs if place is not None else []
        for output in outputs:
            if output.output_type == "error":
                said = f"{output.ename}: {output.evalue}".splitlines()[0][:200]
                return f"There is no `{name}`: its cell ended in {said}"
        return f"There is no `{name}` in the notebook."

    def _alone(self, name: str) -> list[int]:
        """List the cells that an answer cannot do without: the given ones and its own."""
        return [
            place
            for place in self._cells
            if (role := grade_id(self.notebook.cells[place])) in (name, f"check_{name}")
            or (role.startswith("given_") and place not in self.left_out)
        ]

    def write(self, marked: Marked) -> None:
        """Write verdicts into the checks, and why a cell was not run into that cell."""
        for place, why in self.left_out.items():
            self.notebook.cells[place].outputs = [
                new_output("error", ename="Left out", evalue=why, traceback=[f"Left out: {why}"])
            ]
        for place, cell in self._cells.items():
            if cell.check in marked.reports:
                report = marked.reports[cell.check]
                self.notebook.cells[place].outputs = verdict_outputs(
                    report, self.notebook.cells[place].execution_count
                )


def _clipped(record: Record) -> Record:
    """Cut the texts of a record to what an honest one holds."""
    name, message = (as_text(text[:LONGEST]) for text in record.error)
    warned = tuple(as_text(text[:LONGEST]) for text in record.warned[:20])
    printed = as_text(record.printed[:LONGEST])
    return replace(record, error=(name, message), warned=warned, printed=printed)


def exercise_of(cell: NotebookNode) -> str:
    """Name the exercise that a check marks; "" for other cells."""
    name = grade_id(cell)
    return name.removeprefix("check_") if name.startswith("check_") else ""


def verdict_outputs(report: Report, count: int | None) -> list[NotebookNode]:
    """Write a verdict as a kernel would have shown it: the table, then the points as a float."""
    shown = Shown(report, graded=True)
    data = {"text/plain": repr(shown), "text/html": shown._repr_html_()}
    return [
        new_output("display_data", data=data, metadata=summary(report)),
        new_output(
            "execute_result", data={"text/plain": repr(report.score)}, execution_count=count or 0
        ),
    ]


def _job(name: str, cases: Sequence[Case]) -> dict[str, Any]:
    exercise = entry(name).exercise
    code, names = given_code(name)
    return {
        "exercise": {"call": exercise.call, "results": list(exercise.results)},
        "cases": [
            {"inputs": {n: write_input(v) for n, v in case.inputs.items()}, "probe": case.probe}
            for case in cases
        ],
        "given": code,
        "names": list(names),
    }
