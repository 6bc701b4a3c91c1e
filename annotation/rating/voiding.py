"""A manager voids one rating with a reason, and restores it.

A voided rating is kept with its answers, and counts nowhere: see `RatingQuerySet.finished`. Its place is open
again, for other raters.
"""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import DomainError, InvalidFields
from annotation.lookups import one_of
from annotation.models import Assignment, Changed, Project, ProjectChange, Rater, Rating
from annotation.open_places import recount_places
from annotation.permissions import Permission, require

LONGEST_REASON = 500  # characters


def rating_in(project: Project, rating_id: int) -> Rating:
    """Return the project's rating with this id. Raises NotFound."""
    rows = Rating.objects.select_related("rater", "summary__article", "summary__system", "round")
    return one_of(rows.filter(summary__project=project), rating_id, "rating")


def void_rating(project: Project, user: User, rating_id: int, reason: str) -> Rating:
    """Stop counting a finished rating. Voiding it again changes nothing.

    Raises NotAllowed or NotFound unless `user` manages the project, InvalidFields without a reason or with
    one that is too long, and DomainError for unfinished ratings and those of gold rounds.
    """
    require(user, project, Permission.MANAGE_PROJECT)
    reason = reason.strip()
    if not reason:
        raise InvalidFields({"reason": "Say why, so that the rater can learn from it."})
    if len(reason) > LONGEST_REASON:
        raise InvalidFields({"reason": f"Found {len(reason)} characters. The limit is {LONGEST_REASON}."})
    with transaction.atomic():
        rating = _locked(project, rating_id)
        if rating.round_id is not None:
            raise DomainError("Ratings of gold rounds never count as labels, so there is nothing to void.")
        if rating.completed_at is None:
            raise DomainError("This rating is not finished, so it does not count yet.")
        if rating.voided_at is not None:
            return rating
        Assignment.objects.filter(rating=rating).release()
        rating.voided_at, rating.voided_by, rating.void_reason = timezone.now(), user, reason
        return _stored(project, rating, Action.RATING_VOIDED)


def restore_rating(project: Project, user: User, rating_id: int) -> Rating:
    """Count a voided rating again. Another rater may have taken its place meanwhile; both count then.

    Raises NotAllowed or NotFound as `void_rating`, and DomainError if it is not voided.
    """
    require(user, project, Permission.MANAGE_PROJECT)
    with transaction.atomic():
        rating = _locked(project, rating_id)
        if rating.voided_at is None:
            raise DomainError("This rating is not voided, so there is nothing to restore.")
        rating.voided_at, rating.voided_by, rating.void_reason = None, None, ""
        return _stored(project, rating, Action.RATING_RESTORED)


def _locked(project: Project, rating_id: int) -> Rating:
    # The rater first, as where they submit or re-open it. Otherwise the two would wait for each other.
    Rater.objects.select_for_update().get(pk=rating_in(project, rating_id).rater_id)
    return Rating.objects.select_for_update(of=("self",)).get(pk=rating_id)


def _stored(project: Project, rating: Rating, action: Action) -> Rating:
    rating.save(update_fields=["voided_at", "voided_by", "void_reason"])
    recount_places([rating.summary_id])
    record(action, project, f"rating {rating.pk}", reason=rating.void_reason)
    project.bump_revision(Changed(ProjectChange.Kind.RATING, rating.pk))
    return rating
