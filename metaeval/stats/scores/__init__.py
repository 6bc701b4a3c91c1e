"""Properties of one evaluator's scores, and where they mislead."""
