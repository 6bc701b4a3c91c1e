"""What a prompted evaluator is made of: dimensions, examples, prompts, marks, the reading of replies."""
