"""Planning and starting a learning curve: all of its trainings or none."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, count
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from annotation.declared.settings import settings_as_json, settings_of
from annotation.models import Project
from annotation.permissions import Permission, require
from metaeval.learning_curves.shares import percent, refuse_seeds
from scoring.contract.evaluator import GENERAL
from scoring.errors import InvalidLearningCurve, InvalidTraining
from scoring.models import CurveModel, LearningCurve, Training
from scoring.trainers.contract import CannotTrain, Trainer, TrainingItem
from scoring.trainers.splits import Split, split_articles
from scoring.training.items import TrainingPool, training_items, training_pool
from scoring.training.planning import is_taken, trainer_of, warnings_of
from scoring.training.wake_ups import wake_next
from scoring.weights.model_files import locate, size

VARIED = ("training_share", "share_seed", "seed")
"""The parameters in which the trainings differ."""
FEWEST_TEST_ARTICLES = 10
"""The fewest test articles. Resampling fewer gives no interval."""
LONGEST_NAME = 36
"""Characters of a curve's name in those of its models."""


@dataclass(frozen=True)
class CurveRequest:
    """The learning curve that somebody wants to start."""

    name: str
    method: str
    shares: tuple[float, ...]
    """Ascending, above 0 to 1."""
    seeds: int
    """Models for each share, with seeds from 0."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """The other parameters, as `trainer_of` takes them."""


@dataclass(frozen=True)
class PlannedModel:
    share: float
    seed: int
    trainer: Trainer
    counts: Mapping[str, int | float]
    articles: int
    """Articles to train on."""
    examples: int
    """Training examples."""


@dataclass(frozen=True)
class CurvePlan:
    """The trainings that would be started."""

    project: Project
    wanted: CurveRequest
    pool: TrainingPool
    test_articles: tuple[str, ...]
    """Text digests, sorted."""
    rated_test_articles: int
    """Test articles with a label on what is learnt."""
    validation_examples: int
    models: Sequence[PlannedModel]
    """The models, sorted by seed and then by share: a first curve is complete after the first seed."""
    warnings: tuple[str, ...] = ()
    """Reasons why the trainings may fail or mislead, each a sentence or two."""

    @property
    def by_share(self) -> list[tuple[str, Sequence[PlannedModel]]]:
        """Each share in words, with its models."""
        return [
            (percent(share), [each for each in self.models if each.share == share])
            for share in self.wanted.shares
        ]

    @property
    def examples_in_words(self) -> str:
        """Return the name of the method's training examples, in the plural."""
        return self.models[0].trainer.examples

    @property
    def has_few_test_articles(self) -> bool:
        """Return whether there are too few test articles for intervals over articles."""
        return self.rated_test_articles < FEWEST_TEST_ARTICLES

    @property
    def bytes(self) -> int:
        """About what all models take on the disk; adapters are merged into the weights."""
        params = self.models[0].trainer.params
        bases = (getattr(params, each.name) for each in settings_of(type(params)) if each.is_weights)
        return len(self.models) * sum(size(locate(base)) for base in bases if base)


