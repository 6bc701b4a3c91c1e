"""Webhooks: managing them, handing events out to them, and signed delivery."""
