"""Conversion of pickled checkpoints to safetensors, without running code from them."""

import json
import os
import pickle
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import torch
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from scoring.weights.model_files import COUNTED, PICKLED, first_line

MAIN = "model"
INDEX = "pytorch_model.bin.index.json"
LAYERS = ("state_dict", "model_state_dict", "model")
"""Keys under which training frameworks store a model's tensors."""
OF_TRAINING = re.compile(r"(training_args|optimizer|scheduler|scaler|rng_state(_\d+)?)\.(bin|pt|pth)")
"""Files of a training program beside the model."""
BESIDE_TENSORS = ("argparse.Namespace", "numpy.", "pathlib.", "pytorch_lightning.", "lightning.")
"""Beginnings of the names of classes and functions whose objects are left out; others are refused."""
CONFIG = "config.json"
BERT_CONFIG = "bert_config.json"
"""The configuration's name in folders of BERT's authors, which does not say the kind of model."""


class NotConvertible(ValueError):
    """The checkpoint cannot be converted; the message says why."""


@dataclass(frozen=True, slots=True)
class Converted:
    folder: Path
    tensors: Mapping[str, int]
    """File written -> number of its tensors."""
    copied: tuple[str, ...]
    """Files of configuration and vocabulary."""
    left_out: tuple[str, ...]
    """Names of tensors that belong to none of the parts."""


def convert(
    source: Path, target: Path, *, configuration: Path | None = None, parts: Mapping[str, str] | None = None
) -> Converted:
    """Write the tensors of `source`, a pickled file or a folder with one, as safetensors into `target`.

    `target` is a new or empty folder; it appears complete or not at all. Names stay unchanged. `parts`
    (prefix of names -> name of a file) splits tensors into several files, each without its prefix.
    Configuration and vocabulary are copied from `configuration`, by default from beside the weights;
    bert_config.json becomes config.json. What was written is read back and compared. Raises NotConvertible
    and OSError.
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise NotConvertible(f"{target} already exists and is not overwritten. Choose a new folder")
    state = _without_wrapping(dict(_state(source)))
    files, left_out = _distributed(state, parts or {"": MAIN})
    beside = configuration or (source if source.is_dir() else source.parent)
    if not any((beside / name).is_file() for name in (CONFIG, BERT_CONFIG)):
        raise NotConvertible(
            f"there is no config.json in {beside}; name a folder with the model's configuration and "
            "vocabulary, such as that of the encoder it was trained from (--configuration)"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}-") as scratch:
        folder = Path(scratch) / "model"
        folder.mkdir()
        for name, tensors in files.items():
            _write(folder / f"{name}.safetensors", tensors)
        copied = [path for path in sorted(beside.iterdir()) if _is_configuration(path)]
        for path in copied:
            shutil.copyfile(path, folder / path.name)
        if not (folder / CONFIG).exists():
            config = json.loads((folder / BERT_CONFIG).read_text(encoding="utf-8")) | {"model_type": "bert"}
            (folder / CONFIG).write_text(json.dumps(config, indent=2), encoding="utf-8")
        os.replace(folder, target)
    return Converted(
        target,
        {f"{name}.safetensors": len(tensors) for name, tensors in files.items()},
        tuple(path.name for path in copied),
        left_out,
    )


def _state(source: Path) -> Iterator[tuple[str, torch.Tensor]]:
    for path in _pickled_files(source):
        yield from _tensors(path).items()


def _pickled_files(source: Path) -> list[Path]:
    if source.is_file():
        return [source]
    if not source.is_dir():
        raise NotConvertible(f"there is no file and no folder {source}")
    if (source / INDEX).is_file():
        listed = json.loads((source / INDEX).read_text(encoding="utf-8"))["weight_map"].values()
        return [source / name for name in sorted(set(listed))]
    found = sorted(
        path for path in source.iterdir() if path.suffix in PICKLED and not OF_TRAINING.fullmatch(path.name)
    )
    if len(found) != 1:
        raise NotConvertible(
            f"{source} has {len(found)} pickled files of weights"
            + (f" ({', '.join(path.name for path in found)}); name one of them" if found else "")
        )
    return found


class _LeftOut:
    """An object beside the tensors, without its content: takes any arguments and state, and does nothing."""

    def __new__(cls, *_: object) -> Self:
        return super().__new__(cls)

    def __init__(self, *_: object) -> None: ...

    def __setstate__(self, _: object) -> None: ...


def _loaded(path: Path) -> object:
    """Return what the file holds; nothing of it is run, and objects in BESIDE_TENSORS lose their content."""
    left_out: set[str] = set()
    while True:
        try:
            with torch.serialization.safe_globals([(_LeftOut, name) for name in sorted(left_out)]):
                return torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))
        except pickle.UnpicklingError as error:
            named = re.search(r"GLOBAL (\S+)", str(error))
            if named and named[1].startswith(BESIDE_TENSORS) and named[1] not in left_out:
                left_out.add(named[1])
                continue
            found = f" ({named[1]})" if named else ""
            raise NotConvertible(
                f"{path} holds more than tensors{found}, which could run code, so it is not loaded. If you "
                "trust it, load it where it was made and save only its tensors: "
                "torch.save(checkpoint['state_dict'], 'weights.bin')"
            ) from error
        except (RuntimeError, EOFError, ValueError, LookupError, TypeError, AttributeError) as error:
            raise NotConvertible(
                f"{path} is no checkpoint that torch can read: {first_line(error)}"
            ) from error


def _tensors(path: Path) -> Mapping[str, torch.Tensor]:
    content = _loaded(path)
    for layer in LAYERS:
        if isinstance(content, Mapping) and isinstance(content.get(layer), Mapping):
            content = content[layer]
    if not isinstance(content, Mapping) or not content:
        raise NotConvertible(f"{path} holds no tensors by name, but a {type(content).__name__}")
    others = [str(name) for name, value in content.items() if not isinstance(value, torch.Tensor)]
    if others:
        raise NotConvertible(f"{path} holds entries that are no tensors: {', '.join(others[:5])}")
    return content


def _without_wrapping(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the tensors without the prefix that training on several devices puts before every name."""
    word = "module."
    return (
        {name.removeprefix(word): tensor for name, tensor in state.items()}
        if all(name.startswith(word) for name in state)
        else state
    )


