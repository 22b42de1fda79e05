"""Run a notebook without a network: in a namespace that has nothing but the loopback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import nbformat

from grader.engine.sandbox import why_missing
from tests.conftest import ROOT

OFFLINE = ["bwrap", "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent", "--"]
RUN = """
import sys, nbformat
from pathlib import Path
from grader.run_notebook import run_notebook
nbformat.write(run_notebook(Path(sys.argv[1])), sys.argv[2])
"""


def run_offline(path: Path, to: Path) -> nbformat.NotebookNode:
    """Run a notebook in a fresh kernel with warnings as errors, and return it with its outputs.

    Where the sandbox is missing it runs with the network on; a test of what a network is needed
    for asks for the sandbox.
    """
    prefix = [] if why_missing() else OFFLINE
    command = [*prefix, sys.executable, "-c", RUN, str(path), str(to)]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout + ran.stderr
    return nbformat.read(to, as_version=4)
