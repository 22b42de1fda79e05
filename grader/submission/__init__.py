"""Hand-ins: find the notebook, read it, put it right for marking, and say what was changed."""
