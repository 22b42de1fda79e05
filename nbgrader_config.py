"""What this course sets differently from nbgrader's defaults, each with its reason."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
if str(ROOT) not in sys.path:  # `grader` stands beside this file and is not installed
    sys.path.insert(0, str(ROOT))

from nbgrader.preprocessors import (  # noqa: E402
    AssignLatePenalties,
    CheckCellMetadata,
    ClearOutput,
    OverwriteCells,
    OverwriteKernelspec,
    SaveAutoGrades,
)

from grader.nbgrader_steps import Mark, Repair, SaveState  # noqa: E402

c = get_config()  # noqa: F821  (traitlets provides it)

# One database and one folder tree for the course. (Call nbgrader from this folder: it looks for
# this file where it is called.)
c.CourseDirectory.course_id = "attention-labs"
c.CourseDirectory.root = str(ROOT)

# `release/` is in git, so it is there before the gradebook: make both without being asked twice.
c.GenerateAssignment.force = True


def put_first(variable: str, place: str) -> None:
    """Put a folder first in a search path, once: the formgrader reads this file many times."""
    places = [p for p in os.environ.get(variable, "").split(os.pathsep) if p not in ("", place)]
    os.environ[variable] = os.pathsep.join([place, *places])


# nbgrader runs `alembic` by name when it makes a gradebook; find the one beside this Python
# even when its environment has not been activated.
put_first("PATH", str(Path(sys.executable).parent))

# Kept-back inputs are drawn from a seed. The default is public, so write one of your own, any
# sentence, into `seed.txt` (git ignores it). With `c.HiddenSeed.per_student = True` each student
# gets inputs of their own.
seed_file = ROOT / "seed.txt"
if seed_file.exists():
    c.HiddenSeed.seed = seed_file.read_text(encoding="utf-8").strip()

# Hand-ins come by nbgrader's own autograde the same way as in a class run: see
# `grader/nbgrader_steps.py`. No kernel runs, and nothing of a hand-in runs in this process.
c.Autograde.exporter_class = "grader.nbgrader_steps.HandInReader"
c.Autograde.sanitize_preprocessors = [
    ClearOutput,
    Repair,  # instead of DeduplicateIds, which ends the batch at a cell that was pasted twice
    OverwriteKernelspec,
    OverwriteCells,
    CheckCellMetadata,
]
c.Autograde.autograde_preprocessors = [
    Mark,  # instead of Execute
    SaveAutoGrades,
    SaveState,
    AssignLatePenalties,
    CheckCellMetadata,
]

# Written answers may be in either language of the course.
c.ClearSolutions.text_stub = "*YOUR ANSWER HERE · ESCRIBA AQUÍ SU RESPUESTA*"

# Feedback is a page of our own: the marks and the student's work, and nothing kept back. It reads
# the gradebook itself, so none of nbgrader's preprocessors is needed.
c.GenerateFeedback.exporter_class = "grader.feedback.page.FeedbackPage"
c.GenerateFeedback.preprocessors = []
