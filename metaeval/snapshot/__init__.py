"""Rows of the database as arrays, part by part; `metaeval.snapshot` puts the parts together."""
