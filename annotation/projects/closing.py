"""A manager closes a campaign, whose ratings are then final, and reopens it.

Raters get no work and change no rating in it, and imports add no ratings. Everything else goes on. Archiving
ends open work in the same way.
"""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import DomainError
from annotation.models import Assignment, ImportJob, Project
from annotation.models.assignments import AssignmentQuerySet
from annotation.open_places import recount_places
from annotation.permissions import Permission, require


def close_campaign(project: Project, user: User) -> None:
    """Make the ratings final, and return open summaries to the pool. Repeating it keeps the first date.

    Raises NotAllowed or NotFound unless `user` manages the project, and DomainError while an import is in
    progress.
    """
    require(user, project, Permission.MANAGE_PROJECT)
    with transaction.atomic():
        locked = lock_without_open_work(project)
        if locked.closed_at is None:
            _store(locked, Action.CAMPAIGN_CLOSED, closed=True)
        project.closed_at = locked.closed_at


def reopen_campaign(project: Project, user: User) -> None:
    """Undo `close_campaign`. Raises NotAllowed or NotFound unless `user` manages the project."""
    require(user, project, Permission.MANAGE_PROJECT)
    with transaction.atomic():
        locked = Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
        if locked.closed_at is not None:
            _store(locked, Action.CAMPAIGN_REOPENED, closed=False)
        project.closed_at = None


def _store(project: Project, action: Action, *, closed: bool) -> None:
    project.closed_at = timezone.now() if closed else None
    project.save(update_fields=["closed_at"])
    record(action, project, project.name)
    project.bump_revision()


def open_leases(project: Project) -> AssignmentQuerySet:
    """Return the leases of summaries that raters have open in production."""
    return Assignment.objects.held().filter(rater__project=project, round__isnull=True)


def lock_without_open_work(project: Project) -> Project:
    """Return open summaries to the pool, and return the project, locked for this transaction.

    Raises DomainError while an import is in progress.
    """
    # Leases before the project, as a rater's last stage locks them, so that neither waits for the other.
    leases = open_leases(project)
    summaries = list(leases.values_list("summary", flat=True))
    leases.release()
    recount_places(summaries)
    locked = Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
    if ImportJob.objects.unfinished().filter(project=locked).exists():
        raise DomainError("An import is in progress. Wait until it ends, or cancel it.")
    return locked
