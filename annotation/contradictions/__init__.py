"""Answers of one rating that contradict each other."""
