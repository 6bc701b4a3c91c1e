"""Rechecks: the same summaries scored again, for the noise and the drift of language models."""