def _distributed(
    state: Mapping[str, torch.Tensor], parts: Mapping[str, str]
) -> tuple[dict[str, dict[str, torch.Tensor]], tuple[str, ...]]:
    files: dict[str, dict[str, torch.Tensor]] = {name: {} for name in parts.values()}
    left_out = []
    for name, tensor in state.items():
        beginning = max((each for each in parts if name.startswith(each)), key=len, default=None)
        if beginning is None:
            left_out.append(name)
        else:
            files[parts[beginning]][name.removeprefix(beginning)] = tensor
    for beginning, name in parts.items():
        if not files[name]:
            raise NotConvertible(
                f"no tensor's name begins with {beginning!r}; there are {', '.join(sorted(state)[:5])}, ..."
            )
    return files, tuple(left_out)


def _write(path: Path, tensors: Mapping[str, torch.Tensor]) -> None:
    """Write the tensors and compare them with what reads back; tied tensors are written once per name."""
    apart = {}
    memories = set()
    for name, tensor in tensors.items():
        memory = tensor.untyped_storage().data_ptr()
        apart[name] = (
            tensor.contiguous()
            if memory not in memories
            else tensor.clone(memory_format=torch.contiguous_format)
        )
        memories.add(memory)
    save_file(apart, path, {"format": "pt"})
    try:
        assert_close(load_file(path), dict(tensors), rtol=0, atol=0, equal_nan=True)
    except AssertionError as error:
        raise OSError(f"{path.name} reads back otherwise than it was written: {error}") from error


def _is_configuration(path: Path) -> bool:
    return (
        path.is_file()
        and path.suffix in COUNTED
        and path.suffix != ".safetensors"
        and not path.name.endswith(".index.json")
    )
