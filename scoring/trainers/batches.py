"""Batches of examples of similar length."""

import random
from collections.abc import Iterator, Sequence

from torch.utils.data import Sampler

GROUPED = 50
"""Batches whose examples are sorted by length together; the batches are shuffled again."""


class LengthGroupedBatches(Sampler[list[int]]):
    """Batches of examples of similar length, in another random order in each epoch."""

    def __init__(self, lengths: Sequence[int], batch_size: int, seed: int) -> None:
        self._lengths = lengths
        self._batch_size = batch_size
        self._seed = seed
        self.epoch = 0

    def __len__(self) -> int:
        return -(-len(self._lengths) // self._batch_size)

    def __iter__(self) -> Iterator[list[int]]:
        """Yield the batches of `epoch`; those of an epoch are always the same."""
        drawn = random.Random(f"{self._seed}/{self.epoch}")
        order = list(range(len(self._lengths)))
        drawn.shuffle(order)
        size, group = self._batch_size, self._batch_size * GROUPED
        batches = []
        for start in range(0, len(order), group):
            alike = sorted(order[start : start + group], key=lambda index: -self._lengths[index])
            batches += [alike[first : first + size] for first in range(0, len(alike), size)]
        drawn.shuffle(batches)
        yield from batches
