"""Runs whose requests are submitted to an endpoint's batch API and answered within a day."""
