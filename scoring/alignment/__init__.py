"""Judges in versions, tried on one part of the labels and judged in the end on another."""
