"""Words and sentences of plain text, and the overlap of two texts."""
