"""The models on this machine, whether they can be used as they are or have to be converted."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from scoring.hub import snapshots
from scoring.weights import HUB_ID, PICKLED, TABLES, MissingWeights, places, snapshot, weights_dir

DEPTH = 4
"""Levels of folders below WEIGHTS_DIR in which models are looked for."""


@dataclass(frozen=True, slots=True)
class Installed:
    model: str
    """The name by which parameters find it."""
    folder: Path
    is_whole: bool = True
    """False where a download was not completed."""

    @property
    def is_usable(self) -> bool:
        return self.is_whole and any(self.folder.glob("*.safetensors"))

    @property
    def is_pickled(self) -> bool:
        """Whether it has to be converted before it can be used."""
        return not self.is_usable and any(path.suffix in PICKLED for path in self.folder.iterdir())


def installed() -> Iterator[Installed]:
    """Folders in WEIGHTS_DIR that have weights, then what was downloaded from the hub."""
    root = weights_dir()
    if root.is_dir():
        for folder in _folders(root, DEPTH):
            yield Installed(folder.relative_to(root).as_posix(), folder)
    for each in snapshots():
        repository, _, revision = each.model.partition("@")
        yield Installed(each.model, each.folder, snapshot(repository, revision or None) is not None)


def tables() -> Iterator[str]:
    """Names of the tables in WEIGHTS_DIR that can go with a model."""
    root = weights_dir()
    files = (Path(folder, name) for folder, _, names in os.walk(root) for name in names)
    yield from sorted(path.relative_to(root).as_posix() for path in files if path.suffix in TABLES)


def source_of(model: str) -> Path:
    """The file or folder that `model` names, as `locate` would find it, but of whatever form.

    Raises MissingWeights.
    """
    for place in places(model):
        if place.exists():
            return place
    hub_id = HUB_ID.fullmatch(model)
    downloaded = snapshot(hub_id["repository"], hub_id["revision"]) if hub_id else None
    if downloaded is None:
        raise MissingWeights(
            f"There is no file or folder {model!r}, neither from here nor in {weights_dir()}, and no model "
            "that was downloaded by this id."
        )
    return downloaded


def _folders(folder: Path, depth: int) -> Iterator[Path]:
    for child in _entries(folder):
        if not child.is_dir() or child.name.startswith("."):
            continue
        if any(path.suffix in (".safetensors", *PICKLED) for path in _entries(child)):
            yield child
        elif depth > 1:
            yield from _folders(child, depth - 1)


def _entries(folder: Path) -> list[Path]:
    """In order; none of a folder that was just removed or may not be read, as it can serve nobody."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []
