"""Sending a summary whose label is doubted to one more rater, blind as any other, and taking that back."""

from collections.abc import Collection
from enum import StrEnum

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Greatest, Least
from django.utils import timezone

from annotation.actions.places import recount_places, taken_places
from annotation.errors import DomainError
from annotation.lookups import one_of
from annotation.models import GoldRating, Project, Rating, Rerating, Summary
from annotation.permissions import Permission, require


class RatedAgain(StrEnum):
    ASKED = "sent to be rated once more"
    DONE = "rated once more"


def ask_for_rerating(project: Project, user: User, summary_id: int) -> Rerating:
    """Have the summary rated once more, by a rater who has not rated it; asked already, nothing changes.

    Raises NotAllowed or NotFound unless `user` may tag disagreements and the summary is the project's, and
    DomainError for gold items and for summaries whose article has no text: nobody is given these to rate.
    """
    require(user, project, Permission.TAG_DISAGREEMENTS)
    with transaction.atomic():
        summary = _locked(project, summary_id)
        current = Rerating.objects.current().filter(summary=summary).first()
        if current is not None:
            return current
        if GoldRating.objects.filter(summary=summary).exists():
            raise DomainError(
                "This summary is in the gold set, so raters rate it in their gold rounds alone."
            )
        if not summary.article.text:
            raise DomainError("This summary's article has no text here, so nobody can be given it to rate.")
        # Imported summaries may have more ratings than anybody wanted.
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


def take_back_rerating(project: Project, user: User, summary_id: int) -> Rerating | None:
    """The summary wants as many ratings as before; one that was given stays. None if it was not asked for.

    Raises as `ask_for_rerating` for people and summaries.
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


def reratings_of(summary_ids: Collection[int]) -> dict[int, RatedAgain]:
    """How far those of these summaries are that were sent to be rated once more."""
    again = Rating.objects.countable().filter(
        summary=OuterRef("summary"), completed_at__gt=OuterRef("asked_at")
    )
    asked = Rerating.objects.current().filter(summary__in=summary_ids).annotate(is_done=Exists(again))
    return {
        summary_id: RatedAgain.DONE if is_done else RatedAgain.ASKED
        for summary_id, is_done in asked.values_list("summary", "is_done")
    }


def _locked(project: Project, summary_id: int) -> Summary:
    rows = Summary.objects.select_for_update(of=("self",)).select_related("article")
    return one_of(rows.filter(project=project), summary_id, "summary")
