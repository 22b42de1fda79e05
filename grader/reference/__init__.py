"""Every exercise once more, in plain loops and exact numbers, sharing no code with the answers."""
