"""Whether one evaluator agrees better with people than another."""
