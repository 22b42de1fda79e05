"""A class graded through dask.distributed gets the marks of one graded here."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from dask.distributed import Client

from grader.engine.cluster import ClusterError, graded_on
from grader.engine.grade import How
from grader.engine.job import AnotherCourse, Job
from grader.engine.parcel import pack
from grader.hand_ins import demo_class
from grader.markers import read_lab
from tests.class_course import ClassCourse
from tests.conftest import ROOT, needs_sandbox

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="grading is on Linux"),
    needs_sandbox,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # dask's own
]
STEM = "lab00_qkv"


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a scheduler and one worker, each a process of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    place = tmp_path_factory.mktemp("cluster")
    dask = [sys.executable, "-m", "distributed.cli"]
    commands = [
        [f"{dask[2]}.dask_scheduler", "--host", "127.0.0.1", "--port", str(port)],
        [f"{dask[2]}.dask_worker", address, "--nthreads", "1", "--host", "127.0.0.1"],
    ]
    quiet = ["--no-dashboard"]
    processes = []
    for number, words in enumerate(commands):
        with (place / f"{number}.log").open("w") as log:
            processes.append(
                subprocess.Popen(
                    [sys.executable, "-m", *words, *quiet],
                    cwd=ROOT,
                    env=os.environ | {"PYTHONPATH": str(ROOT)},
                    stdout=log,
                    stderr=log,
                )
            )
    with Client(address, timeout=60) as client:
        client.wait_for_workers(1, timeout=60)
    yield address
    for process in processes[::-1]:
        process.terminate()
        process.wait(timeout=30)


def test_the_marks_are_the_same(tmp_path: Path, scheduler: str) -> None:
    made = demo_class(read_lab(ROOT / "course" / f"{STEM}.py"), 4, 15)
    class_ = {student: made[student] for student in ("student01", "student04")}
    frames = []
    for name, where in (("here", {}), ("there", {"cluster": scheduler})):
        course = ClassCourse(tmp_path / name, STEM)
        course.hand_in(class_)
        code, said = course.grade(how=How(), **where)
        assert code == 0, said
        frames.append(course.frame())
    assert frames[0].equals(frames[1])


def test_a_machine_with_another_version_of_the_course_refuses(
    tmp_path: Path, scheduler: str
) -> None:
    job = Job("ada", STEM, pack(tmp_path), "seed", "another digest", How())
    with pytest.raises(AnotherCourse, match="differs"):
        list(graded_on(scheduler, iter([job])))


def test_nobody_at_the_address_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.engine.cluster.PATIENCE", 1.0)
    with pytest.raises(ClusterError, match="Nobody answers"):
        list(graded_on("tcp://127.0.0.1:9", iter([])))
