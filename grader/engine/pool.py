"""Grade many hand-ins at once, on this machine. A worker that dies is replaced."""

from __future__ import annotations

import multiprocessing
import signal
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

from grader.engine.job import Job, given_up, grade_job
from grader.outcome import Outcome

MOST_DEATHS = 3  # of workers over one hand-in


def graded(jobs: Iterator[Job], n: int) -> Iterator[Outcome]:
    """Grade jobs in n processes and yield each outcome as it is there, in no certain order.

    When a worker dies, what was being graded is graded again, one at a time, so that a hand-in
    that kills its workers is found out and given up, and no other.
    """
    deaths: Counter[str] = Counter()
    suspects: deque[Job] = deque()
    running: dict[Future[Outcome], Job] = {}
    pool = _new_pool(n)
    try:
        while True:
            most = 1 if suspects else 2 * n  # a few wait, so that no worker has to
            while len(running) < most:
                job = suspects.popleft() if suspects else next(jobs, None)
                if job is None:
                    break
                running[pool.submit(grade_job, job)] = job
            if not running:
                pool.shutdown()
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            broken = []
            for future in done:
                job = running.pop(future)
                try:
                    yield future.result()
                except BrokenProcessPool:
                    broken.append(job)
            if broken:
                broken += running.values()
                running.clear()
                _end(pool)
                pool = _new_pool(n)
                for job in broken:
                    deaths[job.student] += 1
                    if deaths[job.student] == MOST_DEATHS:
                        yield given_up(job)
                    else:
                        suspects.append(job)
    finally:
        _end(pool)


def _new_pool(n: int) -> ProcessPoolExecutor:
    # Forks have what this process has read and worked out already.
    context = multiprocessing.get_context("fork")
    return ProcessPoolExecutor(n, mp_context=context, initializer=_begin)


def _begin() -> None:
    """Set a worker up: an interrupt is for the one who leads, and without that one it ends."""
    from grader.runner.confine import die_with_parent

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    die_with_parent()


def _end(pool: ProcessPoolExecutor) -> None:
    pool.shutdown(wait=False, cancel_futures=True)
    for process in multiprocessing.active_children():
        process.kill()
        process.join()
