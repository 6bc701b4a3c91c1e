"""The base of learners: a method's model, which turns examples into batches and measures."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from scoring.neural.device import device
from scoring.neural.loading import load_config

ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout")
"""The names of attention dropout in configurations."""


class Learner:
    """Base of the methods' models.

    `module` is called with a batch as keywords and returns "loss", the mean over the batch, and "outputs"
    [examples, ...], from which `measures` are computed.
    """

    module: torch.nn.Module
    choose_by: str
    """The measure that chooses the best checkpoint."""
    higher_is_better: bool = True
    """True if the best checkpoint has the highest value of `choose_by`; False if the lowest."""
    together: int = 1
    """The number of training examples in a row that one batch learns from."""

    def lengths(self, examples: Sequence[Any]) -> list[int]:
        """Return the examples' lengths in tokens, by which those of a batch are grouped."""
        raise NotImplementedError

    def batch(self, examples: Sequence[Any]) -> dict[str, torch.Tensor]:
        """Return the examples as tensors on the CPU."""
        raise NotImplementedError

    def measures(self, examples: Sequence[Any], outputs: np.ndarray) -> Mapping[str, float]:
        """Return the measures of the validation examples from the module's outputs [examples, ...]."""
        raise NotImplementedError

    def parameter_groups(self) -> Iterable[dict[str, Any]]:
        """Return the trained parameters in groups for the optimiser, which may have rates of their own."""
        return [{"params": [each for each in self.module.parameters() if each.requires_grad]}]

    def save(self, folder: Path) -> None:
        """Write model.safetensors, config.json and the tokenizer. The module may be unusable afterwards."""
        raise NotImplementedError

    @torch.inference_mode()
    def outputs(self, examples: Sequence[Any], batch_size: int) -> np.ndarray:
        """Return the module's outputs for the examples, in order, computed in evaluation mode."""
        self.module.eval()
        lengths = self.lengths(examples)
        order = sorted(range(len(examples)), key=lambda index: -lengths[index])
        found: dict[int, np.ndarray] = {}
        for start in range(0, len(order), batch_size):
            chosen = order[start : start + batch_size]
            batch = self.batch([examples[index] for index in chosen])
            outputs = self.module(**{name: tensor.to(device()) for name, tensor in batch.items()})["outputs"]
            found.update(zip(chosen, outputs.float().cpu().numpy(), strict=True))
        return np.stack([found[index] for index in range(len(examples))])


def attention_dropout_in(folder: Path) -> dict[str, Any]:
    """Return what the configuration of a folder's model says of dropout in its attention."""
    config = load_config(folder)
    return {name: getattr(config, name) for name in ATTENTION_DROPOUT if hasattr(config, name)}


def without_attention_dropout(folder: Path) -> dict[str, Any]:
    """Return the changes to the configuration of a folder's encoder that leave its attention whole."""
    return dict.fromkeys(attention_dropout_in(folder), 0.0)
