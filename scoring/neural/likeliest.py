"""Choices by a model's numbers. NaN passes through sums and products, but an argmax over NaN has an index."""

import torch

from scoring.contract.scores import NotFinite


def likeliest(numbers: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the greatest number along the last axis, and its place. Raises NotFinite for NaN or infinity."""
    greatest, places = numbers.max(dim=-1)
    if not bool(greatest.isfinite().all()):  # the maximum of numbers with a NaN among them is NaN
        raise NotFinite
    return greatest, places
