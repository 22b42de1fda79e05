"""What several tests share: the repository's root and its labs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.catalogue import LABS
from grader.engine.sandbox import why_missing
from grader.markers import Lab, read_lab

ROOT = Path(__file__).resolve().parents[1]

# Where the sandbox must be, its tests fail without it instead of being left out.
REQUIRED = os.environ.get("CI") == "true"
needs_sandbox = pytest.mark.skipif(bool(why_missing()) and not REQUIRED, reason=why_missing())


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(params=LABS)
def lab(request: pytest.FixtureRequest) -> Lab:
    return read_lab(ROOT / "course" / f"{request.param}.py")
