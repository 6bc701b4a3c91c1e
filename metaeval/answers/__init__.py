"""Raters' answers by language, dataset and system."""
