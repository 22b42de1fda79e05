"""What kept-back inputs are drawn from: a course's own seed, if it likes one for each student."""

from __future__ import annotations

from traitlets import Bool, Unicode
from traitlets.config import Configurable

from grader.sheets import PUBLIC_SEED, digest


class HiddenSeed(Configurable):
    """The seed, as `nbgrader_config.py` sets it."""

    seed = Unicode(PUBLIC_SEED, help="What kept-back inputs are drawn from.").tag(config=True)
    per_student = Bool(False, help="Whether each student gets inputs of their own.").tag(
        config=True
    )

    def of(self, student: str) -> str:
        """Give the seed of one student's hand-in."""
        if self.per_student:
            return digest(self.seed, student)
        return PUBLIC_SEED if self.seed == PUBLIC_SEED else digest(self.seed)
