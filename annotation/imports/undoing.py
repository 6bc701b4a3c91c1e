"""Undoing an import as a whole, as long as nothing depends on what it stored.

It deletes the rows that name the import: every subclass of `Imported`, in any app, with their parts. Any
other row that refers to one of them depends on the import. What the import filled into earlier rows stays.
"""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import ManyToOneRel, Model, Q, QuerySet
from django.utils import timezone

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import DomainError
from annotation.gold.gold_set import SHOWS_GOLD, remove_from_gold_set
from annotation.models import Assignment, GoldRating, Imported, ImportJob, Project, Rating, Summary
from annotation.open_places import recount_places
from annotation.permissions import Permission, require
from annotation.templatetags.figures import noun


class ImportInUse(DomainError):
    """Something depends on the import, or it cannot be undone for another reason."""

    status = 409


@dataclass(frozen=True)
class Undoing:
    """The rows that undoing an import would delete and those that depend on them, counted by name."""

    deleted: dict[str, int]
    dependents: dict[str, int]
    served_gold: int
    """Gold summaries of the import that raters got in gold rounds or as hidden checks."""

    @property
    def refusal(self) -> str:
        """Return why the import cannot be undone; empty if it can."""
        if not self.deleted:
            return "This import stored no rows of its own, so there is nothing to undo."
        if self.served_gold:
            served = noun(self.served_gold, "gold summary,gold summaries")
            return (
                f"Raters got {served} of this import in gold rounds or as hidden checks, so the gold answers"
                " stay. Remove summaries from the gold set instead."
            )
        if self.dependents:
            found = ", ".join(f"{count:,} {name}" for name, count in self.dependents.items())
            return f"Other data depends on this import: {found}. Delete it first, or undo its import."
        return ""


def is_undoable(job: ImportJob) -> bool:
    """Return whether the import was loaded and has not been undone. Something may depend on it."""
    return job.status == ImportJob.Status.DONE and not job.dry_run and job.undone_at is None


def effect_of_undoing(job: ImportJob) -> Undoing:
    """Return what undoing the import would delete, and what depends on it."""
    deleted = {_plural(model): _rows(model, job).count() for model in Imported.__subclasses__()}
    return Undoing(
        deleted={name: count for name, count in deleted.items() if count},
        dependents=_dependents(job),
        served_gold=Assignment.objects.filter(SHOWS_GOLD, summary__gold__import_job=job)
        .values("summary")
        .distinct()
        .count(),
    )


def undo_import(job: ImportJob, user: User) -> None:
    """Delete everything that the import stored.

    Raises NotAllowed or NotFound unless `user` manages the project, and ImportInUse if the import was not
    loaded, was undone already, or something depends on it.
    """
    require(user, job.project, Permission.MANAGE_PROJECT)
    with transaction.atomic():
        project = Project.objects.select_for_update().get(pk=job.project_id)
        job.refresh_from_db()
        if not is_undoable(job):
            raise ImportInUse("Only a loaded import can be undone, and only once.")
        # Nobody can take a place of these summaries from here on.
        list(_rows(Summary, job).select_for_update().order_by("pk").values_list("pk").iterator())
        refusal = effect_of_undoing(job).refusal
        if refusal:
            raise ImportInUse(refusal)
        for gold in GoldRating.objects.filter(import_job=job).exclude(summary__import_job=job):
            remove_from_gold_set(gold.summary, to_be_rated=not gold.summary.system.is_reference)
        kept = Rating.objects.filter(import_job=job).exclude(summary__import_job=job)
        rated = list(kept.values_list("summary", flat=True))
        _delete(job)
        recount_places(rated)
        job.undone_at, job.undone_by = timezone.now(), user
        job.save(update_fields=["undone_at", "undone_by"])
        record(Action.IMPORT_UNDONE, project, job.file_name)
        project.bump_revision()


def _rows(model: type[Model], job: ImportJob) -> QuerySet[Model]:
    return model._base_manager.filter(import_job=job)


def _plural(model: type[Model]) -> str:
    return str(model._meta.verbose_name_plural)


def _referring(model: type[Model], job: ImportJob) -> dict[type[Model], Q]:
    """Return the models that refer to `model`, with the condition of referring to the import's rows."""
    found: dict[type[Model], Q] = {}
    for relation in model._meta.get_fields(include_hidden=True):
        if isinstance(relation, ManyToOneRel):
            refers = Q(**{f"{relation.field.name}__import_job": job})
            other = relation.field.model
            found[other] = found.get(other, Q()) | refers
    return found


def _dependents(job: ImportJob) -> dict[str, int]:
    referring: dict[type[Model], Q] = {}
    for model in Imported.__subclasses__():
        for other, refers in _referring(model, job).items():
            referring[other] = referring.get(other, Q()) | refers
    found = {}
    for other, refers in referring.items():
        rows = other._base_manager.filter(refers)
        if issubclass(other, Imported):
            rows = rows.exclude(import_job=job)
        whole = getattr(other, "part_of", "")
        if whole:
            rows = rows.exclude(**{f"{whole}__import_job": job})
        found[_plural(other)] = rows.count()
    return {name: count for name, count in found.items() if count}


def _delete(job: ImportJob) -> None:
    """Delete the rows and their parts, in one statement for each model. Nothing else refers to them."""
    models = Imported.__subclasses__()
    for model in models:
        for part in _referring(model, job):
            whole = getattr(part, "part_of", "")
            if whole:
                _delete_at_once(part._base_manager.filter(**{f"{whole}__import_job": job}))
    for model in models:
        _delete_at_once(_rows(model, job))


def _delete_at_once(rows: QuerySet[Model]) -> None:
    # Django would first read all rows, to find others that refer to them.
    rows._raw_delete(rows.db)
