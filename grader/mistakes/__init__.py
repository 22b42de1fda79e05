"""Wrong answers that learners really give, with their names and hints."""
