"""Models and tokenizers from a folder: safetensors only, no code from it, nothing left to chance."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError
from safetensors.torch import load_file
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from scoring.neural.device import DTYPES, device
from scoring.weights import MissingWeights

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()


LEAST_VOCABULARY = 16
"""Pieces beside special tokens; bytes alone would be 256."""


def load_tokenizer(folder: Path, *, reads_specials: bool = False) -> PreTrainedTokenizerBase:
    """The folder's tokenizer. Raises MissingWeights where the folder has none that can be read.

    What looks like a special token in a text, such as `</s>`, is text like any other and ends or separates
    nothing, unless `reads_specials`.
    """
    try:
        found: PreTrainedTokenizerBase = transformers.AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False, split_special_tokens=not reads_specials
        )
    except (OSError, ValueError) as error:
        raise MissingWeights(f"The tokenizer in {folder} cannot be loaded: {_first_line(error)}") from error
    # Where the vocabulary is missing the library makes one up, to which all words are unknown.
    if len(found.get_vocab().keys() - set(found.all_special_tokens)) < LEAST_VOCABULARY:
        raise MissingWeights(
            f"The tokenizer in {folder} cannot be loaded: its vocabulary (tokenizer.json, vocab.txt, "
            "*.model) is missing."
        )
    return found


def model_type(folder: Path) -> str:
    """The architecture in the words of the folder's configuration, such as bart. Raises MissingWeights."""
    try:
        config = transformers.AutoConfig.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False
        )
    except (OSError, ValueError) as error:
        raise MissingWeights(f"The model in {folder} cannot be loaded: {_first_line(error)}") from error
    found: str = config.model_type
    return found


def load_model(
    folder: Path,
    model_class: Any = transformers.AutoModel,
    precision: str = "float32",
    *,
    may_lack: tuple[str, ...] = (),
    **options: Any,
) -> PreTrainedModel:
    """The folder's model as `model_class` builds it, on the device, in evaluation mode.

    Raises MissingWeights where files are missing or damaged, and where the model has parameters that the
    files lack, since they would be random; `may_lack` has the beginnings of names that play no part.
    """
    try:
        model, info = model_class.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            dtype=DTYPES[precision],
            output_loading_info=True,
            **options,
        )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise MissingWeights(f"The model in {folder} cannot be loaded: {_first_line(error)}") from error
    missing = sorted(name for name in info["missing_keys"] if not name.startswith(may_lack or ("\0",)))
    if missing:
        raise MissingWeights(
            f"The files in {folder} lack weights that a {type(model).__name__} needs, such as {missing[0]}; "
            "they would be random. Is it the right model?"
        )
    moved: PreTrainedModel = model.to(device()).eval()
    return moved


def load_tensors(folder: Path, name: str = "model.safetensors") -> Mapping[str, torch.Tensor]:
    """Tensors by name, on the CPU, from a file of the folder or from its parts. Raises MissingWeights."""
    index = folder / f"{name}.index.json"
    found: dict[str, torch.Tensor] = {}
    try:
        parts = {name}
        if index.exists() and not (folder / name).exists():
            parts = set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values())
        for part in sorted(parts):
            found |= load_file(folder / part)
    except (OSError, ValueError, KeyError, SafetensorError) as error:
        raise MissingWeights(f"{folder / name} cannot be read: {_first_line(error)}") from error
    return found


def fill(module: torch.nn.Module, tensors: Mapping[str, torch.Tensor], folder: Path) -> None:
    """Put `tensors` into `module`, each of its parameters exactly once. Raises MissingWeights."""
    try:
        module.load_state_dict(dict(tensors), strict=True)
    except RuntimeError as error:
        raise MissingWeights(f"The weights in {folder} do not fit: {error}") from error


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
