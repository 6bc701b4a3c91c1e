"""Single summaries behind the figures: lists, disagreements, and all numbers of one summary."""
