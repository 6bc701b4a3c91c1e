"""Trainings of evaluators on a project's summaries, and their models."""
