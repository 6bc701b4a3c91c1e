"""The models trained here or imported: folders in WEIGHTS_DIR/trained, each with a card. Loads no torch."""

import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from scoring.weights.model_card import ModelCard, read_card
from scoring.weights.model_files import MissingWeights, weights_dir

TRAINED = "trained"


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
