"""Checks that the machine can hold a training: memory, disk, and number formats."""

import math
import shutil
from collections.abc import Sequence
from pathlib import Path

import psutil
import torch
from safetensors import SafetensorError, safe_open

from scoring.neural.device import device
from scoring.neural.loading import tensor_files
from scoring.trainers.contract import CannotTrain
from scoring.weights.model_files import MissingWeights

NUMBER = 4
"""Bytes of a number in float32."""
CHECKPOINTS = 3
"""Checkpoints stored at the same time: the best, the latest, and one being written."""
MODELS = 2
"""Models stored at the same time: the result, and one being written."""


def check_resources(base: Path, folder: Path, *, trains_all: bool) -> None:
    """Raise CannotTrain if memory or the disk of `folder` cannot hold the training of the model in `base`.

    Counts weights and, with `trains_all`, their gradients and AdamW's two moments, but no activations, which
    depend on the texts. Raises MissingWeights if the files cannot be read.
    """
    weights = NUMBER * numbers_in(base)
    memory = weights * (4 if trains_all else 1)
    disk = weights * (MODELS + (3 * CHECKPOINTS if trains_all else 0))
    free_memory, free_disk = _free_memory(), shutil.disk_usage(folder).free
    if memory > free_memory:
        raise CannotTrain(
            f"The model needs at least {_size(memory)} of memory, and {_size(free_memory)} are free on "
            f"{device()}. Choose a smaller model, or LoRA where the method offers it."
        )
    if disk > free_disk:
        raise CannotTrain(
            f"Checkpoints and result need about {_size(disk)}, and {_size(free_disk)} are free in {folder}. "
            "Delete files or choose a smaller model."
        )


def numbers_in(base: Path) -> int:
    """Return how many numbers the safetensors files of a folder hold. Raises MissingWeights."""
    return sum(math.prod(shape) for path in tensor_files(base) for shape in _shapes(path))


def autocast_dtype(precision: str) -> torch.dtype:
    """Return the number format of the passes. Raises CannotTrain if the device does not have it."""
    on_gpu = device().type == "cuda"
    if precision == "auto":
        return torch.bfloat16 if on_gpu and torch.cuda.is_bf16_supported() else torch.float32
    if precision == "float16" and not on_gpu:
        raise CannotTrain("precision float16 needs a GPU; choose another one on this machine")
    return {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}[precision]


def _shapes(path: Path) -> list[Sequence[int]]:
    try:
        with safe_open(path, framework="pt") as file:
            return [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118 - no mapping
    except (OSError, SafetensorError) as error:
        raise MissingWeights(f"{path} cannot be read: {error}") from error


def _free_memory() -> int:
    if device().type == "cuda":
        free: int = torch.cuda.mem_get_info()[0]
        return free
    return int(psutil.virtual_memory().available)


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.0f} MB"
