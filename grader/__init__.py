"""What only graders have: the reference, the kept-back cases and the wrong answers by name."""
