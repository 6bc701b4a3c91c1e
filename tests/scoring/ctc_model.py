"""A tiny model that serves all three of CTC's aligners."""

import functools
import shutil
import tempfile
from pathlib import Path
from typing import Any

from tests.scoring.tiny_models import HIDDEN, tiny_model


@functools.cache
def ctc_model(kind: str = "roberta", seed: int = 0, **changes: Any) -> Path:
    """Return the folder of a tiny encoder with both linear layers, different ones for each seed.

    `changes` go into the encoder's configuration.
    """
    import torch
    from safetensors.torch import save_file

    folder = Path(tempfile.mkdtemp(prefix="tiny-ctc-")) / "model"
    shutil.copytree(tiny_model(kind, **changes), folder)
    generator = torch.Generator().manual_seed(seed)
    for name, outputs in (("classifier", 2), ("dense", 1)):
        weight = torch.randn(outputs, HIDDEN, generator=generator)
        save_file({"weight": weight, "bias": torch.zeros(outputs)}, folder / f"{name}.safetensors")
    return folder
