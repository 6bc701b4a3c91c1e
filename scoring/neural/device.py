"""The device that models run on."""

import torch

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


def device() -> torch.device:
    """Return the first GPU where there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def tokens_per_batch() -> int:
    """Return how many padded tokens suit a batch; few on a CPU, so that they fit into its cache."""
    return 65_536 if device().type == "cuda" else 2_048


def is_out_of_memory(error: BaseException) -> bool:
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or (
        isinstance(error, RuntimeError) and "not enough memory" in str(error)
    )
