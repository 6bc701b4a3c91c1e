"""Renaming and deleting registered and imported models."""

from django.contrib.auth.models import User
from django.db import transaction

from annotation.errors import NotFound
from annotation.models import Project
from annotation.permissions import Permission, require
from scoring.errors import ModelInUse
from scoring.models import RegisteredModel, Training
from scoring.training.model_uses import refuse_in_use, uses_of
from scoring.training.planning import refuse_name
from scoring.training.registry import model_of
from scoring.weights.trained_models import remove, rename, trained_model


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
        if found and found.is_unfinished and found.leased_until is not None:
            raise ModelInUse(f"{name} is being checked. Wait until it ends.")
        refuse_in_use(name)
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
