"""Checks that the machine can hold a training: memory and disk. Loads torch only to ask a GPU."""

import math
import shutil
from collections.abc import Sequence
from pathlib import Path

import psutil
from safetensors import SafetensorError, safe_open

from scoring.trainers.contract import CannotTrain
from scoring.weights.model_files import MissingWeights, tensor_files

NUMBER = 4
"""Bytes of a number in float32."""
CHECKPOINTS = 3
"""Checkpoints stored at the same time: the best, the latest, and one being written."""
MODELS = 2
"""Models stored at the same time: the result, and one being written."""
CGROUPS = Path("/sys/fs/cgroup")
"""The folder of a container's limits, as the container sees it."""
_LIMITS = (
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    (
        "memory/memory.limit_in_bytes",
        "memory/memory.usage_in_bytes",
        "memory/memory.stat",
        "total_inactive_file",
    ),
)
"""Limit, use, figures, and the name of the figure of droppable files, in versions 2 and 1."""


def check_resources(base: Path, folder: Path, *, trains_all: bool) -> None:
    """Raise CannotTrain if memory or the disk of `folder` cannot hold the training of the model in `base`.

    Counts as `memory_problem`. Raises MissingWeights if the files cannot be read.
    """
    weights = NUMBER * numbers_in(base)
    disk = weights * (MODELS + (3 * CHECKPOINTS if trains_all else 0))
    free_disk = shutil.disk_usage(folder).free
    if problem := memory_problem(base, *_training_memory(), trains_all=trains_all):
        raise CannotTrain(problem)
    if disk > free_disk:
        raise CannotTrain(
            f"Checkpoints and result need about {_size(disk)}, and {_size(free_disk)} are free in {folder}. "
            "Delete files or choose a smaller model."
        )


def memory_problem(base: Path, free: int, place: str, *, trains_all: bool) -> str:
    """Return why `free` bytes are too few to train the model in `base`, or an empty text.

    Counts weights and, with `trains_all`, their gradients and AdamW's two moments, but no activations, which
    depend on the texts. `place` says where the memory is. Raises MissingWeights if the files cannot be read.
    """
    memory = NUMBER * numbers_in(base) * (4 if trains_all else 1)
    if memory <= free:
        return ""
    return (
        f"The model needs at least {_size(memory)} of memory, and {_size(free)} are free on {place}. "
        "Choose a smaller model, or LoRA where the method offers it."
    )


def free_memory() -> int:
    """Return the free bytes of main memory: the machine's, or the container's where that is less."""
    return min([int(psutil.virtual_memory().available), *_free_in_container()])


def numbers_in(base: Path) -> int:
    """Return how many numbers the safetensors files of a folder hold. Raises MissingWeights."""
    return sum(math.prod(shape) for path in tensor_files(base) for shape in _shapes(path))


def _shapes(path: Path) -> list[Sequence[int]]:
    try:
        with safe_open(path, framework="np") as file:
            return [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118 - no mapping
    except (OSError, SafetensorError) as error:
        raise MissingWeights(f"{path} cannot be read: {error}") from error


def _training_memory() -> tuple[int, str]:
    """Return the free bytes of the device that trains, and its name."""
    import torch

    from scoring.neural.device import device

    free = torch.cuda.mem_get_info()[0] if device().type == "cuda" else free_memory()
    return free, str(device())


def _free_in_container() -> list[int]:
    """Return the bytes that each limit of the container leaves; none where there is no limit."""
    found = []
    for limit, use, figures, droppable in _LIMITS:
        try:
            most, used = (int((CGROUPS / name).read_text()) for name in (limit, use))
            stated = dict(line.split() for line in (CGROUPS / figures).read_text().splitlines())
        except (OSError, ValueError):  # version 2 says "max" for no limit
            continue
        # The kernel drops files that were not read for long before it refuses memory.
        found.append(max(0, most - used + int(stated.get(droppable, 0))))
    return found


def _size(count: int) -> str:
    return f"{count / 1e9:.1f} GB" if count >= 1e8 else f"{count / 1e6:.0f} MB"
