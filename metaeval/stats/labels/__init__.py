"""From ratings to labels, and what labels and scores together tell."""
