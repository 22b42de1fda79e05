"""Right answers in other styles: each must keep full marks."""
