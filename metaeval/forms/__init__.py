"""Forms of the pages with results."""
