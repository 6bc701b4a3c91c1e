"""The evaluators' pages, one file per page."""
