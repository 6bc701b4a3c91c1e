"""The models trained here or imported: folders in WEIGHTS_DIR/trained, each with a card. Loads no torch."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from scoring.weights.model_card import NAME, ModelCard, read_card
from scoring.weights.model_files import COUNTED, TABLES, TRAINED, MissingWeights, weights_dir


@dataclass(frozen=True, slots=True)
class TrainedModel:
    """A trained model on this machine."""

    name: str
    folder: Path
    card: ModelCard

    @property
    def model(self) -> str:
        """Its name in the parameters of evaluators."""
        return f"{TRAINED}/{self.name}"


def folder_of(name: str) -> Path:
    return weights_dir() / TRAINED / name


def trained_models() -> Iterator[TrainedModel]:
    """Yield the models with a readable card, by name."""
    root = weights_dir() / TRAINED
    for folder in sorted(root.iterdir()) if root.is_dir() else ():
        if not folder.name.startswith(".") and (found := trained_model(folder.name)):
            yield found


def trained_model(name: str) -> TrainedModel | None:
    """Return the model of this name, or None if there is none with a readable card."""
    with suppress(MissingWeights):
        if card := read_card(folder_of(name)):
            return TrainedModel(name, folder_of(name), card)
    return None


@contextmanager
def arriving(name: str) -> Iterator[Path]:
    """Give an empty folder, which becomes the model's when the block ends; after an error nothing is left."""
    incoming = folder_of(name).with_name(f".{name}.arriving")
    shutil.rmtree(incoming, ignore_errors=True)
    incoming.mkdir(parents=True)
    try:
        yield incoming
        incoming.rename(folder_of(name))
    finally:
        shutil.rmtree(incoming, ignore_errors=True)


def link_files(source: Path, folder: Path) -> None:
    """Link a model's files, without its card, into `folder`; copy them where that is impossible."""
    for path in sorted(source.rglob("*")):
        inside = path.relative_to(source)
        is_hidden = any(part.startswith(".") for part in inside.parts)
        if path.suffix in (*COUNTED, *TABLES) and path.is_file() and not is_hidden and inside.name != NAME:
            place = folder / inside
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(path.resolve(), place)
            except OSError:  # another disk, or a file of somebody else's
                shutil.copyfile(path, place)


def rename(name: str, new_name: str) -> None:
    """Move a model's folder to its new name. Raises OSError."""
    folder_of(name).rename(folder_of(new_name))


def install(folder: Path, name: str) -> None:
    """Copy a model's folder to its place, where it appears whole; an earlier one of this name goes."""
    place = folder_of(name)
    place.parent.mkdir(parents=True, exist_ok=True)
    incoming, outgoing = (place.with_name(f".{name}.{state}") for state in ("incoming", "outgoing"))
    for left in (incoming, outgoing):  # by a process that was killed
        shutil.rmtree(left, ignore_errors=True)
    shutil.copytree(folder, incoming)
    if place.exists():
        place.rename(outgoing)
    incoming.rename(place)
    shutil.rmtree(outgoing, ignore_errors=True)


def remove(name: str) -> None:
    """Delete a model's folder, if it is there."""
    shutil.rmtree(folder_of(name), ignore_errors=True)
