"""Summaries on which raters disagree, and the pages that decide them."""
