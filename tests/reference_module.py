"""The reference module, `attention.py`, that tests compare with what others compute."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from attnlab.own import load
from tests.conftest import ROOT


@pytest.fixture(scope="session")
def own(tmp_path_factory: pytest.TempPathFactory) -> ModuleType:
    """What the command `attnlab export` makes of the four solved labs."""
    path = Path(tmp_path_factory.mktemp("own"), "attention.py")
    command = [sys.executable, "-m", "attnlab", "export", str(ROOT / "source"), "--to", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return load(path)
