"""Experiments: runs that differ in one setting, and their agreement with people."""
