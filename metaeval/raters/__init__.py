"""Comparison of one rater's answers with the others'."""
