"""The tensors of a model's safetensors files, in a chosen precision."""

from collections.abc import Iterable
from pathlib import Path

import torch
from transformers import PreTrainedModel

from scoring.neural.device import DTYPES, device
from scoring.neural.loading import load_tensors, refuse_unfit
from scoring.weights.model_files import MissingWeights


class Checkpoint:
    """The tensors of a folder by name, from one file or the parts in its index.

    Files are mapped into memory, so that a model built from them is never in memory twice.
    """

    def __init__(self, folder: Path, precision: str = "float32") -> None:
        self.folder = folder
        self._dtype = DTYPES[precision]
        self._tensors = load_tensors(folder)

    def refuse_unfit(self, model: PreTrainedModel, ignored: Iterable[str] = ()) -> None:
        """Raise MissingWeights if tensors that are not `ignored` are beyond `model` or of other shapes."""
        tensors = {name: each for name, each in self._tensors.items() if name not in ignored}
        refuse_unfit(model, tensors, self.folder)

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def raw(self, name: str) -> torch.Tensor:
        """Return the tensor in float32 on the CPU. Raises MissingWeights."""
        if name not in self._tensors:
            raise MissingWeights(f"The files in {self.folder} lack {name!r}. Is it the right model?")
        return self._tensors[name].float()

    def placed(self, tensor: torch.Tensor) -> torch.Tensor:
        """Return the tensor on the device, in the chosen precision."""
        return tensor.to(device(), self._dtype).contiguous()

    def __getitem__(self, name: str) -> torch.Tensor:
        return self.placed(self.raw(name))
