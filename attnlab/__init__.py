"""What a learner imports: the check that names mistakes, the worked example and the plots."""

from attnlab.self_check import check

__all__ = ["check"]
