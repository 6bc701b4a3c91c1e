"""Scoring with a UMSE network that was trained here."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from scoring.neural.batching import distinct_in_batches, padded
from scoring.neural.device import DTYPES, device
from scoring.neural.encoder import position_limit
from scoring.neural.finiteness import ModelWatch
from scoring.neural.joint_inputs import Group, JointInputs, JointOutput
from scoring.neural.segments import Joined
from scoring.neural.umse_network import Shape, UmseNetwork
from scoring.weights.model_files import MissingWeights


class _Input(NamedTuple):
    sequence: Joined
    scenario: int
    """Its number in the network's shape."""


class TrainedUmse:
    """A folder with a network's weights, its encoder's configuration and tokenizer.

    `settings`, from the model's card, are its shape. Raises MissingWeights.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any], precision: str) -> None:
        self._network = UmseNetwork.load(folder, Shape.of(settings)).to(device())
        self._network.encoder.to(dtype=DTYPES[precision])
        self._watched = ModelWatch(self._network)
        limit = position_limit(self._network.encoder.config)
        self._inputs = JointInputs(folder, limit, self._network.room)

    @torch.inference_mode()
    def read(self, groups: Sequence[Group]) -> list[list[JointOutput | None]]:
        """Return the logits of each tuple of texts; None if it ran out of memory.

        Raises MissingWeights for a scenario that the network has not learnt.
        """
        learnt = self._network.shape.scenarios
        for scenario, _ in groups:
            if scenario not in learnt:
                raise MissingWeights(f"The model was trained for {', '.join(learnt)}, not for {scenario}.")
        sequences, shares = self._inputs.of([texts for _, group in groups for texts in group])
        numbers = [learnt.index(scenario) for scenario, group in groups for _ in group]
        given = [_Input(*each) for each in zip(sequences, numbers, strict=True)]
        found = distinct_in_batches(
            given, self._logits, length=lambda each: len(each.sequence) + self._network.shape.prefix_length
        )
        readings = iter(
            None if logits is None else JointOutput(logits, share)
            for logits, share in zip(found, shares, strict=True)
        )
        return [[next(readings) for _ in group] for _, group in groups]

    def _logits(self, batch: Sequence[_Input]) -> Iterator[tuple[float, ...]]:
        ids, mask = padded([each.sequence.ids for each in batch], self._inputs.tokens.padding)
        numbers, _ = padded([each.sequence.numbers for each in batch], 0)
        scenarios = torch.tensor([each.scenario for each in batch], device=device())
        logits, marks = self._watched.run(mask, lambda: self._network(ids, mask, numbers, scenarios))
        yield from map(tuple, (logits + marks[:, None]).tolist())
