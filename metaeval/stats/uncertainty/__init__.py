"""Where a correlation may lie: resampling and formulas."""
