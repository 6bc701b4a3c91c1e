"""Requesting one more rating of a doubtful summary, and withdrawing the request."""

from collections.abc import Collection
from enum import StrEnum

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Greatest, Least
from django.utils import timezone

from annotation.errors import DomainError
from annotation.lookups import one_of
from annotation.models import GoldRating, Project, Rating, Rerating, Summary
from annotation.open_places import recount_places, taken_places
from annotation.permissions import Permission, require


class ReratingState(StrEnum):
    ASKED = "sent to be rated once more"
    DONE = "rated once more"


def request_rerating(project: Project, user: User, summary_id: int) -> Rerating:
    """Request one more rating of a summary. Repeating a request changes nothing.

    Raises NotAllowed or NotFound unless `user` may tag disagreements and the summary is in the project, and
    DomainError for gold summaries and articles without text, which nobody can rate.
    """
    require(user, project, Permission.TAG_DISAGREEMENTS)
    with transaction.atomic():
        summary = _locked(project, summary_id)
        current = Rerating.objects.current().filter(summary=summary).first()
        if current is not None:
            return current
        if GoldRating.objects.filter(summary=summary).exists():
            raise DomainError("This summary is in the gold set, so raters only rate it in gold rounds.")
        if summary.withdrawn_at is not None:
            raise DomainError("This summary is withdrawn, so nobody rates it. Restore it first.")
        if not summary.article.text:
            raise DomainError(
                "This summary's article has no text, so nobody can rate it. Import the article first."
            )
        # Imported summaries may have more ratings than needed.
        wanted = Summary.objects.filter(pk=summary.pk).annotate(
            anew=Greatest(F("ratings_wanted"), taken_places()) + 1
        )
        anew = wanted.values_list("anew", flat=True).get()
        Summary.objects.filter(pk=summary.pk).update(ratings_wanted=anew)
        recount_places([summary.pk])
        project.bump_revision()
        return Rerating.objects.create(
            summary=summary,
            added=anew - summary.ratings_wanted,
            asked_by=user,
            asked_at=timezone.now(),
        )


def withdraw_rerating(project: Project, user: User, summary_id: int) -> Rerating | None:
    """Withdraw the request and return it; None if there is none. A rating that was given is kept.

    Raises NotAllowed and NotFound as `request_rerating`.
    """
    require(user, project, Permission.TAG_DISAGREEMENTS)
    with transaction.atomic():
        summary = _locked(project, summary_id)
        current = Rerating.objects.current().filter(summary=summary).first()
        if current is None:
            return None
        current.ended_at, current.ended_by = timezone.now(), user
        current.save(update_fields=["ended_at", "ended_by"])
        before = max(0, summary.ratings_wanted - current.added)
        Summary.objects.filter(pk=summary.pk).update(
            ratings_wanted=before, open_places=Least(F("open_places"), before)
        )
        recount_places([summary.pk])
        project.bump_revision()
        return current


def reratings_of(summary_ids: Collection[int]) -> dict[int, ReratingState]:
    """Return the state of the current requests for these summaries, by summary id."""
    again = Rating.objects.countable().filter(
        summary=OuterRef("summary"), completed_at__gt=OuterRef("asked_at")
    )
    asked = Rerating.objects.current().filter(summary__in=summary_ids).annotate(is_done=Exists(again))
    return {
        summary_id: ReratingState.DONE if is_done else ReratingState.ASKED
        for summary_id, is_done in asked.values_list("summary", "is_done")
    }


def _locked(project: Project, summary_id: int) -> Summary:
    rows = Summary.objects.select_for_update(of=("self",)).select_related("article")
    return one_of(rows.filter(project=project), summary_id, "summary")
