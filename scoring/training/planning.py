"""Planning and starting trainings: parameters, summaries, name."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, count
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.text import slugify

from annotation.declared.settings import read_settings, settings_as_json, settings_of, unusual_values
from annotation.models import Project
from annotation.permissions import Permission, require
from scoring.errors import InvalidTraining
from scoring.inputs.offered_models import locate_for
from scoring.models import RegisteredModel, Training
from scoring.trainers import UnknownTrainer, load_trainer
from scoring.trainers.contract import CannotTrain, Trainer, TrainingData
from scoring.trainers.resources import free_memory, memory_problem
from scoring.training.items import TrainingPool, training_items, training_pool
from scoring.training.wake_ups import training_queue, wake
from scoring.weights.model_files import MissingWeights, locate
from scoring.weights.trained_models import folder_of

NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,59}")


@dataclass(frozen=True)
class TrainingPlan:
    """A training as it would be if it were started now."""

    project: Project
    trainer: Trainer
    data: TrainingData
    pool: TrainingPool
    warnings: tuple[str, ...] = ()
    """Reasons why the training may fail or mislead, each a sentence or two."""


def trainer_of(method: str, given: Mapping[str, Any], project: Project | None = None) -> Trainer:
    """Return the trainer with these parameters, given as strings or JSON values.

    Raises InvalidTraining for an unknown method, an invalid parameter and missing weights; also for weights
    that `project` may not use, if it is given.
    """
    try:
        trainer_class = load_trainer(method)
        params = read_settings(trainer_class.Params, given, of=method, noun="parameter")
    except (UnknownTrainer, ValueError) as error:
        raise InvalidTraining(str(error)) from error
    for setting in settings_of(trainer_class.Params):
        model = getattr(params, setting.name)
        if setting.is_weights and model:
            try:
                locate_for(project, model) if project else locate(model)
            except MissingWeights as error:
                raise InvalidTraining(f"parameter {setting.name!r}: {error}") from error
    return trainer_class(params)


def plan_training(
    project: Project, method: str, given: Mapping[str, Any], *, by_operator: bool = False
) -> TrainingPlan:
    """Plan a training without writing anything.

    Raises InvalidTraining as `trainer_of`, for weights that the project may not use unless `by_operator`, and
    if the project's summaries do not suffice.
    """
    trainer = trainer_of(method, given, None if by_operator else project)
    pool = training_pool(project)
    try:
        data = trainer.prepare(training_items(pool))
    except CannotTrain as error:
        raise InvalidTraining(str(error)) from error
    return TrainingPlan(project, trainer, data, pool, warnings_of(trainer, data, by_operator=by_operator))


def warnings_of(trainer: Trainer, data: TrainingData, *, by_operator: bool = False) -> tuple[str, ...]:
    """Return why a training may fail or mislead, each reason a sentence or two.

    The memory is this server's. It is not judged if the training goes to a GPU, nor for the operator, whose
    command trains at once and says so itself. Raises InvalidTraining for weights that cannot be read.
    """
    judges_memory = not by_operator and training_queue() != "gpu"
    lacking = _lacking_memory(trainer) if judges_memory else ()
    return (*unusual_values(trainer.params), *lacking, *data.warnings)


def _lacking_memory(trainer: Trainer) -> Iterator[str]:
    for setting in settings_of(type(trainer.params)):
        model = getattr(trainer.params, setting.name)
        if setting.is_weights and model:
            try:
                problem = memory_problem(
                    locate(model), free_memory(), "this server", trains_all=trainer.trains_all
                )
            except MissingWeights as error:
                raise InvalidTraining(f"parameter {setting.name!r}: {error}") from error
            if problem:
                yield problem


def start_training(
    planned: TrainingPlan, user: User | None, name: str = "", *, wakes: bool = True
) -> Training:
    """Queue a planned training, by default with a name of its own; `user` is None on the command line.

    With `wakes` False no worker is told, because the caller works on it. Raises InvalidTraining for a name
    that is invalid or taken; also as `require`.
    """
    if user is not None:
        require(user, planned.project, Permission.MANAGE_RUNS)
    name = name or free_name(planned.project, planned.trainer.name)
    refuse_name(name)
    try:
        with transaction.atomic():
            training = Training.objects.create(
                project=planned.project,
                name=name,
                method=planned.trainer.name,
                params=settings_as_json(planned.trainer.params),
                pool=planned.pool,
                counts=dict(planned.data.counts),
                created_by=user,
            )
            if wakes:
                wake(training)
    except IntegrityError as error:  # another request took the name meanwhile
        raise name_taken(name) from error
    return training


def refuse_name(name: str) -> None:
    """Raise InvalidTraining for a name that a trained model cannot have, or that one has."""
    if not NAME.fullmatch(name):
        raise InvalidTraining(
            f"name: found {name!r}, expected up to 60 lower-case letters, digits, dots, underscores and "
            "hyphens, a letter or digit first"
        )
    if is_taken(name):
        raise name_taken(name)


def name_taken(name: str) -> InvalidTraining:
    """Return the refusal of a name. It is the same whichever project has the name, so that it tells none."""
    return InvalidTraining(f"name: {name!r} is not available. Choose another name")


def free_name(project: Project, method: str) -> str:
    """Return a name that no trained model has, from those of project and method."""
    base = f"{slugify(project.slug)[:40]}-{method}"
    numbered = (f"{base}-{number}" for number in count(2))
    return next(each for each in chain([base], numbered) if not is_taken(each))


def is_taken(name: str) -> bool:
    """Return whether a training or a model on this machine has the name."""
    rows = Training.objects.filter(name=name), RegisteredModel.objects.filter(name=name)
    return any(each.exists() for each in rows) or folder_of(name).exists()
