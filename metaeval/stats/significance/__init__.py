"""Tests of the difference between two evaluators' agreement with people."""
