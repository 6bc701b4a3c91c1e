"""The trained models that a project may use: its own, registered or imported ones, and the operator's."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import PurePath
from typing import Any, BinaryIO

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.text import slugify

from annotation.errors import NotFound
from annotation.models import Project
from annotation.permissions import Permission, require
from scoring.errors import InvalidTraining
from scoring.evaluators import EVALUATORS
from scoring.inputs.offered_models import names_of_others
from scoring.models import RegisteredModel, Training
from scoring.training.planning import name_taken, refuse_name
from scoring.training.registering import Registration, card_for, install_registered
from scoring.training.wake_ups import wake_for_registration
from scoring.weights.model_archives import ArchiveRefused, install_archive
from scoring.weights.trained_models import TrainedModel, remove, trained_models


def models_of(project: Project) -> list[TrainedModel]:
    """Return the project's models and those that the operator installed for all projects, by name."""
    others = names_of_others(project)
    return [each for each in trained_models() if each.name not in others]


def model_of(project: Project, name: str) -> TrainedModel:
    """Return one of `models_of`. Raises NotFound."""
    found = next((each for each in models_of(project) if each.name == name), None)
    if found is None:
        raise NotFound(f"There is no trained model {name!r} in this project.")
    return found


def registration_of(project: Project, name: str) -> RegisteredModel | None:
    """Return the row of a model that was registered or imported for the project, or None."""
    return RegisteredModel.objects.select_related("created_by").filter(project=project, name=name).first()


def registrations_of(project: Project) -> list[RegisteredModel]:
    """Return the project's registrations whose models are not installed, by name."""
    return list(RegisteredModel.objects.filter(project=project).exclude(status=RegisteredModel.Status.DONE))


def training_named(project: Project, name: str) -> Training | None:
    """Return the project's training that makes the model of this name, or None."""
    return Training.objects.filter(project=project, name=name).defer("pool").first()


def register_model(project: Project, user: User, registration: Registration) -> RegisteredModel:
    """Have a worker try the files of a model and install it for the project.

    A registration that failed gives way to one of its name. Raises InvalidTraining, which names the field;
    also as `require`.
    """
    require(user, project, Permission.MANAGE_RUNS)
    with transaction.atomic():
        failed = RegisteredModel.objects.filter(project=project, status=RegisteredModel.Status.FAILED)
        failed.filter(name=registration.name).delete()
        refuse_name(registration.name)
        card = card_for(registration, project)
        found = _owned(project, user, registration.name, registration.source, card=asdict(card))
        wake_for_registration(found)
    return found


def register_now(registration: Registration, project: Project | None) -> TrainedModel:
    """Try the files of a model in this process and install it, for all projects if `project` is None.

    Raises InvalidTraining and EvaluatorError if it cannot be used, and OSError if it cannot be written.
    """
    name, source = registration.name, registration.source
    refuse_name(name)
    card = card_for(registration, None)
    with _owned_first(project, None, name, source):
        return install_registered(name, source, card)


def import_model(project: Project, user: User, file: BinaryIO, file_name: str) -> TrainedModel:
    """Install the model in an uploaded archive for the project. Raises as `install_model` and `require`."""
    require(user, project, Permission.MANAGE_RUNS)
    name = _name_of(file_name)
    with _owned_first(project, user, name, PurePath(file_name).name):
        _install(file, name, settings.UPLOAD_MAX_BYTES)
    return model_of(project, name)


def install_model(file: BinaryIO, file_name: str, most_bytes: int, name: str = "") -> str:
    """Install the model in an archive under `name` or else the archive's name, and return its name.

    Raises InvalidTraining for an archive that is refused, a name that is taken or invalid, and a model of an
    unknown evaluator.
    """
    name = _name_of(file_name, name)
    _install(file, name, most_bytes)
    return name


def _name_of(file_name: str, name: str = "") -> str:
    name = name or slugify(PurePath(file_name).stem)
    refuse_name(name)
    return name


def _install(file: BinaryIO, name: str, most_bytes: int) -> None:
    try:
        card = install_archive(file, name, most_bytes)
    except ArchiveRefused as error:
        raise InvalidTraining(f"file: {error}") from error
    if card.evaluator not in EVALUATORS:
        remove(name)
        raise InvalidTraining(f"file: its evaluator {card.evaluator!r} is unknown to this version")


@contextmanager
def _owned_first(project: Project | None, user: User | None, name: str, source: str) -> Iterator[None]:
    """Make the model the project's before the block installs it, so that no other project ever sees it."""
    if project is None:
        yield
        return
    done = RegisteredModel.Status.DONE
    row = _owned(project, user, name, source, status=done, finished_at=timezone.now())
    try:
        yield
    except BaseException:
        row.delete()
        raise


def _owned(project: Project, user: User | None, name: str, source: str, **fields: Any) -> RegisteredModel:
    try:
        with transaction.atomic():
            return RegisteredModel.objects.create(
                project=project, created_by=user, name=name, source=source[:500], **fields
            )
    except IntegrityError as error:  # another request took the name meanwhile
        raise name_taken(name) from error
