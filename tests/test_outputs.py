"""What a cell puts out is what it would have put out in a kernel."""

from __future__ import annotations

import os
import re
import sys

import nbformat
import pytest
from nbclient import NotebookClient

from grader.engine.outputs import as_outputs
from grader.engine.sandbox import why_missing
from grader.engine.worker import Cell, Worker

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="hand-ins are run on Linux")

CELLS = (
    "def softmax(x):\n    '''Doc.'''\n    # YOUR CODE HERE\n    raise NotImplementedError()",
    "softmax(1)",
    "import numpy as np\nnp.zeros((2, 3)) @ np.zeros((2, 3))",
    "undefined + 1",
    "def f(:\n",
    "print('a')\nprint('c')\n3",
    "import sys\nprint('b', file=sys.stderr)",
    "from IPython.display import HTML, display\ndisplay(1, HTML('<b>x</b>'))\nNone",
    "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('no') from e",
    "class Odd:\n    def __repr__(self):\n        return 'odd'\n    def _repr_html_(self):\n"
    "        return '<i>odd</i>'\nOdd()",
    "%%time\nx = 1",
    "x = 1;\nx;",
    "from IPython.display import clear_output\nprint(1)\nclear_output()\nprint(2)",
    "input('who? ')",
    "_ = 4\n__name__, 'get_ipython' in globals()",
    "await __import__('asyncio').sleep(0)\n'awaited'",
    "raise SystemExit",
    "len('it goes on')",
)


def test_texts_results_and_errors_are_those_of_a_kernel() -> None:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    client = NotebookClient(notebook, allow_errors=True, extra_arguments=["--log-level=ERROR"])
    client.execute(env=os.environ | {"NBGRADER_EXECUTION": "autograde"})
    with (
        Worker(confined=not why_missing()) as worker,
        worker.play([Cell(c) for c in CELLS], seconds=60) as session,
    ):
        ours = [(said["count"], as_outputs(said["outputs"])) for said in session.cells(20)]
    for cell, (count, outputs) in zip(notebook.cells, ours, strict=True):
        assert count == cell.execution_count
        theirs = [plain(output) for output in cell.outputs]
        assert [plain(output) for output in outputs] == theirs, cell.source


def plain(output: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Leave out what differs from run to run: names of files and times."""
    if output.output_type == "stream" and "Wall time" in output.text:
        output.text = output.text.split("Wall time")[0][:9]
    if output.output_type == "error":
        output.evalue = re.sub(r"\d+\.py", "cell.py", output.evalue)
    if output.output_type == "error" and output.ename in ("SystemExit", "StdinNotImplementedError"):
        output.traceback, output.evalue = [], ""
    return output
