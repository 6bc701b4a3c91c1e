"""Renaming and deleting registered and imported models, and what depends on a model."""

from dataclasses import dataclass
from functools import cache

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q

from annotation.declared.settings import settings_of
from annotation.errors import NotFound
from annotation.models import Project
from annotation.permissions import Permission, require
from scoring.errors import ModelInUse
from scoring.models import RegisteredModel, Run, Setup, Training
from scoring.training.planning import refuse_name
from scoring.training.registering import registrable
from scoring.training.registry import model_of
from scoring.weights.trained_models import TRAINED, remove, rename, trained_model


@dataclass(frozen=True)
class ModelUses:
    """What depends on a model, in all projects."""

    setups: list[Setup]
    """Those with scores by the model, or runs that make some."""
    trainings: list[Training]
    """Those that began with the model."""

    def __bool__(self) -> bool:
        return bool(self.setups or self.trainings)


def uses_of(name: str) -> ModelUses:
    """Return what depends on the model of this name."""
    model = f"{TRAINED}/{name}"
    named = Q()
    for parameter in _weights_parameters():
        named |= Q(**{f"params__{parameter}": model})
    setups = Setup.objects.select_related("project").defer("pool", "corpus").filter(named)
    return ModelUses(list(setups), list(Training.objects.defer("pool").filter(params__model=model)))


def rename_model(name: str, new_name: str, project: Project | None = None, user: User | None = None) -> None:
    """Give a registered or imported model another name; `project` and `user` are None on the command line.

    Raises ModelInUse if anything depends on it, since scores and trainings name it; InvalidTraining for a
    name that is invalid or taken; NotFound for a model that does not exist or is another project's; also as
    `require`.
    """
    with transaction.atomic():
        _lock_own(name, project, user)
        if trained_model(name) is None:
            raise NotFound(f"There is no trained model {name!r}.")
        refuse_name(new_name)
        if uses_of(name):
            raise ModelInUse(
                f"{name} cannot be renamed: scores or trainings name it. Download it, and import the file "
                "under another name."
            )
        RegisteredModel.objects.filter(name=name).update(name=new_name)
        rename(name, new_name)


def remove_model(name: str, project: Project | None = None, user: User | None = None) -> None:
    """Delete a registered or imported model; scores by it stay. The arguments are as in `rename_model`.

    Raises ModelInUse while its files are tried or a run or training with it is in progress; NotFound for
    another project's; also as `require`.
    """
    with transaction.atomic():
        found = _lock_own(name, project, user)
        if found is None and trained_model(name) is None:
            raise NotFound(f"There is no trained model {name!r}.")
        uses = uses_of(name)
        if found and found.is_unfinished and found.leased_until is not None:
            raise ModelInUse(f"{name} is being checked. Wait until it ends.")
        if Run.objects.filter(setup__in=uses.setups, status__in=Run.UNFINISHED).exists():
            raise ModelInUse(
                f"A run with {name} is in progress. Cancel it or let it end, then delete the model."
            )
        if any(each.is_unfinished for each in uses.trainings):
            raise ModelInUse(
                f"A training from {name} is in progress. Cancel it first, then delete the model."
            )
        RegisteredModel.objects.filter(name=name).delete()
        transaction.on_commit(lambda: remove(name))


def _lock_own(name: str, project: Project | None, user: User | None) -> RegisteredModel | None:
    """Return the model's locked row, if it has one.

    Raises ModelInUse for a model that a training makes, and for the operator's on a page; NotFound for models
    of other projects; also as `require`.
    """
    if Training.objects.filter(name=name).exists() and (project is None or model_of(project, name)):
        raise ModelInUse(f"{name} belongs to its training. Delete the training instead.")
    found = RegisteredModel.objects.select_for_update().filter(name=name).first()
    if project is not None and user is not None:
        require(user, project, Permission.MANAGE_RUNS)
        if found is None or found.project_id != project.pk:
            model_of(project, name)
            raise ModelInUse(f"{name} is for all projects. Only the server's operator can change it.")
    return found


@cache
def _weights_parameters() -> frozenset[str]:
    """Return the names of the parameters that name models."""
    return frozenset(
        spec.name for each in registrable() for spec in settings_of(each.Params) if spec.is_weights
    )
