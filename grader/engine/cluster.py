"""Grade many hand-ins on several machines, through dask.distributed (an extra)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any

from grader.engine.job import Job, given_up, grade_job
from grader.outcome import Outcome

PATIENCE = 10.0  # seconds until a scheduler must have answered


class ClusterError(Exception):
    """Why no machine of the cluster can be reached."""


def graded_on(address: str, jobs: Iterator[Job]) -> Iterator[Outcome]:
    """Grade jobs on a cluster and yield each outcome as it is there.

    Parameters
    ----------
    address : of the scheduler, such as tcp://10.0.0.1:8786
    jobs : what to grade; each machine has its own copy of the course

    Raises
    ------
    ClusterError : when dask.distributed is not installed or nobody answers
    """
    try:
        from dask.distributed import Client, KilledWorker, as_completed
    except ImportError as error:
        raise ClusterError("dask.distributed is missing: pip install '.[cluster]'") from error
    try:
        client = Client(address, timeout=PATIENCE)
    except (OSError, ValueError, TimeoutError) as error:
        raise ClusterError(f"Nobody answers at {address}: {error}") from error
    with client:
        threads = sum(client.nthreads().values())
        if not threads:
            raise ClusterError(f"The scheduler at {address} has no workers yet.")
        at_home = (replace(job, root=None) for job in jobs)
        waiting: dict[Any, Job] = {}

        def submit(job: Job) -> Any:
            future = client.submit(grade_job, job, pure=False, retries=2)
            waiting[future.key] = job
            return future

        futures = as_completed([submit(job) for job in islice(at_home, 2 * threads)])
        for future in futures:
            job = waiting.pop(future.key)
            try:
                yield future.result()
            except KilledWorker:
                yield given_up(job)
            future.release()
            for job in islice(at_home, 1):
                futures.add(submit(job))
