"""A manager withdraws a summary, so that nobody rates it any more, and restores it.

The ratings that a withdrawn summary has still count. Void a rating, or remove its rater, to leave it out.
"""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import DomainError
from annotation.lookups import one_of
from annotation.models import GoldRating, Project, Summary
from annotation.open_places import recount_places
from annotation.permissions import Permission, require


def withdraw_summary(project: Project, user: User, summary_id: int) -> Summary:
    """Stop assigning a summary, and take it from raters who have it open. Repeating it changes nothing.

    Raises NotAllowed or NotFound unless `user` manages the project, and DomainError for gold summaries.
    """
    require(user, project, Permission.MANAGE_PROJECT)
    with transaction.atomic():
        summary = _locked(project, summary_id)
        if summary.withdrawn_at is not None:
            return summary
        if GoldRating.objects.filter(summary=summary, retired_at__isnull=True).exists():
            raise DomainError("This summary is in the gold set. Remove it from the gold set first.")
        summary.assignments.filter(round__isnull=True).release()
        summary.withdrawn_at, summary.withdrawn_by = timezone.now(), user
        return _stored(project, summary, Action.SUMMARY_WITHDRAWN)


def restore_summary(project: Project, user: User, summary_id: int) -> Summary:
    """Assign a withdrawn summary again, as often as it still needs ratings.

    Raises NotAllowed or NotFound as `withdraw_summary`, and DomainError if it is not withdrawn.
    """
    require(user, project, Permission.MANAGE_PROJECT)
    with transaction.atomic():
        summary = _locked(project, summary_id)
        if summary.withdrawn_at is None:
            raise DomainError("This summary is not withdrawn, so there is nothing to restore.")
        summary.withdrawn_at, summary.withdrawn_by = None, None
        return _stored(project, summary, Action.SUMMARY_RESTORED)


def _locked(project: Project, summary_id: int) -> Summary:
    rows = Summary.objects.select_for_update(of=("self",)).filter(project=project)
    return one_of(rows, summary_id, "summary")


def _stored(project: Project, summary: Summary, action: Action) -> Summary:
    summary.save(update_fields=["withdrawn_at", "withdrawn_by"])
    recount_places([summary.pk])
    record(action, project, f"summary {summary.pk}")
    project.bump_revision()
    return summary
