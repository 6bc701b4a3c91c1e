"""Disagreements between people and an evaluator, and the summaries behind the figures."""
