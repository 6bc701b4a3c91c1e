"""Judges: versions of a prompt, tuned on one part of the labels and measured on another."""
