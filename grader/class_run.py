"""Grade a class: many workers without a gradebook, one writer, one commit per student."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console

from grader.catalogue import exercises
from grader.engine.cluster import graded_on
from grader.engine.grade import How, course_digest, load_lab
from grader.engine.job import Job, mixed
from grader.engine.parcel import digest_of, pack
from grader.engine.pool import graded
from grader.engine.sandbox import require
from grader.gradebook.grades_csv import write_csv
from grader.gradebook.prepare import prepare
from grader.gradebook.printed import print_table
from grader.gradebook.table import exit_code, grades
from grader.gradebook.writer import Change, Writer
from grader.outcome import Outcome
from grader.progress import counted
from grader.seed import HiddenSeed
from grader.sheets import sheet

CSV, CHANGES = "grades.csv", "changes.csv"
INTERRUPTED = 1


class UnknownStudent(Exception):
    """That somebody asked for is not on the roster."""


@dataclass
class ClassRun:
    """A class to grade.

    Parameters
    ----------
    api : nbgrader's interface, as `grader.nbgrader_api.course` opens it
    lab : the lab's stem
    how : how hand-ins are run
    jobs : how many are graded at a time on this machine
    cluster : a scheduler's address, to grade on other machines instead
    students : whom to grade; all when empty
    again : whether to grade also what is graded already and has not changed
    """

    api: Any
    lab: str
    how: How = field(default_factory=How)
    jobs: int = 1
    cluster: str = ""
    students: Sequence[str] = ()
    again: bool = False

    def grade(self, console: Console) -> int:
        """Grade, write gradebook, marked notebooks and `grades.csv`, and print the table.

        Returns
        -------
        0 when all is graded, 1 when there is something to look at

        Raises
        ------
        SandboxMissing, NotReleased, GradebookError, ClusterError, UnknownStudent : when it could
        not begin
        """
        root = Path(self.api.coursedir.root)
        load_lab(root, self.lab)
        self._make_ready()
        for note in prepare(self.api, self.lab):
            console.print(note, markup=False, highlight=False)
        changes: list[Change] = []
        with Writer(self.api, self.lab) as writer:
            roster = self._chosen(writer.roster())
            to_grade = []
            for student in roster:
                if not self._folder(student).is_dir():
                    changes += writer.absent(student)
                elif self.again or not self._is_current(writer, student):
                    to_grade.append(student)
            self._announce(console, roster, to_grade)
            stopped = False
            try:
                outcomes = self._outcomes(to_grade)
                for outcome in counted(outcomes, len(to_grade), "grading", console):
                    changes += writer.save(outcome)
            except KeyboardInterrupt:
                stopped = True
        return self._report(console, roster, changes, stopped)

    def _make_ready(self) -> None:
        """Try the sandbox out, and meanwhile work out what all workers need to judge."""
        with ThreadPoolExecutor(1) as beside:
            sandbox = beside.submit(require) if self.how.confined and not self.cluster else None
            seed = HiddenSeed(config=self.api.config)
            if not seed.per_student and not self.cluster:
                for exercise in exercises(self.lab):
                    sheet(exercise.name, seed.of(""))
            if sandbox:
                sandbox.result()

    def _chosen(self, roster: Sequence[str]) -> list[str]:
        unknown = sorted(set(self.students) - set(roster))
        if unknown:
            raise UnknownStudent(
                f"{unknown[0]} is neither in the gradebook nor in submitted/. "
                f"The roster has {len(roster)} students."
            )
        return [s for s in roster if not self.students or s in self.students]

    def _folder(self, student: str) -> Path:
        coursedir = self.api.coursedir
        return Path(coursedir.format_path(coursedir.submitted_directory, student, self.lab))

    def _job(self, student: str) -> Job:
        root = Path(self.api.coursedir.root)
        seed = HiddenSeed(config=self.api.config).of(student)
        course = course_digest(root, self.lab)
        files = pack(self._folder(student))
        return Job(student, self.lab, files, seed, course, self.how, root)

    def _is_current(self, writer: Writer, student: str) -> bool:
        job = self._job(student)
        return writer.is_current(student, digest_of(job.files), mixed(job))

    def _outcomes(self, students: Sequence[str]) -> Iterator[Outcome]:
        jobs = map(self._job, students)
        if self.cluster:
            return graded_on(self.cluster, jobs)
        return graded(jobs, max(1, min(self.jobs, len(students))))

    def _announce(self, console: Console, roster: Sequence[str], to_grade: Sequence[str]) -> None:
        where = f"on {self.cluster}" if self.cluster else f"{self.jobs} at a time"
        sandbox = "in the sandbox" if self.how.confined else "WITHOUT the sandbox"
        rest = len(roster) - len(to_grade)
        already = f"; {rest} are graded already or handed nothing in" if rest else ""
        console.print(
            f"{self.lab}: {len(to_grade)} to grade, {where}, {sandbox}{already}",
            markup=False,
            highlight=False,
        )

    def _report(
        self, console: Console, roster: Sequence[str], changes: Sequence[Change], stopped: bool
    ) -> int:
        root = Path(self.api.coursedir.root)
        everything = grades(self.api)
        write_csv(everything, root / CSV)
        mine = everything[(everything.lab == self.lab) & everything.student.isin(roster)]
        print_table(mine, self.lab, console, changes)
        if changes:
            write_csv(pd.DataFrame(changes), root / CHANGES)
            console.print(f"\nWhat changed stands in {CHANGES}", highlight=False)
        console.print(f"\nEvery mark of every lab stands in {CSV}", highlight=False)
        if stopped:
            console.print("Stopped. What was graded is kept: run the same command to go on.")
            return INTERRUPTED
        return exit_code(mine)
