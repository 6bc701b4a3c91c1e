"""The models on this machine, usable or to be converted."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scoring.weights.hub import snapshots
from scoring.weights.model_files import HUB_ID, PICKLED, TABLES, MissingWeights, places, snapshot, weights_dir

DEPTH = 4
"""Levels of folders below WEIGHTS_DIR to search for models."""


@dataclass(frozen=True, slots=True)
class Installed:
    model: str
    """Its name in parameters."""
    folder: Path
    is_whole: bool = True
    """False if its download is incomplete."""

    @property
    def is_usable(self) -> bool:
        return self.is_whole and any(self.folder.glob("*.safetensors"))

    @property
    def is_pickled(self) -> bool:
        """Return whether the weights must be converted before use."""
        return not self.is_usable and any(path.suffix in PICKLED for path in self.folder.iterdir())


def installed() -> Iterator[Installed]:
    """Yield folders in WEIGHTS_DIR with weights, then the models downloaded from the hub."""
    root = weights_dir()
    for folder in _folders(root):
        yield Installed(folder.relative_to(root).as_posix(), folder)
    for model, folder in snapshots():
        repository, _, revision = model.partition("@")
        yield Installed(model, folder, snapshot(repository, revision or None) is not None)


def tables() -> Iterator[str]:
    """Yield names of the tables in WEIGHTS_DIR that can accompany a model."""
    root = weights_dir()
    files = (Path(folder, name) for folder, _, names in os.walk(root) for name in names)
    yield from sorted(path.relative_to(root).as_posix() for path in files if path.suffix in TABLES)


def source_of(model: str) -> Path:
    """Return the file or folder that `model` names, as `locate` does, but in any format.

    Raises MissingWeights.
    """
    for place in places(model):
        if place.exists():
            return place
    hub_id = HUB_ID.fullmatch(model)
    downloaded = snapshot(hub_id["repository"], hub_id["revision"]) if hub_id else None
    if downloaded is None:
        raise MissingWeights(
            f"There is no file or folder {model!r}, neither here nor in {weights_dir()}, and no downloaded "
            "model with this id."
        )
    return downloaded


def _folders(root: Path) -> Iterator[Path]:
    """Yield the folders with weights, down to DEPTH, without those inside them and hidden ones."""
    for place, folders, names in os.walk(root, followlinks=True):
        folder = Path(place)
        if folder != root and any(Path(name).suffix in (".safetensors", *PICKLED) for name in names):
            folders.clear()
            yield folder
        elif len(folder.relative_to(root).parts) == DEPTH:
            folders.clear()
        folders[:] = sorted(each for each in folders if not each.startswith("."))
