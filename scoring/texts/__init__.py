"""What evaluators do with plain text: words, sentences, what two texts have in common."""
