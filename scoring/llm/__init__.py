"""Asking a language model: what is asked, where, and how it is sent."""
