"""How one rater's answers compare with the others'."""
