"""Work of unequal length in batches of bounded size."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TypeVar

import torch

from scoring.neural.device import device, is_out_of_memory, tokens_per_batch

Input = TypeVar("Input", bound=Hashable)
Result = TypeVar("Result")
Thing = TypeVar("Thing")


def in_batches(
    lengths: Sequence[int], compute: Callable[[list[int]], Iterable[Result]], tokens: int | None = None
) -> list[Result | None]:
    """Return one result for each of `lengths`, in order; None for what exceeds the memory even alone.

    `compute` is given indices of similar lengths, the longest first, and returns one result for each. A batch
    has at most `tokens` (by default what suits the device) counted with padding, but at least one index. What
    runs out of memory is retried in halves.
    """
    limit = tokens or tokens_per_batch()
    results: list[Result | None] = [None] * len(lengths)
    order = sorted(range(len(lengths)), key=lambda index: (-lengths[index], index))
    for batch in cut(order, lambda batch, _: (len(batch) + 1) * lengths[batch[0]] <= limit):
        for index, result in in_halves(batch, compute):
            results[index] = result
    return results


def distinct_in_batches(
    inputs: Sequence[Input],
    compute: Callable[[list[Input]], Iterable[Result]],
    *,
    length: Callable[[Input], int] = len,  # type: ignore[assignment]
    tokens: int | None = None,
) -> list[Result | None]:
    """Return one result per input, in order, as `in_batches` does; equal inputs are computed once."""
    distinct = list(dict.fromkeys(inputs))
    found = in_batches(
        list(map(length, distinct)), lambda batch: compute([distinct[index] for index in batch]), tokens
    )
    by_input = dict(zip(distinct, found, strict=True))
    return [by_input[each] for each in inputs]


def padded(
    sequences: Sequence[Sequence[int]], padding: int, columns: int | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Pad ids on the right and return them [sequences, columns] with their mask, 1 for tokens.

    Both are on the device. `columns` defaults to the longest sequence.
    """
    width = max(columns or 0, *map(len, sequences), 1)
    ids = torch.full((len(sequences), width), padding, dtype=torch.long)
    mask = torch.zeros((len(sequences), width), dtype=torch.long)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = torch.tensor(sequence, dtype=torch.long)
        mask[row, : len(sequence)] = 1
    return ids.to(device()), mask.to(device())


def second_text(length: int, start: int) -> list[int]:
    """Return the types of a sequence's tokens: 1 from the start of the second text on."""
    return [0] * start + [1] * (length - start)


def cut(things: Iterable[Thing], fits: Callable[[list[Thing], Thing], bool]) -> Iterator[list[Thing]]:
    """Yield neighbours together, as many as `fits` allows a batch to be joined by one more."""
    batch: list[Thing] = []
    for thing in things:
        if batch and not fits(batch, thing):
            yield batch
            batch = []
        batch.append(thing)
    if batch:
        yield batch


def in_halves(
    batch: list[Thing], compute: Callable[[list[Thing]], Iterable[Result]]
) -> Iterator[tuple[Thing, Result | None]]:
    """Yield each thing and its result; retry in halves what runs out of memory, then give None."""
    results: list[Result] | None = None
    try:
        results = list(compute(batch))
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
    # Outside the handler, since the error keeps alive what filled the memory.
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
