"""Models and tokenizers from a folder: safetensors only, without running code from it."""

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from safetensors.torch import load_file
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from scoring.neural.device import DTYPES, device
from scoring.weights.model_files import MissingWeights, first_line, shortened, tensor_files

transformers.utils.logging.set_verbosity_error()
transformers.utils.logging.disable_progress_bar()


LEAST_VOCABULARY = 16
"""Fewest pieces beside special tokens; bytes alone would be 256."""
UNREADABLE = (
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    RuntimeError,
    SafetensorError,
    StrictDataclassError,
)
"""The exceptions that the libraries raise for files that are missing, damaged, or JSON of another form."""
NOT_OF_TRAINING = re.compile(
    r"(^|\.)("
    r"(attn|attention)\.(masked_)?bias|causal_mask|position_ids|rotary_emb\.inv_freq|embed_positions\.weights|version"
    r")$"
)
"""Names of the masks, positions and versions that earlier releases of the library stored beside weights."""


def load_tokenizer(folder: Path, *, reads_specials: bool = False) -> PreTrainedTokenizerBase:
    """Return the folder's tokenizer. Raises MissingWeights if it cannot be loaded.

    Unless `reads_specials`, text that looks like a special token, such as `</s>`, is plain text.
    """
    try:
        found: PreTrainedTokenizerBase = transformers.AutoTokenizer.from_pretrained(
            folder, local_files_only=True, trust_remote_code=False, split_special_tokens=not reads_specials
        )
    except UNREADABLE as error:
        raise MissingWeights(f"The tokenizer in {folder} cannot be loaded: {_said(error)}.") from error
    except Exception as error:  # what the library of tokenizers raises has no class of its own
        raise MissingWeights(
            f"The tokenizer in {folder} cannot be loaded: its tokenizer.json is none that tokenizers "
            f"{tokenizers.__version__} reads ({first_line(error)})."
        ) from error
    # Without a vocabulary the library makes one up, to which all words are unknown.
    if len(found.get_vocab().keys() - set(found.all_special_tokens)) < LEAST_VOCABULARY:
        raise MissingWeights(
            f"The tokenizer in {folder} cannot be loaded: its vocabulary (tokenizer.json, vocab.txt, "
            "*.model) is missing."
        )
    found.model_max_length = _limit(found.model_max_length, folder)
    return found


def _limit(stated: Any, folder: Path) -> int:
    """Return the longest input in tokens; the library states a missing one as 1e30. Raises MissingWeights."""
    is_number = isinstance(stated, int | float) and not isinstance(stated, bool)
    if not is_number or stated < 1 or stated % 1 != 0:
        raise MissingWeights(
            f"{folder / 'tokenizer_config.json'} says model_max_length is {shortened(json.dumps(stated))}; "
            "expected a whole number of at least 1."
        )
    return int(stated)


def load_config(folder: Path) -> Any:
    """Return the folder's configuration. Raises MissingWeights if it cannot be read."""
    try:
        return transformers.AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except UNREADABLE as error:
        raise MissingWeights(f"The configuration in {folder} cannot be read: {_said(error)}.") from error


def load_encoder(folder: Path, precision: str, may_lack: tuple[str, ...] = ()) -> PreTrainedModel:
    """Return the folder's encoder as `load_model` does. Raises MissingWeights for one with a decoder, too."""
    config = load_config(folder)
    if config.is_encoder_decoder:
        raise MissingWeights(
            f"The model in {folder} is of the kind {config.model_type}, an encoder with a decoder; an "
            "encoder alone is needed, such as BERT or RoBERTa."
        )
    return load_model(folder, precision=precision, may_lack=may_lack)


def load_model(
    folder: Path,
    model_class: Any = transformers.AutoModel,
    precision: str = "float32",
    *,
    may_lack: tuple[str, ...] = (),
    unused: tuple[str, ...] = (),
    **options: Any,
) -> PreTrainedModel:
    """Return the folder's model as `model_class` builds it, on the device, in evaluation mode.

    Raises MissingWeights if files are missing or damaged, hold NaN, lack parameters, which would be random,
    or hold more than the configuration states, which would be cut. `may_lack` has the beginnings of names
    that may be missing or differ, also within a model's encoder; `unused` those of further weights beside
    the model's. Heads that the model has no part for are ignored: many encoders are published with one.
    """
    tensor_files(folder)  # since the library's errors about an index do not name it
    try:
        model, info = model_class.from_pretrained(
            folder,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
            dtype=DTYPES[precision],
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # refused below, by name
            **options,
        )
    except UNREADABLE as error:
        raise MissingWeights(f"The model in {folder} cannot be loaded: {_said(error)}.") from error
    spared = (*may_lack, *(f"{model.base_model_prefix}.{name}" for name in may_lack))
    missing = sorted(name for name in info["missing_keys"] if not name.startswith(spared))
    if missing:
        raise MissingWeights(
            f"The files in {folder} lack weights that a {type(model).__name__} needs, such as "
            f"{shortened(missing[0])}; they would be random. Is it the right model?"
        )
    _refuse_other_shapes([each for each in info["mismatched_keys"] if not each[0].startswith(spared)], folder)
    beyond = _within(model, info["unexpected_keys"])
    refuse_unused([name for name in beyond if not name.startswith((*spared, *unused))], folder)
    moved: PreTrainedModel = model.to(device()).eval()
    _refuse_not_finite(moved.state_dict(), folder, spared)
    return moved


