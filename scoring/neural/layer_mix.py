"""One vector per sequence, mixed from all normalised layers of an encoder, as in COMET and UniTE.

A layer is normalised by one mean and one standard deviation over all dimensions of all tokens, of one
sequence or of several together. Sequences are therefore summed one by one, however they were batched for the
encoder, and combined afterwards.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import torch
from torch import Tensor

from scoring.neural.device import device

VARIANCE_FLOOR = 1e-12


@dataclass(frozen=True, slots=True)
class LayerSums:
    """Sums over one sequence for the mix, per layer; the first is the embeddings' output."""

    first: Tensor
    """Vectors of the first token [layers, dimensions]."""
    mean: Tensor
    """Mean over all tokens and dimensions [layers]."""
    deviation: Tensor
    """Sum of the squared distances from `mean` [layers]."""
    numbers: int
    """Tokens times dimensions."""


def layer_sums(layers: Sequence[tuple[Tensor, Tensor, Tensor]], numbers: Sequence[int]) -> list[LayerSums]:
    """Return the sums of each sequence of a batch, from each layer's `layer_moments`."""
    first, mean, deviation = (torch.stack(each, dim=1) for each in zip(*layers, strict=True))
    return [LayerSums(*each) for each in zip(first, mean, deviation, numbers, strict=True)]


def layer_moments(states: Tensor, lengths: Sequence[int]) -> tuple[Tensor, Tensor, Tensor]:
    """Return first vectors, means, and sums of squared distances from them, per sequence.

    `states` is [tokens, dimensions], the sequences end to end; `lengths` are their numbers of tokens.
    """
    sequences = states.float().split(list(lengths))
    means = [each.mean() for each in sequences]
    deviations = [(each - mean).square().sum() for each, mean in zip(sequences, means, strict=True)]
    return torch.stack([each[0] for each in sequences]), torch.stack(means), torch.stack(deviations)


class LayerMix:
    """Weights of the layers (before the softmax) and the factor of their sum."""

    def __init__(self, weights: Tensor, gamma: Tensor) -> None:
        self._shares = (weights.softmax(dim=0) * gamma).to(device())

    @classmethod
    def of(cls, tensors: Mapping[str, Tensor], layers: int) -> Self:
        """Read the mix from `scalar_parameters.0` to `.layers - 1` and `gamma`. Raises KeyError."""
        weights = torch.cat([tensors[f"scalar_parameters.{layer}"].float() for layer in range(layers)])
        return cls(weights, tensors["gamma"].float())

    def vectors(self, sequences: Sequence[LayerSums]) -> Tensor:
        """Return vectors [sequences, dimensions] of sequences that are normalised together."""
        numbers = torch.tensor([each.numbers for each in sequences], device=device())[:, None]
        means = torch.stack([each.mean for each in sequences])
        mean = (numbers * means).sum(dim=0) / numbers.sum()
        deviation = torch.stack([each.deviation for each in sequences]) + numbers * (means - mean).square()
        scale = (deviation.sum(dim=0) / numbers.sum() + VARIANCE_FLOOR).sqrt()
        first = torch.stack([each.first for each in sequences])
        return torch.einsum("l,sld->sd", self._shares, (first - mean[:, None]) / scale[:, None])
