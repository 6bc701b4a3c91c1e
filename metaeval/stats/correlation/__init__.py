"""How scores and human labels go together, and the same of rows that are counted several times."""
