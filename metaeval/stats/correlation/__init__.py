"""Correlations of scores with human labels, and the same for resamples."""
