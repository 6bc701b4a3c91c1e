"""How steady the answers of a language model are: what its page shows."""
