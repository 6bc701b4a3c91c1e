"""Evaluators across projects: one table by data set, with a mean over data sets and their spread."""
