"""nbgrader's own Python interface, set up with this course's `nbgrader_config.py`."""

from __future__ import annotations

import logging
import os
import warnings
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from traitlets.config.loader import PyFileConfigLoader


def course(root: Path, workplace: Path | None = None) -> NbGraderAPI:
    """Open nbgrader on a course.

    Parameters
    ----------
    root : the folder with `nbgrader_config.py`
    workplace : another folder to work in, with its own `source/`, `submitted/` and gradebook;
        the course's own folder when left out
    """
    config = PyFileConfigLoader("nbgrader_config.py", path=str(root)).load_config()
    config.CourseDirectory.root = str(workplace or root)
    os.environ["JUPYTER_PLATFORM_DIRS"] = "1"  # jupyter_core warns until this is chosen
    # nbgrader builds its database rows in an order that SQLAlchemy 2 remarks on; nothing is lost.
    warnings.filterwarnings("ignore", message="Object of type .* not in session")
    logging.getLogger("traitlets").setLevel(logging.CRITICAL)  # problems are in what calls return
    return NbGraderAPI(config=config)
