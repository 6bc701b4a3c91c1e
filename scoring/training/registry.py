"""The trained models that a project may use: its own, and those that were imported."""

from pathlib import PurePath
from typing import BinaryIO

from django.conf import settings
from django.contrib.auth.models import User
from django.utils.text import slugify

from annotation.errors import NotFound
from annotation.models import Project
from annotation.permissions import Permission, require
from scoring.errors import InvalidTraining
from scoring.evaluators import EVALUATORS
from scoring.models import Training
from scoring.training.planning import refuse_name
from scoring.weights.model_archives import ArchiveRefused, install_archive
from scoring.weights.trained_models import TrainedModel, remove, trained_models


def models_of(project: Project) -> list[TrainedModel]:
    """Return the models that the project trained and those that were imported, by name."""
    of_others = set(Training.objects.exclude(project=project).values_list("name", flat=True))
    return [each for each in trained_models() if each.name not in of_others]


def model_of(project: Project, name: str) -> TrainedModel:
    """Return one of `models_of`. Raises NotFound."""
    found = next((each for each in models_of(project) if each.name == name), None)
    if found is None:
        raise NotFound(f"There is no trained model {name!r} in this project.")
    return found


def import_model(project: Project, user: User, file: BinaryIO, file_name: str) -> TrainedModel:
    """Install the model in an uploaded archive. Raises as `install_model` and `require`."""
    require(user, project, Permission.MANAGE_RUNS)
    return model_of(project, install_model(file, file_name, settings.UPLOAD_MAX_BYTES))


def install_model(file: BinaryIO, file_name: str, most_bytes: int) -> str:
    """Install the model in an archive under the archive's name, and return this name.

    Raises InvalidTraining for an archive that is refused, a name that is taken or invalid, and a model of an
    unknown evaluator.
    """
    name = slugify(PurePath(file_name).stem)
    refuse_name(name)
    try:
        card = install_archive(file, name, most_bytes)
    except ArchiveRefused as error:
        raise InvalidTraining(f"file: {error}") from error
    if card.evaluator not in EVALUATORS:
        remove(name)
        raise InvalidTraining(f"file: its evaluator {card.evaluator!r} is unknown to this version")
    return name
