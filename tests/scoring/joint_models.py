"""Tiny UniTE and UMSE models in the layout of their authors' checkpoints, with random weights."""

import functools
import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

from tests.scoring.tiny_models import HIDDEN, LAYERS, tiny_model

PREFIX_ROWS = 5


@functools.cache
def tiny_unite(seed: int = 0) -> Path:
    return _folder("xlm-roberta", outputs=1, seed=seed)


@functools.cache
def tiny_umse(seed: int = 0) -> Path:
    return _folder("roberta", outputs=2, seed=seed, prefix_rows=PREFIX_ROWS)


def changed(folder: Path, *, settings: tuple[str, dict[str, Any]] | None = None, **tensors: Any) -> Path:
    """A copy of the folder with a file of settings, or with tensors replaced; those that are None go."""
    from safetensors.torch import load_file, save_file

    copy = Path(tempfile.mkdtemp(prefix="changed-"))
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    found = load_file(copy / "model.safetensors") | tensors
    save_file({name: each for name, each in found.items() if each is not None}, copy / "model.safetensors")
    if settings:
        (copy / settings[0]).write_text(json.dumps(settings[1]))
    return copy


def _folder(kind: str, outputs: int, seed: int, prefix_rows: int = 0) -> Path:
    import torch
    from safetensors.torch import load_file, save_file

    folder = Path(tempfile.mkdtemp(prefix=f"tiny-{kind}-joint-"))
    shutil.copytree(tiny_model(kind), folder, dirs_exist_ok=True)
    draw = torch.Generator().manual_seed(seed)
    encoder = load_file(folder / "model.safetensors")
    # Untrained layer norms leave every sequence with mean 0 and deviation 1: nothing left to normalise.
    encoder = {
        name: each + torch.randn(each.shape, generator=draw) / 2 if "LayerNorm" in name else each
        for name, each in encoder.items()
    }
    tensors = {f"encoder.model.{name}": each for name, each in encoder.items()}
    # Checkpoints of older versions of the library hold these too.
    tensors["encoder.model.embeddings.position_ids"] = torch.arange(514)[None]
    if prefix_rows:
        tensors["encoder.prefix_encoder.embedding.weight"] = torch.randn(
            prefix_rows, LAYERS * 2 * HIDDEN, generator=draw
        )
    for layer in range(LAYERS + 1):
        tensors[f"layerwise_attention.scalar_parameters.{layer}"] = torch.randn(1, generator=draw)
    tensors["layerwise_attention.gamma"] = torch.tensor([1.1])
    tensors["layerwise_attention.dropout_mask"] = torch.zeros(LAYERS + 1)
    for number, (rows, columns) in zip((0, 3, 6), ((24, HIDDEN), (12, 24), (outputs, 12)), strict=True):
        tensors[f"estimator.ff.{number}.weight"] = torch.randn(rows, columns, generator=draw) / columns**0.5
        tensors[f"estimator.ff.{number}.bias"] = torch.randn(rows, generator=draw)
    save_file(tensors, folder / "model.safetensors")
    return folder
