"""Cases of every lab: what each answer is tried on, and what each case is worth."""
