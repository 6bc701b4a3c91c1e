"""Words and sentences of plain text, and what to compare them with."""
