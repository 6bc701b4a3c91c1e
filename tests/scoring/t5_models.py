"""Tiny T5 and mT5 models as files: with gains, untied output matrices and labels as pieces."""

import functools
import json
import shutil
import tempfile
from pathlib import Path

from tests.scoring.tiny_models import tiny_model

LABELS = ("0", "1", "2")


def t5_model(kind: str, *, untied: bool = False, stated: dict | None = None, **changes) -> Path:
    """Create a new folder on each call. Each norm has a gain, so that leaving it out changes results.

    `untied` gives the file an output matrix, as in T5 1.1 and mT5; the library cannot write one that it has
    not read. `stated` goes into config.json, `changes` into the configuration that the model is built from.
    """
    import torch
    from safetensors.torch import load_file, save_file

    folder = Path(tempfile.mkdtemp(prefix=f"{kind}-"))
    shutil.copytree(tiny_model(kind, **changes), folder, dirs_exist_ok=True)
    drawn = torch.Generator().manual_seed(1)
    tensors = load_file(folder / "model.safetensors")
    for name, tensor in tensors.items():
        if tensor.ndim == 1:
            tensors[name] = torch.rand(tensor.shape, generator=drawn) + 0.5
    config = json.loads((folder / "config.json").read_text())
    if untied:
        tensors["lm_head.weight"] = 0.3 * torch.randn(tensors["shared.weight"].shape, generator=drawn)
        config["tie_word_embeddings"] = False
        config.pop("scale_decoder_outputs", None)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(config | (stated or {})))
    return folder


@functools.cache
def label_model(
    kind: str = "mt5", labels: tuple[str, ...] = LABELS, *, untied: bool = True, **changes
) -> Path:
    """Return a cached model whose vocabulary has each of `labels` as one piece, like mT5's."""
    folder = t5_model(kind, untied=untied, **changes)
    tokenizer = json.loads((folder / "tokenizer.json").read_text())
    vocabulary = tokenizer["model"]["vocab"]
    for place, label in enumerate(labels, start=1):
        vocabulary[-place] = [f"▁{label}", 0.0]
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return folder
