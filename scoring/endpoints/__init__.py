"""Endpoints of language models: keys, prices, budgets, stored replies, and what is known of each."""
