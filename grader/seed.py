"""Hand the course's own seed of the kept-back cases to the kernels that grade."""

from __future__ import annotations

import os
from typing import Any

from nbgrader.preprocessors import NbGraderPreprocessor
from traitlets import Bool, Unicode

from grader.sheets import PUBLIC_SEED, SEED_VARIABLE, digest


class HiddenSeed(NbGraderPreprocessor):  # type: ignore[misc]  # nbgrader has no types
    """Set the seed before a hand-in is run."""

    seed = Unicode(PUBLIC_SEED, help="What kept-back inputs are drawn from.").tag(config=True)
    per_student = Bool(False, help="Whether each student gets inputs of their own.").tag(
        config=True
    )

    def preprocess(self, nb: Any, resources: Any) -> tuple[Any, Any]:
        """Set the environment that the hand-in's kernel will inherit.

        What stands there is a digest: a hand-in that prints it gives away neither the seed nor
        another student's inputs.
        """
        os.environ.pop(SEED_VARIABLE, None)
        if self.per_student:
            os.environ[SEED_VARIABLE] = digest(self.seed, resources["nbgrader"]["student"])
        elif self.seed != PUBLIC_SEED:
            os.environ[SEED_VARIABLE] = digest(self.seed)
        return nb, resources