def load_tensors(
    folder: Path, name: str = "model.safetensors", unread: tuple[str, ...] = ()
) -> Mapping[str, torch.Tensor]:
    """Return tensors by name, on the CPU, from a file of the folder or its parts.

    Raises MissingWeights, also if one holds NaN, unless its name begins with one of `unread`.
    """
    try:
        found = {
            key: tensor for path in tensor_files(folder, name) for key, tensor in load_file(path).items()
        }
    except UNREADABLE as error:
        raise MissingWeights(f"{folder / name} cannot be read: {_said(error)}.") from error
    _refuse_not_finite(found, folder, unread)
    return found


def fill(module: torch.nn.Module, tensors: Mapping[str, torch.Tensor], folder: Path) -> None:
    """Load `tensors` into `module`, each parameter exactly once. Raises MissingWeights."""
    needed = module.state_dict()
    if absent := sorted(needed.keys() - tensors.keys()):
        raise MissingWeights(f"The weights in {folder} do not fit: {shortened(absent[0])} is missing.")
    if unknown := sorted(tensors.keys() - needed.keys()):
        raise MissingWeights(f"The weights in {folder} do not fit: {shortened(unknown[0])} has no place.")
    shapes = [(name, tensor.shape, needed[name].shape) for name, tensor in tensors.items()]
    _refuse_other_shapes(shapes, folder)
    module.load_state_dict(dict(tensors), strict=True)


def refuse_unfit(model: PreTrainedModel, tensors: Mapping[str, torch.Tensor], folder: Path) -> None:
    """Raise MissingWeights if `tensors` hold more than `model`, or have other shapes; none need be there."""
    own = model.state_dict()
    shared = sorted(tensors.keys() & own.keys())
    _refuse_other_shapes([(name, tensors[name].shape, own[name].shape) for name in shared], folder)
    refuse_unused(_within(model, tensors.keys() - own.keys()), folder)


def refuse_unused(names: Iterable[str], folder: Path) -> None:
    """Raise MissingWeights if there are names of weights for which the configuration has no place."""
    unused = sorted(name for name in names if not NOT_OF_TRAINING.search(name))
    if unused:
        raise MissingWeights(
            f"The files in {folder} hold weights for which config.json has no place, such as "
            f"{shortened(unused[0])} ({len(unused):,} in all); the model would be cut. Does config.json "
            "belong to the weights?"
        )


def _refuse_other_shapes(shapes: Iterable[tuple[str, torch.Size, torch.Size]], folder: Path) -> None:
    """Raise MissingWeights if a weight has another shape in the files, the first, than in the model."""
    for name, stored, needed in sorted(shapes):
        if stored != needed:
            found, expected = (" x ".join(map(str, each)) or "a single number" for each in (stored, needed))
            raise MissingWeights(
                f"The weights in {folder} do not fit: {shortened(name)} is {found}, and {expected} is "
                "needed. Does config.json belong to the weights?"
            )


def _within(model: PreTrainedModel, names: Iterable[str]) -> list[str]:
    """Return those names that belong to a part that the model has, with or without its base model's name."""
    base = model.base_model
    parts = {part for module in (model, base) for part, _ in module.named_children()}
    prefix = f"{model.base_model_prefix}."
    return [name for name in names if name.removeprefix(prefix).partition(".")[0] in parts]


def _refuse_not_finite(tensors: Mapping[str, torch.Tensor], folder: Path, but: tuple[str, ...] = ()) -> None:
    """Raise MissingWeights if a tensor, except those whose names begin with `but`, holds NaN or infinity.

    Torch's kernel of attention gives 0 for a query or key of NaN, so that the pass's end does not show it.
    """
    for name, tensor in tensors.items():
        if not tensor.is_floating_point() or name.startswith(but or ("\0",)):
            continue
        # A sum costs a twentieth of looking at each number, but large ones may exceed its range.
        if not tensor.sum().isfinite() and not tensor.isfinite().all():
            raise MissingWeights(
                f"The weights in {folder} hold NaN or infinity, such as in {shortened(name)}. Are the files "
                "damaged?"
            )


def _said(error: Exception) -> str:
    """Return the error's first line without a full stop; for a KeyError which entry is missing."""
    if isinstance(error, StrictDataclassError) and isinstance(error.__cause__, Exception):
        return _said(error.__cause__)  # its own first line does not say what is wrong
    if isinstance(error, KeyError):
        return f"the entry {error} is missing in one of its files"
    return first_line(error).removesuffix(".")
