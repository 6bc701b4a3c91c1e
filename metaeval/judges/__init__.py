"""Judges: versions of a prompt, tried on some labels, and their agreement with people."""
