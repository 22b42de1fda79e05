"""Run a notebook top to bottom in a fresh kernel, as a reader would."""

from __future__ import annotations

import os
from pathlib import Path

import nbformat
from nbclient import NotebookClient


def run_notebook(path: Path, seconds: int = 60) -> nbformat.NotebookNode:
    """Run every cell and return the notebook with its outputs; the file stays as it is.

    Parameters
    ----------
    path : the notebook
    seconds : what one cell may take

    Raises
    ------
    nbclient.exceptions.CellExecutionError : when a cell raises
    """
    notebook: nbformat.NotebookNode = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook,
        timeout=seconds,
        resources={"metadata": {"path": str(path.parent)}},
        extra_arguments=["--log-level=ERROR"],  # ipykernel 7 warns of local ports at every start
    )
    # Graded cells of `source/` call `grader`, which stands beside this folder.
    client.execute(env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[1])})
    return notebook


def warnings_in(notebook: nbformat.NotebookNode) -> list[str]:
    """List what a run notebook's cells wrote to stderr."""
    return [
        output.text
        for cell in notebook.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "stream" and output.name == "stderr"
    ]
