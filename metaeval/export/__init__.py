"""Charts, tables and methods as files for a paper."""
