"""Attention among the tokens of many texts that lie end to end, without padding or masks."""

from collections.abc import Iterable
from itertools import groupby

import torch
from torch.nn.functional import scaled_dot_product_attention

Span = tuple[int, int]
"""The number of queries, and of the keys that they see."""


def attend(
    queries: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    heads: int,
    spans: Iterable[Span],
    *,
    causal: bool = False,
) -> torch.Tensor:
    """Return `values` mixed for each query [queries, dimensions].

    Spans follow one another in `queries` and in `keys` [tokens, dimensions]; neighbours of equal size are
    computed together.
    """
    mixed = queries.new_empty(queries.shape)
    query = key = 0
    for (some_queries, some_keys), alike in groupby(spans):
        count = len(list(alike))
        query_end, key_end = query + count * some_queries, key + count * some_keys
        found = scaled_dot_product_attention(
            _by_head(queries[query:query_end], count, heads),
            _by_head(keys[key:key_end], count, heads),
            _by_head(values[key:key_end], count, heads),
            is_causal=causal,
        )
        _by_head(mixed[query:query_end], count, heads)[:] = found
        query, key = query_end, key_end
    return mixed


def _by_head(tokens: torch.Tensor, count: int, heads: int) -> torch.Tensor:
    """Return a view [texts, heads, tokens of a text, dimensions of a head]."""
    return tokens.view(count, len(tokens) // count, heads, -1).transpose(1, 2)
