"""What one evaluator's scores are like, and where they mislead."""
