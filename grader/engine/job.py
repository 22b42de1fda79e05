"""Grade one job in whichever process it arrives: a local worker's or another machine's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from multiprocessing.util import Finalize
from pathlib import Path

from grader.engine.grade import How, course_digest, grade, load_lab
from grader.engine.parcel import Parcel, digest_of, unpacked
from grader.engine.worker import Worker
from grader.outcome import PARTLY, Outcome


class AnotherCourse(Exception):
    """That a machine has another version of the course than the one that asks it to grade."""


@dataclass(frozen=True)
class Job:
    """One hand-in to grade.

    Parameters
    ----------
    student, lab : whose, and of which lab
    files : what was handed in
    seed : what kept-back inputs are drawn from
    course : digest of what it is to be graded with
    how : how it is run
    root : the course's folder; None for the one that this code stands in
    """

    student: str
    lab: str
    files: Parcel
    seed: str
    course: str
    how: How
    root: Path | None = None


def grade_job(job: Job) -> Outcome:
    """Grade one hand-in in a sandbox that stays for the next.

    Raises
    ------
    AnotherCourse : when the course here is not the one the job was made with
    """
    root = job.root or Path(__file__).resolve().parents[2]
    if course_digest(root, job.lab) != job.course:
        raise AnotherCourse(
            f"The course in {root} differs from the one that asks: bring both to one version."
        )
    with unpacked(job.files) as folder:
        worker = _worker(job.how.confined)
        outcome = grade(job.student, folder, load_lab(root, job.lab), job.seed, worker, job.how)
    return replace(outcome, hand_in=digest_of(job.files), course=mixed(job))


def mixed(job: Job) -> str:
    """Mix all that a hand-in is graded with: the course, the seed, whether figures are drawn."""
    return f"{job.course[:40]}-{job.seed[:40]}-{'figures' if job.how.figures else 'plain'}"


def given_up(job: Job) -> Outcome:
    """Say that a hand-in ended its worker again and again."""
    why = "It ended the grader's own worker again and again, so nothing of it could be marked."
    outcome = Outcome(job.student, job.lab, PARTLY, why)
    return replace(outcome, hand_in=digest_of(job.files), course=mixed(job))


@cache
def _worker(confined: bool) -> Worker:
    worker = Worker(confined)
    Finalize(None, worker.stop, exitpriority=1)  # atexit is not for processes of a pool
    return worker
