"""Passes whose numbers left the range of their precision: their texts get NaN, whatever the pass's end shows.

A norm turns numbers that are too large into 0, attention a query of NaN, and an activation infinity into 1.
Nothing here waits for the device.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor
from torch.linalg import vector_norm
from transformers.pytorch_utils import Conv1D

from scoring.neural.device import device

Result = TypeVar("Result")


class TextWatch:
    """Sees a pass's numbers for texts of `lengths` that lie end to end."""

    def __init__(self, lengths: Sequence[int]) -> None:
        texts = torch.arange(len(lengths), device=device())
        self._owners = texts.repeat_interleave(
            torch.tensor(lengths, device=device()), output_size=sum(lengths)
        )
        self._marks = torch.zeros(len(lengths), device=device())

    def see(self, numbers: Tensor, rows: Tensor | None = None) -> None:
        """Note numbers [tokens, ...] of all tokens, or of those in `rows`."""
        owners = self._owners if rows is None else self._owners[rows]
        self._marks.index_add_(0, owners, trace(numbers.flatten(1)))

    def marked(self, states: Tensor, rows: Tensor | None = None) -> Tensor:
        """Return states [tokens, dimensions], of all or of `rows`, with NaN for texts that overflowed."""
        owners = self._owners if rows is None else self._owners[rows]
        return states + self._marks[owners, None].to(states.dtype)


class ModelWatch:
    """Sees what the layers of a model give and its norms take, while `run` calls it."""

    def __init__(self, model: torch.nn.Module) -> None:
        self._seen: list[Tensor] | None = None
        for module in model.modules():
            if isinstance(module, torch.nn.Linear | Conv1D):
                module.register_forward_hook(lambda _, __, output: self._see(output))
            elif "norm" in type(module).__name__.lower():
                module.register_forward_pre_hook(lambda _, inputs: self._see(*inputs[:1]))

    def run(self, mask: Tensor, call: Callable[[], Result], beams: int = 1) -> tuple[Result, Tensor]:
        """Return what `call` gives, and [rows]: NaN where the model overflowed, else 0.

        `call` runs the model on inputs of `mask`'s rows; tokens count where it has 1 [rows, tokens]. If it
        searches with beams, parts of the model see as many copies of each row, one after the other.
        """
        self._seen = []
        try:
            output = call()
            return output, self._marks(mask, self._seen, beams)
        finally:
            self._seen = None

    @staticmethod
    def _marks(mask: Tensor, seen: Sequence[Tensor], beams: int) -> Tensor:
        counts = {copies * len(mask): mask.repeat_interleave(copies, dim=0) > 0 for copies in (1, beams)}
        marks = torch.zeros(len(mask), device=mask.device)
        for each in seen:
            if len(each) not in counts:
                continue  # of all rows together, as in a mixture of experts, whose sum the next norm takes
            found = each.reshape(len(each), -1)
            if found.shape[1] == mask.shape[1]:
                found = found.where(counts[len(each)], 0.0)
            marks = marks + found.reshape(len(mask), -1).sum(dim=1)
        return marks

    def _see(self, numbers: Tensor | None = None) -> None:
        if self._seen is not None and numbers is not None:
            self._seen.append(trace(numbers))


def trace(numbers: Tensor) -> Tensor:
    """Return 0 for each row along the last axis, or NaN if the sum of its squares is not finite."""
    return vector_norm(numbers, dim=-1, dtype=torch.float32) * 0


def whole(numbers: Tensor) -> Tensor:
    """Return the numbers, with NaN in each row along the last axis that is not finite."""
    return numbers + trace(numbers)[..., None].to(numbers.dtype)
