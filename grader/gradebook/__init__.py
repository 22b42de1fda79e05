"""The gradebook's side of a class run: one writer, one commit per student, a state for each."""
