"""The page on the consistency and drift of a language model's answers."""
