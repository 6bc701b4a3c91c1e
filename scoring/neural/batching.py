"""Work of unequal length in batches of bounded size."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import torch

from scoring.neural.device import device, is_out_of_memory, tokens_per_batch

Result = TypeVar("Result")


def in_batches(
    lengths: Sequence[int],
    compute: Callable[[list[int]], Iterable[Result]],
    tokens: int | None = None,
) -> list[Result | None]:
    """One result for each of `lengths`, in their order; None for what does not fit into memory even alone.

    `compute` is given indices of similar lengths, the longest first, and returns one result for each. A batch
    has at most `tokens` (by default what suits the device) counted with padding, but at least one index.
    What runs out of memory is tried again in halves.
    """
    limit = tokens or tokens_per_batch()
    results: list[Result | None] = [None] * len(lengths)
    order = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    for batch in _cut(order, lengths, limit):
        for index, result in in_halves(batch, compute):
            results[index] = result
    return results


def padded(
    sequences: Sequence[Sequence[int]], padding: int, columns: int | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Token ids [sequences, columns] padded on the right, and the mask, 1 where a token stands.

    Both are on the device. `columns` defaults to the longest sequence.
    """
    width = max(columns or 0, *map(len, sequences), 1)
    ids = torch.full((len(sequences), width), padding, dtype=torch.long)
    mask = torch.zeros((len(sequences), width), dtype=torch.long)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = torch.tensor(sequence, dtype=torch.long)
        mask[row, : len(sequence)] = 1
    return ids.to(device()), mask.to(device())


def _cut(order: Sequence[int], lengths: Sequence[int], tokens: int) -> Iterator[list[int]]:
    batch: list[int] = []
    for index in order:
        if batch and (len(batch) + 1) * lengths[batch[0]] > tokens:
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def in_halves(
    batch: list[int], compute: Callable[[list[int]], Iterable[Result]]
) -> Iterator[tuple[int, Result | None]]:
    """Index and result for each of `batch`; what runs out of memory is tried again in halves, then None."""
    results: list[Result] | None = None
    try:
        results = list(compute(batch))
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
    # What follows is outside the handler, since the error holds on to what filled the memory.
    if results is not None:
        yield from zip(batch, results, strict=True)
        return
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
    if len(batch) == 1:
        yield batch[0], None
        return
    half = len(batch) // 2
    yield from in_halves(batch[:half], compute)
    yield from in_halves(batch[half:], compute)
