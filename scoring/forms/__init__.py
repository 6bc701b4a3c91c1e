"""The evaluators' forms, one file per page."""
