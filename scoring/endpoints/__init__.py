"""Endpoints of language models: addresses, keys, prices, limits and capabilities."""
