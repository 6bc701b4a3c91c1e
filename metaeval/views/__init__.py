"""The pages with results, one file per page."""
