"""Intervals of correlations: resampling and formulas."""
