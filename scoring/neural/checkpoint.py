"""Single tensors of a model's safetensors files, read when they are asked for."""

import json
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import torch
from safetensors import SafetensorError, safe_open

from scoring.neural.device import DTYPES, device
from scoring.weights import MissingWeights

ONE_FILE = "model.safetensors"
INDEX = "model.safetensors.index.json"


class Checkpoint:
    """The tensors of a folder by name, in one file or in the parts that its index lists; for `with`.

    Only what is asked for takes memory, so that a model built from it never lies in memory twice.
    """

    def __init__(self, folder: Path, precision: str = "float32") -> None:
        self.folder = folder
        self._dtype = DTYPES[precision]
        self._open = ExitStack()
        self._file_of: dict[str, Any] = {}

    def __enter__(self) -> Self:
        try:
            for path in self._paths():
                file = self._open.enter_context(safe_open(path, "pt"))
                self._file_of |= dict.fromkeys(file.keys(), file)
        except (OSError, ValueError, KeyError, SafetensorError) as error:
            self._open.close()
            raise MissingWeights(f"The weights in {self.folder} cannot be read: {error}") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file_of.clear()
        self._open.close()

    def __contains__(self, name: str) -> bool:
        return name in self._file_of

    def raw(self, name: str) -> torch.Tensor:
        """The tensor in float32 on the CPU, for arithmetic before it is `placed`. Raises MissingWeights."""
        if name not in self._file_of:
            raise MissingWeights(f"The files in {self.folder} lack {name!r}. Is it the right model?")
        found: torch.Tensor = self._file_of[name].get_tensor(name)
        return found.float()

    def placed(self, tensor: torch.Tensor) -> torch.Tensor:
        """On the device, in the precision asked for."""
        return tensor.to(device(), self._dtype).contiguous()

    def __getitem__(self, name: str) -> torch.Tensor:
        return self.placed(self.raw(name))

    def _paths(self) -> list[Path]:
        if (self.folder / ONE_FILE).exists() or not (self.folder / INDEX).exists():
            return [self.folder / ONE_FILE]
        index = json.loads((self.folder / INDEX).read_text())
        return [self.folder / name for name in sorted(set(index["weight_map"].values()))]
