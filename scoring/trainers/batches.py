"""Batches of examples of similar length."""

import random
from collections.abc import Iterator, Sequence

from torch.utils.data import Sampler

GROUPED = 50
"""Batches whose examples are sorted by length together; the batches are shuffled again."""


class LengthGroupedBatches(Sampler[list[int]]):
    """Batches of examples of similar length, in another random order in each epoch.

    Each `together` examples in a row are in one batch, unless a batch is too small for them.
    """

    def __init__(self, lengths: Sequence[int], batch_size: int, seed: int, together: int = 1) -> None:
        size = together if together <= batch_size else 1
        self._groups = [
            range(start, min(start + size, len(lengths))) for start in range(0, len(lengths), size)
        ]
        self._longest = [max(lengths[index] for index in group) for group in self._groups]
        self._in_batch = batch_size // size
        self._seed = seed
        self.epoch = 0

    def __len__(self) -> int:
        return -(-len(self._groups) // self._in_batch)

    def __iter__(self) -> Iterator[list[int]]:
        """Yield the batches of `epoch`; those of an epoch are always the same."""
        drawn = random.Random(f"{self._seed}/{self.epoch}")
        order = list(range(len(self._groups)))
        drawn.shuffle(order)
        size, sorted_together = self._in_batch, self._in_batch * GROUPED
        batches = []
        for start in range(0, len(order), sorted_together):
            alike = sorted(order[start : start + sorted_together], key=lambda group: -self._longest[group])
            batches += [alike[first : first + size] for first in range(0, len(alike), size)]
        drawn.shuffle(batches)
        for batch in batches:
            yield [index for group in batch for index in self._groups[group]]
