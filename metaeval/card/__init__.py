"""The evaluator card: what one evaluator is good for on one question."""
