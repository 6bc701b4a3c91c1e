"""Charts, tables and words as files for a paper."""
