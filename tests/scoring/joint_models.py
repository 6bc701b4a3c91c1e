"""Tiny UniTE and UMSE models in the layout of their authors' checkpoints, with random weights."""

import functools
import json
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.scoring.tiny_models import HEADS, HIDDEN, LAYERS, tiny_model

PREFIX_ROWS = 5


@functools.cache
def tiny_unite(seed: int = 0) -> Path:
    return _folder("xlm-roberta", outputs=1, seed=seed)


@functools.cache
def tiny_umse(seed: int = 0) -> Path:
    return _folder("roberta", outputs=2, seed=seed, prefix_rows=PREFIX_ROWS)


def changed(folder: Path, *, settings: tuple[str, dict[str, Any]] | None = None, **tensors: Any) -> Path:
    """Copy the folder with one settings file or some tensors replaced; None removes a tensor."""
    from safetensors.torch import load_file, save_file

    copy = Path(tempfile.mkdtemp(prefix="changed-"))
    shutil.copytree(folder, copy, dirs_exist_ok=True)
    found = load_file(copy / "model.safetensors") | tensors
    save_file({name: each for name, each in found.items() if each is not None}, copy / "model.safetensors")
    if settings:
        (copy / settings[0]).write_text(json.dumps(settings[1]))
    return copy


def outputs_by_definition(
    folder: Path, texts: Sequence[str], *, regional: bool = False, restart: bool = False
) -> list[float]:
    """Compute the estimator's outputs as the papers define them, with the library's encoder.

    The texts must fit without a cut.
    """
    import torch
    import transformers
    from safetensors.torch import load_file

    tensors = load_file(folder / "model.safetensors")
    encoder = transformers.AutoModel.from_pretrained(folder).eval()
    encoder.load_state_dict(
        {name: tensors.get(f"encoder.model.{name}", each) for name, each in encoder.state_dict().items()}
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    segments = [tokenizer(text)["input_ids"] for text in texts]
    for segment in segments[1:]:
        segment[0] = tokenizer.sep_token_id
    ids = [token for segment in segments for token in segment]
    options: dict[str, Any] = {}
    if restart:
        options["position_ids"] = torch.tensor([[place for each in segments for place in range(len(each))]])
    if regional:
        owner = torch.tensor([number for number, segment in enumerate(segments) for _ in segment])
        apart = (owner[:, None] * owner[None] == 2)[None, None]
        options["attention_mask"] = torch.zeros(apart.shape).masked_fill(apart, -1e9)
    if "encoder.prefix_encoder.embedding.weight" in tensors:
        options["past_key_values"] = _as_past(tensors["encoder.prefix_encoder.embedding.weight"])
    weights = [tensors[f"layerwise_attention.scalar_parameters.{layer}"] for layer in range(LAYERS + 1)]
    with torch.no_grad():
        states = encoder(torch.tensor([ids]), output_hidden_states=True, **options).hidden_states
        mixed = tensors["layerwise_attention.gamma"] * sum(
            share * (layer[0, 0] - layer.mean()) / layer.std(unbiased=False)
            for share, layer in zip(torch.cat(weights).softmax(dim=0), states, strict=True)
        )
        for number in (0, 3, 6):
            mixed = tensors[f"estimator.ff.{number}.weight"] @ mixed + tensors[f"estimator.ff.{number}.bias"]
            mixed = mixed if number == 6 else mixed.tanh()
    outputs: list[float] = mixed.tolist()
    return outputs


def _as_past(prefix: Any) -> Any:
    """Return prefix rows in the library's form of keys and values of earlier tokens."""
    from transformers import DynamicCache

    past = DynamicCache()
    by_head = prefix.view(1, len(prefix), LAYERS * 2, HEADS, HIDDEN // HEADS).permute(2, 0, 3, 1, 4)
    for layer in range(LAYERS):
        past.update(by_head[2 * layer], by_head[2 * layer + 1], layer)
    return past


def _folder(kind: str, outputs: int, seed: int, prefix_rows: int = 0) -> Path:
    import torch
    from safetensors.torch import load_file, save_file

    folder = Path(tempfile.mkdtemp(prefix=f"tiny-{kind}-joint-"))
    shutil.copytree(tiny_model(kind), folder, dirs_exist_ok=True)
    draw = torch.Generator().manual_seed(seed)
    encoder = load_file(folder / "model.safetensors")
    # Untrained layer norms give every sequence mean 0 and deviation 1, so normalising would do nothing.
    encoder = {
        name: each + torch.randn(each.shape, generator=draw) / 2 if "LayerNorm" in name else each
        for name, each in encoder.items()
    }
    tensors = {f"encoder.model.{name}": each for name, each in encoder.items()}
    # Checkpoints of older library versions have these too.
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
