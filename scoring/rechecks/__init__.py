"""Rechecks: the noise and the drift of language models."""
