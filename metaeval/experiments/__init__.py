"""Experiments: runs that differ in one setting, started together, and their agreement with people."""
