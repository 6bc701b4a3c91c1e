"""The parts of a prompted evaluator: dimensions, examples, prompts, marks, the reading of replies."""
