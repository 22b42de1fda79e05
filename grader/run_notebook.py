"""Run a notebook top to bottom in a fresh kernel, as a reader would, with warnings as errors."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient

# A first cell; ipykernel warns of itself when it is shut down.
STRICT = (
    "import warnings as w; w.simplefilter('error'); "
    "w.filterwarnings('ignore', module='ipykernel'); del w"
)


def run_notebook(path: Path, seconds: int = 60) -> nbformat.NotebookNode:
    """Run every cell and return the notebook with its outputs; the file stays as it is.

    Parameters
    ----------
    path : the notebook
    seconds : what one cell may take

    Raises
    ------
    nbclient.exceptions.CellExecutionError : when a cell raises or warns
    """
    notebook: nbformat.NotebookNode = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(STRICT))
    # A folder of its own: what a notebook saves must not stay beside those that are in git.
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        client = NotebookClient(
            notebook,
            timeout=seconds,
            resources={"metadata": {"path": folder}},
            extra_arguments=["--log-level=ERROR"],  # ipykernel 7 warns of local ports each time
        )
        # Graded cells of `source/` call `grader`, which stands beside this folder.
        client.execute(env=os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[1])})
    del notebook.cells[0]
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
