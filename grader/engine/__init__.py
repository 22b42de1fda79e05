"""The grader's side of marking: it starts the sandbox, keeps the reference, and judges."""
