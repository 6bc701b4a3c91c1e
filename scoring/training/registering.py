"""Registering a model that was trained elsewhere: a card and its files, which are tried first."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotation.declared.settings import settings_as_json
from annotation.models import Project
from scoring.contract.evaluator import GENERAL, EvaluatorError, Need
from scoring.contract.items import Item
from scoring.contract.params import model_name, read_params
from scoring.errors import InvalidTraining
from scoring.evaluators import EVALUATORS, UnknownEvaluator, load_evaluator
from scoring.evaluators.bases.model_evaluator import ModelEvaluator
from scoring.inputs.offered_models import locate_for
from scoring.weights.model_card import REGISTERED, ModelCard, read_card, write_card
from scoring.weights.model_files import TRAINED, MissingWeights, locate, weights_digest
from scoring.weights.trained_models import TrainedModel, arriving, folder_of, link_files

DIMENSION = re.compile(r"\w[\w-]{0,59}")
TRIED = Item(
    id="tried",
    summary="The harbour froze over in January.",
    language="en",
    article="The harbour of the town froze over in January. Ships waited for two weeks until the ice broke.",
    references=("In January the harbour was frozen, and ships had to wait.",),
)
"""The texts that a new model is tried on."""


@dataclass(frozen=True)
class Registration:
    """A model to be registered, and what is known of it."""

    name: str
    source: str
    """A folder, or a hub id."""
    evaluator: str = ""
    """The name of the one that reads it; empty if the folder has a card."""
    dimension: str = ""
    note: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the evaluator that suit the model, as strings or JSON values."""
    seen: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """"train" and "validation" -> text digests of the articles that it has seen, if they are known."""


def registrable() -> list[type[ModelEvaluator]]:
    """Return the evaluators whose models can be registered."""
    classes = map(load_evaluator, EVALUATORS)
    return [each for each in classes if issubclass(each, ModelEvaluator)]


def card_for(registration: Registration, project: Project | None) -> ModelCard:
    """Return the card of a model before its files are tried, without the digest of its weights.

    A folder with a card keeps it, with the note and the seen articles added. Raises InvalidTraining, which
    names the field, also for a source that `project` may not use, if it is given.
    """
    try:
        source = registration.source
        stated = read_card(locate_for(project, source) if project else locate(source))
    except MissingWeights as error:
        raise InvalidTraining(f"source: {error}") from error
    card = _kept(registration, stated) if stated else _new(registration)
    seen = registration.seen
    articles = {
        role: tuple(sorted({*card.articles.get(role, ()), *seen.get(role, ())}))
        for role in sorted({*card.articles, *seen})
    }
    note = {"note": registration.note} if registration.note else {}
    return replace(card, articles=articles, data={**card.data, **note})


def install_registered(name: str, source: str, card: ModelCard) -> TrainedModel:
    """Link or copy the files of `source`, try them with the card's evaluator, and install them as `name`.

    Raises InvalidTraining or EvaluatorError if they cannot be used, and OSError if they cannot be written;
    then nothing is left.
    """
    with arriving(name) as folder:
        link_files(locate(source), folder)
        whole = replace(card, weights_sha256=weights_digest(folder))
        write_card(folder, whole)
        _try(folder, whole)
    return TrainedModel(name, folder_of(name), whole)


def _kept(registration: Registration, stated: ModelCard) -> ModelCard:
    if registration.evaluator not in ("", stated.evaluator):
        raise InvalidTraining(
            f"evaluator: found {registration.evaluator!r}, expected {stated.evaluator!r}, which the model's "
            "card names"
        )
    if registration.params:
        raise InvalidTraining("params: found some, expected none, since the model's card has its own")
    if registration.dimension:
        raise InvalidTraining(
            f"dimension: found {registration.dimension!r}, expected none, since the model's card names "
            f"{', '.join(stated.dimensions)}"
        )
    _evaluator_class(stated.evaluator)
    return stated


def _new(registration: Registration) -> ModelCard:
    if not registration.evaluator:
        raise InvalidTraining("evaluator: the model has no card, so say which evaluator reads it")
    evaluator = _evaluator_class(registration.evaluator)
    dimension = registration.dimension
    if dimension and not DIMENSION.fullmatch(dimension):
        raise InvalidTraining(
            f"dimension: found {dimension!r}, expected letters, digits, hyphens, underscores"
        )
    try:
        found = evaluator.registered_as(registration.source, dimension)
        params = {**found.params, **registration.params}
        read = read_params(evaluator, {**params, "model": f"{TRAINED}/{registration.name}"})
    except ValueError as error:
        raise InvalidTraining(str(error)) from error
    named = [each.replace("_", " ") for each in found.dimensions if each != GENERAL]
    return ModelCard(
        method=REGISTERED,
        title=", ".join([evaluator.title, *named, f"from {model_name(registration.source)}"]),
        evaluator=evaluator.name,
        dimensions=found.dimensions,
        base_model=registration.source,
        weights_sha256="",
        params={name: settings_as_json(read)[name] for name in params},
    )


def _evaluator_class(name: str) -> type[ModelEvaluator]:
    try:
        found = load_evaluator(name)
    except UnknownEvaluator as error:
        raise InvalidTraining(f"evaluator: {error}") from error
    if not issubclass(found, ModelEvaluator):
        names = ", ".join(each.name for each in registrable())
        raise InvalidTraining(f"evaluator: {name} reads no weights; expected one of {names}")
    return found


def _try(folder: Path, card: ModelCard) -> None:
    """Load the model and score a text with it. Raises InvalidTraining if there is no score."""
    evaluator_class = _evaluator_class(card.evaluator)
    try:
        evaluator = evaluator_class(read_params(evaluator_class, {**card.params, "model": str(folder)}))
        if Need.CORPUS in evaluator.needs_for(evaluator.params):
            evaluator.see_corpus([TRIED])
        [scored] = evaluator.score([TRIED])
    except ValueError as error:
        raise InvalidTraining(f"source: {error}") from error
    except EvaluatorError as error:  # it names the folder that is removed
        raise InvalidTraining(f"source: {str(error).replace(str(folder), card.base_model)}") from error
    if scored.reasons:
        reasons = "; ".join(dict.fromkeys(scored.reasons.values()))
        raise InvalidTraining(f"source: the model gave a short text no score: {reasons}")
