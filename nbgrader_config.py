"""What this course sets differently from nbgrader's defaults, each with its reason."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
if str(ROOT) not in sys.path:  # `grader` stands beside this file and is not installed
    sys.path.insert(0, str(ROOT))

from nbgrader.converters import Autograde  # noqa: E402
from nbgrader.preprocessors import Execute  # noqa: E402

from grader.execute import LeaveOutPlay, RescuingExecute  # noqa: E402
from grader.seed import HiddenSeed  # noqa: E402

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


# Graded cells call `grader.mark` in their hidden part, so kernels must find `grader`.
put_first("PYTHONPATH", str(ROOT))

# nbgrader runs `alembic` by name when it makes a gradebook; find the one beside this Python
# even when its environment has not been activated.
put_first("PATH", str(Path(sys.executable).parent))

# Kept-back inputs are drawn from a seed. The default is public, so write one of your own, any
# sentence, into `seed.txt` (git ignores it). With `c.HiddenSeed.per_student = True` each student
# gets inputs of their own.
seed_file = ROOT / "seed.txt"
if seed_file.exists():
    c.HiddenSeed.seed = seed_file.read_text(encoding="utf-8").strip()

# LeaveOutPlay keeps a crash in one answer from ending the kernel of the whole hand-in.
autograde = Autograde().autograde_preprocessors
at = autograde.index(Execute)
c.Autograde.autograde_preprocessors = [
    HiddenSeed,
    LeaveOutPlay,
    *autograde[:at],
    RescuingExecute,
    *autograde[at + 1 :],
]

# ipykernel 7 warns at every start that its local ports are not encrypted; the first argument is
# nbgrader's own default, which this setting would otherwise replace.
c.Execute.extra_arguments = ["--HistoryManager.hist_file=:memory:", "--log-level=ERROR"]

# Written answers may be in either language of the course.
c.ClearSolutions.text_stub = "*YOUR ANSWER HERE · ESCRIBA AQUÍ SU RESPUESTA*"
