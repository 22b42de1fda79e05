"""What several tests share: the repository's root and its labs."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.catalogue import LABS
from grader.markers import Lab, read_lab

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(params=LABS)
def lab(request: pytest.FixtureRequest) -> Lab:
    return read_lab(ROOT / "course" / f"{request.param}.py")
