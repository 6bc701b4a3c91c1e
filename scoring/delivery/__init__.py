"""Runs whose requests are handed in together, by the Batch API, to be answered within a day."""
