"""UMSE's network in the training loop."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pad_sequence

from scoring.neural.encoder import position_limit
from scoring.neural.joint_inputs import JointInputs
from scoring.neural.umse_network import KEYS, UmseNetwork
from scoring.trainers.contract import CannotTrain
from scoring.trainers.learner import Learner, attention_dropout_in
from scoring.trainers.umse_pairs import Matching

EMBEDDINGS, FIRST_LAYER = "encoder.embeddings.", "encoder.encoder.layer.0."


class UmseLearner(Learner):
    """A network and the tokenizer of its base model in `folder`. The lowest loss chooses the checkpoint.

    A text that matches and its mismatches are in one batch: what they share cancels out of the gradient, so
    that it shows the sentence in which they differ.
    """

    choose_by = "validation_loss"
    higher_is_better = False

    def __init__(self, network: UmseNetwork, folder: Path, encoder_rate: float, negatives: int) -> None:
        self.module = _WithLoss(network)
        self._network = network
        self._encoder_rate = encoder_rate
        self._stated_dropout = attention_dropout_in(folder)
        self.together = 1 + negatives
        limit = position_limit(network.encoder.config)
        self._inputs = JointInputs(folder, limit, network.room)
        self._sequences: dict[Matching, tuple[Tensor, Tensor]] = {}

    def freeze(self, trained_part: str) -> None:
        """Leave out of the training what `trained_part` does not name: all, upper or none of the encoder."""
        frozen = {"all": (), "upper": (EMBEDDINGS, FIRST_LAYER), "none": ("encoder.",)}[trained_part]
        found = [each for name, each in self._network.named_parameters() if name.startswith(frozen)]
        if frozen and not found:
            raise CannotTrain(
                "The lower layers of this kind of encoder are unknown: train all or none of it."
            )
        for each in found:
            each.requires_grad_(False)

    def save_memory(self) -> None:
        """Compute the encoder's layers again in the backward pass instead of keeping them."""
        if self._network.shape.prefix_form == KEYS:
            raise CannotTrain("A prefix of keys does not go with gradient checkpointing: choose one of them.")
        self._network.encoder.activation_checkpointing_enable({"use_reentrant": False})

    def lengths(self, examples: Sequence[Matching]) -> list[int]:
        return [len(self._encoded(each)[0]) for each in examples]

    def batch(self, examples: Sequence[Matching]) -> dict[str, Tensor]:
        encoded = [self._encoded(each) for each in examples]
        ids = [each for each, _ in encoded]
        pad = partial(pad_sequence, batch_first=True)
        scenarios = self._network.shape.scenarios
        return {
            "ids": pad(ids, padding_value=self._inputs.tokens.padding).long(),
            "mask": pad([torch.ones(len(each), dtype=torch.long) for each in ids]),
            "numbers": pad([each for _, each in encoded]).long(),
            "scenarios": torch.tensor([scenarios.index(each.scenario) for each in examples]),
            "matches": torch.tensor([each.label for each in examples]),
        }

    def measures(self, examples: Sequence[Matching], outputs: np.ndarray) -> Mapping[str, float]:
        """Return loss and accuracy, also those of each scenario."""
        found = _loss_and_accuracy(examples, outputs)
        if len(self._network.shape.scenarios) > 1:
            for scenario in self._network.shape.scenarios:
                chosen = [place for place, each in enumerate(examples) if each.scenario == scenario]
                if chosen:
                    of_scenario = _loss_and_accuracy([examples[place] for place in chosen], outputs[chosen])
                    found |= {f"{name}_{scenario}": value for name, value in of_scenario.items()}
        return found

    def parameter_groups(self) -> Iterable[dict[str, Any]]:
        """Return the encoder's parameters with their own rate, then the others."""
        trained = [(name, each) for name, each in self._network.named_parameters() if each.requires_grad]
        encoder = [each for name, each in trained if name.startswith("encoder.")]
        others = [each for name, each in trained if not name.startswith("encoder.")]
        groups: list[dict[str, Any]] = [{"params": others}]
        return [{"params": encoder, "lr": self._encoder_rate}, *groups] if encoder else groups

    def save(self, folder: Path) -> None:
        tensors = {name: each.cpu().contiguous() for name, each in self._network.state_dict().items()}
        save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
        config = self._network.encoder.config
        config.update(self._stated_dropout)  # a later training from this model may want it
        config.save_pretrained(folder)
        self._inputs.tokens.tokenizer.save_pretrained(folder)

    def _encoded(self, example: Matching) -> tuple[Tensor, Tensor]:
        """Return the ids of an example, and the number of the text that each belongs to."""
        if example not in self._sequences:
            [sequence], _ = self._inputs.of([example.texts])
            self._sequences[example] = (
                torch.tensor(sequence.ids, dtype=torch.int32),
                torch.tensor(sequence.numbers, dtype=torch.int32),
            )
        return self._sequences[example]


class _WithLoss(nn.Module):
    """The network, called with matches: 1 for texts that match, else 0."""

    def __init__(self, network: UmseNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, ids: Tensor, mask: Tensor, numbers: Tensor, scenarios: Tensor, matches: Tensor
    ) -> dict[str, Tensor]:
        logits = self.network(ids, mask, numbers, scenarios)
        return {"loss": cross_entropy(logits.float(), matches), "outputs": logits}


def _loss_and_accuracy(examples: Sequence[Matching], outputs: np.ndarray) -> dict[str, float]:
    matches = torch.tensor([each.label for each in examples])
    logits = torch.from_numpy(outputs).float()
    return {
        "validation_loss": float(cross_entropy(logits, matches)),
        "validation_accuracy": float((logits.argmax(dim=1) == matches).float().mean()),
    }