def plan_learning_curve(project: Project, wanted: CurveRequest, *, by_operator: bool = False) -> CurvePlan:
    """Plan every training without writing anything.

    Raises InvalidTraining as `plan_training`, for parameters that the trainings vary, and where a share of
    the training articles does not suffice; InvalidLearningCurve if there is nothing to compare models on.
    """
    _refuse_varied(wanted)
    pool = training_pool(project)
    items = list(training_items(pool))
    models: list[PlannedModel] = []
    for seed in range(wanted.seeds):
        for share in wanted.shares:
            varied = dict(zip(VARIED, (share, seed, seed), strict=True))
            trainer = trainer_of(wanted.method, {**wanted.params, **varied}, None if by_operator else project)
            try:
                data = trainer.prepare(items)
            except CannotTrain as error:
                raise InvalidTraining(f"{percent(share)} of the articles, seed {seed}: {error}") from error
            models.append(
                PlannedModel(share, seed, trainer, data.counts, len(data.articles["train"]), len(data.train))
            )
    tested = [each for each in split_articles(items, trainer.params) if each.split is Split.TEST]
    rated = sum(any(_is_rated(item, data.dimensions) for item in each.items) for each in tested)
    if not rated:
        raise InvalidLearningCurve(
            "No test article has a rated summary, so the models could not be compared with people. Raise the "
            "test share, or rate summaries of articles of the split test"
        )
    return CurvePlan(
        project=project,
        wanted=wanted,
        pool=pool,
        test_articles=tuple(each.digest for each in tested),
        rated_test_articles=rated,
        validation_examples=len(data.validation),
        models=models,
        warnings=warnings_of(trainer, data, by_operator=by_operator),
    )


def start_learning_curve(planned: CurvePlan, user: User | None, *, wakes: bool = True) -> LearningCurve:
    """Queue all trainings; `user` is None on the command line, which works on them itself (`wakes` False).

    Raises InvalidLearningCurve for a name that is missing or taken, and if another model took the name of
    one meanwhile; also as `require`.
    """
    project, wanted = planned.project, planned.wanted
    if user is not None:
        require(user, project, Permission.MANAGE_RUNS)
    name = wanted.name.strip()
    if not name:
        raise InvalidLearningCurve("name: enter a name for the learning curve")
    try:
        with transaction.atomic():
            if LearningCurve.objects.filter(project=project, name=name).exists():
                raise InvalidLearningCurve(
                    f"name: this project already has a learning curve called {name!r}. Choose another name"
                )
            return _stored(planned, name, user, wakes=wakes)
    except IntegrityError as error:  # another request took a name meanwhile
        raise InvalidLearningCurve(f"name: {name!r} has just been taken. Choose another name") from error


def _stored(planned: CurvePlan, name: str, user: User | None, *, wakes: bool) -> LearningCurve:
    shared = settings_as_json(planned.models[0].trainer.params)
    curve = LearningCurve.objects.create(
        project=planned.project,
        name=name,
        method=planned.wanted.method,
        params={key: value for key, value in shared.items() if key not in VARIED},
        pool=planned.pool,
        test_articles=planned.test_articles,
        created_by=user,
    )
    names = _free_names(name, planned)
    for each, model_name in zip(planned.models, names, strict=True):
        training = Training.objects.create(
            project=planned.project,
            name=model_name,
            method=planned.wanted.method,
            params=settings_as_json(each.trainer.params),
            counts=dict(each.counts),
            created_by=user,
        )
        CurveModel.objects.create(
            curve=curve, training=training, share=each.share, seed=each.seed, examples=each.examples
        )
    if wakes:
        wake_next(curve)
    return curve


def _refuse_varied(wanted: CurveRequest) -> None:
    try:
        refuse_seeds(wanted.seeds)
    except ValueError as error:
        raise InvalidLearningCurve(f"seeds: {error}") from error
    for name in VARIED:
        if name in wanted.params:
            raise InvalidTraining(f"parameter {name!r}: the learning curve sets it for each training")


def _is_rated(item: TrainingItem, dimensions: Sequence[str]) -> bool:
    """Return whether the item has a label that scores on these dimensions are compared with."""
    return bool(item.labels) if GENERAL in dimensions else not item.labels.keys().isdisjoint(dimensions)


def _free_names(name: str, planned: CurvePlan) -> list[str]:
    """Return names that no trained model has, one for each training."""
    base = slugify(name)[:LONGEST_NAME].strip("-_") or "curve"
    numbered = (f"{base}-{number}" for number in count(2))
    for each in chain([base], numbered):
        names = [f"{each}-{100 * model.share:.6g}-percent-seed-{model.seed}" for model in planned.models]
        if not any(map(is_taken, names)):
            return names
    raise AssertionError("count never ends")
