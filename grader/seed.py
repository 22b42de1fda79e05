"""Hand the course's own seed of the kept-back cases to the kernels that grade."""

from __future__ import annotations

import os
from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Unicode

from grader.sheets import PUBLIC_SEED, SEED_VARIABLE


class HiddenSeed(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Set the seed before a hand-in is run."""

    seed = Unicode(PUBLIC_SEED, help="What kept-back inputs are drawn from.").tag(config=True)
    per_student = Bool(False, help="Whether each student gets inputs of their own.").tag(
        config=True
    )

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Set the environment that the hand-in's kernel will inherit."""
        student = resources["nbgrader"]["student"] if self.per_student else ""
        os.environ[SEED_VARIABLE] = f"{self.seed}:{student}" if student else self.seed
        return nb, resources
