"""What this course sets differently from nbgrader's defaults, each with its reason."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from nbgrader.converters import Autograde  # noqa: E402

from grader.seed import HiddenSeed  # noqa: E402  (found through the line above)

c = get_config()  # noqa: F821  (traitlets provides it)

# One database and one folder tree for the course, wherever nbgrader is called from.
c.CourseDirectory.course_id = "attention-labs"
c.CourseDirectory.root = str(ROOT)

# Graded cells call `grader.mark` in their hidden part, so kernels must find `grader`.
os.environ["PYTHONPATH"] = os.pathsep.join(
    [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
)

# nbgrader runs `alembic` by name when it makes a gradebook; find the one beside this Python
# even when its environment has not been activated.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

# Kept-back inputs are drawn from this seed. The default is public, so set your own, and keep
# it out of any repository that students can read:
# c.HiddenSeed.seed = "a sentence only you know"
c.Autograde.autograde_preprocessors = [HiddenSeed, *Autograde().autograde_preprocessors]

# ipykernel 7 warns at every start that its local ports are not encrypted; the first argument is
# nbgrader's own default, which this setting would otherwise replace.
c.Execute.extra_arguments = ["--HistoryManager.hist_file=:memory:", "--log-level=ERROR"]

# Written answers may be in either language of the course.
c.ClearSolutions.text_stub = "*YOUR ANSWER HERE · ESCRIBA AQUÍ SU RESPUESTA*"
