"""Making labels of ratings, and statistics of labels with scores."""
