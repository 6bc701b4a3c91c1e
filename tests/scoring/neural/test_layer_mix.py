"""The mix of normalised layers, compared with its definition."""

import pytest
import torch

from scoring.neural.layer_mix import LayerMix, layer_moments, layer_sums

LAYERS, DIMENSIONS = 4, 6
LENGTHS = (3, 7, 5)


@pytest.fixture
def states():
    """Return states [layers, tokens, dimensions] of sequences end to end."""
    draw = torch.Generator().manual_seed(0)
    return torch.randn(LAYERS, sum(LENGTHS), DIMENSIONS, generator=draw) * 3 + 1


@pytest.fixture
def mix():
    tensors = {f"scalar_parameters.{layer}": torch.tensor([layer / 2]) for layer in range(LAYERS)}
    return LayerMix.of(tensors | {"gamma": torch.tensor([1.3])}, LAYERS)


def sums(states):
    moments = [layer_moments(each, LENGTHS) for each in states]
    return layer_sums(moments, [length * DIMENSIONS for length in LENGTHS])


def defined(states, members):
    weights = torch.tensor([layer / 2 for layer in range(LAYERS)]).softmax(dim=0)
    mixed = torch.zeros(len(members), DIMENSIONS)
    for weight, layer in zip(weights, states, strict=True):
        sequences = [layer.split(LENGTHS)[index] for index in members]
        counted = torch.cat(sequences)
        first = torch.stack([each[0] for each in sequences])
        mixed += 1.3 * weight * (first - counted.mean()) / counted.std(unbiased=False)
    return mixed


@pytest.mark.parametrize("members", [[0], [1], [2], [0, 1], [0, 1, 2]])
def test_sequences_normalised_together_share_mean_and_deviation(states, mix, members):
    found = mix.vectors([sums(states)[index] for index in members]).cpu()
    assert torch.allclose(found, defined(states, members), atol=1e-5)


def test_missing_weight_raises():
    with pytest.raises(KeyError, match=r"scalar_parameters\.1"):
        LayerMix.of({"scalar_parameters.0": torch.zeros(1), "gamma": torch.ones(1)}, 2)
