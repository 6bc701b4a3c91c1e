"""A manager deletes an archived project with everything below it, in any app.

Rows are deleted in one statement for each model, from the leaves up, since reading them first would take
minutes in a large project. The files of trained models stay: delete the models first.
"""

from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import CASCADE, SET_NULL, ManyToOneRel, Model, QuerySet
from django.utils import timezone

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import DomainError, InvalidFields
from annotation.models import ImportJob, Leased, Project
from annotation.permissions import Permission, require


def delete_project(project: Project, user: User, typed: str) -> None:
    """Delete the project. `typed` is its slug, as a confirmation.

    Raises NotAllowed or NotFound unless `user` manages the project, InvalidFields for another slug, and
    DomainError unless the project is archived and no worker is busy in it.
    """
    require(user, project, Permission.CLOSE_PROJECT)
    if typed.strip() != project.slug:
        raise InvalidFields({"slug": f"Found {typed.strip()!r}, expected {project.slug!r}."})
    with transaction.atomic():
        locked = Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
        if locked.archived_at is None:
            raise DomainError("Only an archived project can be deleted. Archive it first.")
        paths = _paths_to_project()
        _refuse_busy(locked, paths)
        files = _uploaded_files(locked)
        _forget(locked, paths)
        record(Action.PROJECT_DELETED, locked, f"{locked.name} ({locked.slug})")
        for model, path in reversed(paths.items()):
            rows = model._base_manager.filter(**{path: locked.pk})
            rows._raw_delete(rows.db)
        transaction.on_commit(lambda: _delete_files(files))


def counts_below(project: Project) -> dict[str, int]:
    """Return what deleting the project deletes: the plural of each kind of row with its number, also 0."""
    return {
        str(model._meta.verbose_name_plural): model._base_manager.filter(**{path: project.pk}).count()
        for model, path in _paths_to_project().items()
    }


def _paths_to_project() -> dict[type[Model], str]:
    """Return each model below Project with the shortest lookup from it, nearest models first.

    A lookup follows foreign keys that are never empty.
    """
    paths: dict[type[Model], str] = {Project: "pk"}
    level: list[type[Model]] = [Project]
    while level:
        below: list[type[Model]] = []
        for model in level:
            for relation in _relations(model):
                other, name = relation.field.model, relation.field.name
                if other not in paths and not relation.field.null:
                    paths[other] = name if model is Project else f"{name}__{paths[model]}"
                    below.append(other)
        level = below
    return paths


def _relations(model: type[Model]) -> list[ManyToOneRel]:
    found = model._meta.get_fields(include_hidden=True)
    return [relation for relation in found if isinstance(relation, ManyToOneRel)]


def _refuse_busy(project: Project, paths: dict[type[Model], str]) -> None:
    now = timezone.now()
    for model, path in paths.items():
        if issubclass(model, Leased):
            rows: QuerySet[Model] = model._base_manager.filter(**{path: project.pk})
            if rows.filter(leased_until__gt=now, finished_at__isnull=True).exists():
                raise DomainError(
                    f"A worker is busy with {model._meta.verbose_name_plural} of this project. Cancel the "
                    "work, or try again when it has ended."
                )


def _forget(project: Project, paths: dict[type[Model], str]) -> None:
    """Empty the references from rows that stay, and delete rows that need not refer to it but do.

    An API token for this project only would open all projects if its reference were emptied.
    """
    for model, path in paths.items():
        for relation in _relations(model):
            other, name = relation.field.model, relation.field.name
            if other not in paths:
                lookup = name if model is Project else f"{name}__{path}"
                referring = other._base_manager.filter(**{lookup: project.pk})
                if relation.on_delete is SET_NULL:
                    referring.update(**{name: None})
                elif relation.on_delete is CASCADE:
                    referring.delete()


def _uploaded_files(project: Project) -> list[Path]:
    jobs = ImportJob.objects.filter(project=project)
    return [Path(file.path) for job in jobs for file in (job.file, job.articles_file) if file]


def _delete_files(files: list[Path]) -> None:
    """Delete uploads, with the files that imports put beside them under longer names."""
    for file in files:
        for path in file.parent.glob(f"{file.name}*"):
            path.unlink(missing_ok=True)
