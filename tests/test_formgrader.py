"""The formgrader's buttons work in this course: release, grade and return from the browser."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import Request, urlopen

import pytest

from grader.catalogue import exercises
from grader.hand_ins import answers, write
from grader.markers import read_lab
from tests.conftest import ROOT, needs_sandbox

STEM = "lab00_qkv"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="grading is on Linux first")


class Formgrader:
    """What a browser would send."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"

    def get(self, path: str) -> Any:
        with urlopen(f"{self.address}{path}", timeout=30) as answer:
            return json.load(answer)

    def press(self, path: str) -> Any:
        with urlopen(Request(f"{self.address}{path}", method="POST"), timeout=120) as answer:
            result = json.load(answer)
        assert result["success"], result.get("log") or result.get("error")
        return result


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "grader").symlink_to(ROOT / "grader")
    shutil.copy(ROOT / "nbgrader_config.py", tmp_path)
    shutil.copytree(ROOT / "source" / STEM, tmp_path / "source" / STEM)
    return tmp_path


@pytest.fixture
def formgrader(place: Path) -> Iterator[Formgrader]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    options = {
        "ServerApp.ip": "127.0.0.1",
        "ServerApp.port": port,
        "ServerApp.allow_root": True,
        "ServerApp.disable_check_xsrf": True,  # no browser keeps a cookie here
        "IdentityProvider.token": "",
        "LabApp.open_browser": False,
    }
    words = [f"--{name}={value}" for name, value in options.items()]
    with open(place / "server.log", "w", encoding="utf-8") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *words],
            cwd=place,
            env=os.environ | {"JUPYTER_PLATFORM_DIRS": "1"},
            stdout=log,
            stderr=log,
        )
    try:
        client = Formgrader(port)
        for _ in range(120):
            try:
                client.get("/formgrader/api/assignments")
                break
            except URLError:
                time.sleep(0.5)
        else:
            pytest.fail((place / "server.log").read_text(encoding="utf-8"))
        yield client
    finally:
        server.terminate()
        server.wait(timeout=30)


@needs_sandbox
def test_release_grade_and_return_from_the_browser(place: Path, formgrader: Formgrader) -> None:
    formgrader.press(f"/formgrader/api/assignment/{STEM}/assign")
    released = place / "release" / STEM / f"{STEM}.ipynb"
    assert released.read_bytes() == (ROOT / "release" / STEM / f"{STEM}.ipynb").read_bytes()
    hand_in = answers(read_lab(ROOT / "course" / f"{STEM}.py"))
    write(hand_in, released, place / "submitted" / "ada" / STEM / f"{STEM}.ipynb")
    formgrader.press(f"/formgrader/api/submission/{STEM}/ada/autograde")
    formgrader.press(f"/formgrader/api/assignment/{STEM}/generate_feedback")
    (submission,) = formgrader.get(f"/formgrader/api/submissions/{STEM}")
    assert submission["code_score"] == sum(exercise.points for exercise in exercises(STEM))
    assert (place / "feedback" / "ada" / STEM / f"{STEM}.html").exists()
