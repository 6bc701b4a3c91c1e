"""A manager archives a project, which is then read-only and out of the lists, and restores it.

What an archived project still permits is in `annotation.permissions.IN_ARCHIVE`.
"""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.models import Project
from annotation.permissions import Permission, require
from annotation.projects.closing import lock_without_open_work


def archive_project(project: Project, user: User) -> None:
    """Make the project read-only, and return open summaries to the pool. Repeating it changes nothing.

    Runs that are in progress finish. Raises NotAllowed or NotFound unless `user` manages the project, and
    DomainError while an import is in progress.
    """
    require(user, project, Permission.CLOSE_PROJECT)
    with transaction.atomic():
        locked = lock_without_open_work(project)
        if locked.archived_at is not None:
            return
        _store(locked, archived=True, user=user)
        project.archived_at = locked.archived_at


def restore_project(project: Project, user: User) -> None:
    """Undo `archive_project`. Raises NotAllowed or NotFound unless `user` manages the project."""
    require(user, project, Permission.CLOSE_PROJECT)
    with transaction.atomic():
        _store(Project.objects.select_for_update(of=("self",)).get(pk=project.pk), archived=False, user=user)
        project.archived_at = None


def _store(project: Project, *, archived: bool, user: User) -> None:
    project.archived_at = timezone.now() if archived else None
    project.archived_by = user if archived else None
    project.save(update_fields=["archived_at", "archived_by"])
    record(Action.PROJECT_ARCHIVED if archived else Action.PROJECT_RESTORED, project, project.name)
    project.bump_revision()
