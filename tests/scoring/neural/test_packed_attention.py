"""Attention within spans, compared with its definition for each span alone."""

import pytest
import torch

from scoring.neural.packed_attention import attend

HEADS, DIMENSIONS = 2, 6
SPANS = {
    "own tokens": [(3, 3), (3, 3), (5, 5), (1, 1)],
    "more keys than queries": [(2, 7), (2, 7), (1, 4)],
}
CASES = [("own tokens", False), ("own tokens", True), ("more keys than queries", False)]


def by_definition(queries, keys, values, causal):
    """Return one span's mix, head by head."""
    size = DIMENSIONS // HEADS
    found = []
    for head in range(HEADS):
        part = slice(head * size, (head + 1) * size)
        weights = queries[:, part] @ keys[:, part].T / size**0.5
        if causal:
            weights = weights.masked_fill(torch.ones_like(weights).triu(1).bool(), -torch.inf)
        found.append(weights.softmax(dim=-1) @ values[:, part])
    return torch.cat(found, dim=1)


@pytest.mark.parametrize(("spans", "causal"), CASES)
def test_each_query_mixes_the_keys_of_its_span(spans, causal):
    query_sizes, key_sizes = zip(*SPANS[spans], strict=True)
    draw = torch.Generator().manual_seed(0)
    queries = torch.randn(sum(query_sizes), DIMENSIONS, generator=draw)
    keys, values = torch.randn(2, sum(key_sizes), DIMENSIONS, generator=draw)
    found = attend(queries, keys, values, HEADS, SPANS[spans], causal=causal)
    parts = zip(queries.split(query_sizes), keys.split(key_sizes), values.split(key_sizes), strict=True)
    expected = torch.cat([by_definition(*part, causal) for part in parts])
    assert torch.allclose(found, expected, atol=1e-6)
