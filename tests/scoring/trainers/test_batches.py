from hypothesis import given
from hypothesis import strategies as st

from scoring.trainers.batches import LengthGroupedBatches

LENGTHS = st.lists(st.integers(1, 2048), min_size=1, max_size=300)


@given(LENGTHS, st.integers(1, 40), st.integers(0, 5))
def test_each_example_is_in_one_batch_of_an_epoch(lengths, size, epoch):
    batches = LengthGroupedBatches(lengths, size, seed=0)
    batches.epoch = epoch
    found = list(batches)
    assert sorted(index for batch in found for index in batch) == list(range(len(lengths)))
    assert len(found) == len(batches)
    assert max(map(len, found)) <= size


def test_batches_depend_on_seed_and_epoch_only():
    lengths = list(range(100))
    drawn = {}
    for seed in (0, 1):
        for epoch in (0, 1):
            batches = LengthGroupedBatches(lengths, 8, seed)
            batches.epoch = epoch
            drawn[seed, epoch] = list(batches)
            assert drawn[seed, epoch] == list(batches)
    assert len({str(each) for each in drawn.values()}) == 4


def test_batches_hold_alike_lengths_with_little_padding():
    lengths = [number * 7919 % 1000 + 1 for number in range(1000)]
    padding = sum(
        max(lengths[i] for i in batch) * len(batch) for batch in LengthGroupedBatches(lengths, 10, 0)
    )
    assert padding < 1.05 * sum(lengths)


@given(LENGTHS, st.integers(1, 40), st.integers(1, 9), st.integers(0, 5))
def test_examples_that_belong_together_are_in_one_batch(lengths, size, together, epoch):
    batches = LengthGroupedBatches(lengths, size, 0, together)
    batches.epoch = epoch
    found = list(batches)
    assert sorted(index for batch in found for index in batch) == list(range(len(lengths)))
    assert len(found) == len(batches)
    assert max(map(len, found)) <= size
    if together <= size:
        batch_of = {index: number for number, batch in enumerate(found) for index in batch}
        assert all(
            len({batch_of[index] for index in range(start, min(start + together, len(lengths)))}) == 1
            for start in range(0, len(lengths), together)
        )
