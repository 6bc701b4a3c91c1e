"""The card of a trained model: touchstone.json beside its weights. Does not load torch."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, NamedTuple

from annotation.texts.nested_json import read_json
from scoring.weights.model_files import MissingWeights, places

NAME = "touchstone.json"
FORMAT = 1
"""Version of the file; increased when an older Touchstone could not use it."""


REGISTERED = "registered"
"""The method of models that were not trained by Touchstone."""


class RegisteredAs(NamedTuple):
    """The card entries that an evaluator needs for a model that was trained elsewhere."""

    dimensions: tuple[str, ...]
    params: Mapping[str, Any]


@dataclass(frozen=True)
class ModelCard:
    """The card of a model that Touchstone trained or registered. All fields are JSON values."""

    method: str
    """Name of the trainer; `REGISTERED` for a model that was trained elsewhere."""
    title: str
    """The model in words, on one line."""
    evaluator: str
    """Name of the evaluator that scores with the weights."""
    dimensions: tuple[str, ...]
    """The dimensions of its scores."""
    base_model: str
    """The model before the training, as named in its parameters; of a registered one its folder or id."""
    weights_sha256: str
    """SHA-256 of the weights; see `weights_digest`."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the evaluator that suit the model, without `model`."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    """The settings that the evaluator needs to use the weights, such as prompts."""
    trained_with: Mapping[str, Any] = field(default_factory=dict)
    """Parameters, steps, epochs, versions of libraries, device and hours of the training."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Project or file, languages and counts; of a registered model a note."""
    warnings: tuple[str, ...] = ()
    """Sentences on training data from which the model may have learnt something else than is meant."""
    articles: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """"train" and "validation" -> text digests of the articles that the model has seen, sorted."""
    sketches: tuple[str, ...] = ()
    """Sketches of these articles, sorted, by which near-duplicates are found; see `sketch`."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """Measures of the validation examples for the saved weights."""
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Measure -> its 95% interval, in resamples of the validation articles."""


def read_card(folder: Path) -> ModelCard | None:
    """Return the card in a model's folder, or None if it has none.

    Raises MissingWeights for a card that cannot be read.
    """
    path = folder / NAME
    if not path.is_file():
        return None
    try:
        stated = read_json(path.read_text(encoding="utf-8"))
        if not isinstance(stated, dict):
            raise ValueError("it is no object")
        if stated.get("format") != FORMAT:
            raise ValueError(f"found format {stated.get('format')!r}, expected {FORMAT}")
        return as_card(stated)
    except (ValueError, TypeError, AttributeError) as error:
        raise MissingWeights(f"The card of {folder.name} cannot be read: {error}") from error


def as_card(stated: Mapping[str, Any]) -> ModelCard:
    """Return the card with these JSON values, of which it ignores unknown ones.

    Raises TypeError, ValueError or AttributeError for values of another kind.
    """
    known = {each.name: stated[each.name] for each in fields(ModelCard) if each.name in stated}
    articles = {split: tuple(digests) for split, digests in known.pop("articles", {}).items()}
    intervals = {name: (low, high) for name, (low, high) in known.pop("intervals", {}).items()}
    dimensions, warnings, sketches = (
        tuple(known.pop(name, ())) for name in ("dimensions", "warnings", "sketches")
    )
    return ModelCard(
        **known,
        dimensions=dimensions,
        warnings=warnings,
        articles=articles,
        sketches=sketches,
        intervals=intervals,
    )


def card_of(model: str) -> ModelCard | None:
    """Return the card of a model in a folder, or None if it has none or is not on this machine.

    Does not search downloads from the hub. Raises MissingWeights for a card that cannot be read.
    """
    return next((read_card(place) for place in places(model) if place.is_dir()), None)


def write_card(folder: Path, card: ModelCard) -> None:
    """Write the card to a model's folder."""
    content = json.dumps({"format": FORMAT, **asdict(card)}, ensure_ascii=False, indent=1, allow_nan=False)
    (folder / NAME).write_text(content + "\n", encoding="utf-8")
