"""Batches of limited size that keep every result and its order."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from scoring.neural.batching import in_batches, padded

LENGTHS = st.lists(st.integers(0, 50), max_size=40)


@given(LENGTHS, st.integers(1, 200))
def test_results_keep_the_order_for_any_budget(lengths, tokens):
    results = in_batches(lengths, lambda batch: [(index, lengths[index]) for index in batch], tokens)
    assert results == list(enumerate(lengths))


@given(LENGTHS, st.integers(1, 200))
def test_only_single_sequences_exceed_the_budget(lengths, tokens):
    batches = []
    in_batches(lengths, lambda batch: batches.append(batch) or batch, tokens)
    for batch in batches:
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= tokens
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))


@given(LENGTHS)
def test_batches_go_from_long_to_short(lengths):
    batches = []
    in_batches(lengths, lambda batch: batches.append(batch) or batch, 60)
    seen = [lengths[index] for batch in batches for index in batch]
    assert seen == sorted(lengths, reverse=True)


@given(st.lists(st.integers(1, 50), max_size=40), st.integers(1, 300))
def test_out_of_memory_is_halved_down_to_single_items(lengths, memory):
    def compute(batch):
        if len(batch) * max(lengths[index] for index in batch) > memory:
            raise torch.OutOfMemoryError("CUDA out of memory.")
        return batch

    expected = [index if length <= memory else None for index, length in enumerate(lengths)]
    assert in_batches(lengths, compute, 400) == expected


def test_cpu_out_of_memory_is_handled():
    def compute(batch):
        if len(batch) > 1:
            raise MemoryError
        raise RuntimeError("DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes")

    assert in_batches([1, 2, 3], compute) == [None, None, None]


def test_other_errors_are_raised():
    def compute(batch):
        raise RuntimeError("The size of tensor a must match")

    with pytest.raises(RuntimeError, match="size of tensor"):
        in_batches([1, 2], compute)


def test_missing_result_raises():
    with pytest.raises(ValueError, match="shorter"):
        in_batches([1, 1, 1], lambda batch: batch[:2])
    with pytest.raises(ValueError, match="shorter"):
        in_batches([1, 1, 1], lambda _: [])


@given(st.lists(st.lists(st.integers(0, 9), max_size=8), min_size=1, max_size=6))
def test_padding_is_on_the_right_and_masked(sequences):
    ids, mask = padded(sequences, padding=77)
    assert ids.shape == mask.shape == (len(sequences), max(1, *map(len, sequences)))
    for row, sequence in enumerate(sequences):
        assert ids[row, mask[row] == 1].tolist() == sequence
        assert set(ids[row, mask[row] == 0].tolist()) <= {77}
        assert mask[row].tolist() == sorted(mask[row].tolist(), reverse=True)


def test_width_can_be_chosen():
    assert padded([[1, 2]], 0, columns=5)[0].tolist() == [[1, 2, 0, 0, 0]]
