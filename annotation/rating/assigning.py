"""Assigning summaries to raters by leases that expire, as many as the redundancy requires."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from annotation.database.joined_rows import ModelColumns, database_value, prepared_cursor
from annotation.errors import AssignmentGone, CampaignClosed, DomainError, NotAllowed
from annotation.gold.checks import check_is_due, draw_check
from annotation.gold.qualified_languages import qualified_languages, work_languages
from annotation.guidelines.following import require_confirmed
from annotation.models import Assignment, Project, Rater, Summary
from annotation.open_places import (
    claim_place,
    claim_place_of,
    next_in_turn,
    open_to,
    recount_places,
    spread_over_articles,
)
from annotation.rating.pairing import CHOICE, best_paired

EXPIRED_AT_ONCE = 50
GONE = {
    Assignment.State.DONE: gettext_noop("You have finished this summary."),
    Assignment.State.RELEASED: gettext_noop(
        "Your time for this summary ran out, so it may be with another rater."
    ),
    Assignment.State.SKIPPED: gettext_noop("You skipped this summary and it went to another rater."),
}
WITHDRAWN = gettext_noop("The project's manager withdrew this summary, so nobody rates it any more.")


def why_gone(assignment: Assignment) -> str:
    """Return why an assignment is not open, for its rater."""
    if assignment.state == Assignment.State.RELEASED and assignment.summary.withdrawn_at is not None:
        return gettext(WITHDRAWN)
    return gettext(GONE[Assignment.State(assignment.state)])


def take_assignment(rater: Rater, now: datetime | None = None) -> Assignment | None:
    """Return the rater's open assignment, or a new one; None if no summary is left.

    It is in the language in which the rater works, or in any if they chose none. Raises NotAllowed unless
    they are qualified in it, and GuidelinesUnconfirmed.
    """
    now = now or timezone.now()
    with transaction.atomic():
        rater = lock_active_rater(rater)
        languages = work_languages(rater)
        if not languages:
            raise NotAllowed(gettext("You get summaries to rate after you pass a gold round."))
        require_confirmed(rater)
        lease_end = now + timedelta(minutes=rater.project.lease_minutes)
        held = rater.assignments.held().filter(round__isnull=True)
        mine = held.filter(summary__article__language__in=languages).order_by("pk").first()
        if mine is not None:
            Assignment.objects.filter(pk=mine.pk).update(leased_until=lease_end)
            mine.leased_until = lease_end
            return mine
        release_expired(rater.project, now)
        return claim_next(rater, languages, now)


def claim_next(rater: Rater, languages: Sequence[str], now: datetime) -> Assignment | None:
    """Return a new assignment in one of the languages in which the rater is qualified; None if none is left.

    The rater must be locked and hold no other. Among summaries of articles that they had lately, the one
    comes first whose article they had longest ago.
    """
    if check_is_due(rater.project):
        summaries = open_to(rater, set(languages).intersection(qualified_languages(rater)))
        is_spread = spread_over_articles(rater, summaries).exists()
        check = (
            draw_check(rater, languages, of_other_articles=is_spread)
            if is_spread or summaries.exists()
            else None
        )
        if check is not None:
            summary = Summary.objects.select_related("article").defer("article__text").get(pk=check)
            return _lease(rater, summary, now, is_check=True)
    place = _claim(rater, languages, spread=True) or _claim(rater, languages, spread=False)
    return None if place is None else _lease(rater, place, now)


def _claim(rater: Rater, languages: Sequence[str], *, spread: bool) -> Summary | None:
    if rater.project.pair_evenly:
        following = next_in_turn(rater, languages, spread=spread, most=CHOICE)
        for summary_id in best_paired(rater, following):
            place = claim_place_of(summary_id)
            if place is not None:
                return place
    return claim_place(rater, languages, spread=spread)


NEW = (
    *("rater_id", "summary_id", "is_check", "state", "stage", "stage_opened_at", "leased_until"),
    *("draft", "resubmitted", "created_at"),
)
RETURNED = ModelColumns(Assignment, "annotation_assignment")
LEASE = f"""
INSERT INTO annotation_assignment ({", ".join(NEW)}) VALUES ({", ".join(["%s"] * len(NEW))})
ON CONFLICT (rater_id, summary_id) WHERE round_id IS NULL
DO UPDATE SET state = excluded.state, stage_opened_at = excluded.stage_opened_at,
    leased_until = excluded.leased_until
RETURNING {RETURNED.columns}
"""  # noqa: S608 - names of columns


def _lease(rater: Rater, summary: Summary, now: datetime, *, is_check: bool = False) -> Assignment:
    """Return a new assignment, or the rater's own that had expired; answered stages stay answered."""
    lease = Assignment(
        rater=rater,
        summary=summary,
        is_check=is_check,
        stage_opened_at=now,
        leased_until=now + timedelta(minutes=rater.project.lease_minutes),
        created_at=now,
    )
    values = [database_value(Assignment, name, getattr(lease, name)) for name in NEW]
    with prepared_cursor() as cursor:
        cursor.execute(LEASE, values)
        assignment = RETURNED.in_row(cursor.fetchone())
    assignment.rater, assignment.summary = rater, summary
    return assignment


def release_expired(project: Project, now: datetime) -> int:
    """Release expired leases. Return how many."""
    expired = Assignment.objects.held().filter(leased_until__lt=now)
    ending = expired.filter(rater__project=project, round__isnull=True).values_list("pk", "summary_id")
    released = 0
    with transaction.atomic(savepoint=False):
        for pk, summary_id in ending[:EXPIRED_AT_ONCE]:
            if expired.filter(pk=pk).release():
                recount_places([summary_id])
                released += 1
    return released


def skip_assignment(rater: Rater, assignment_id: int, reason: str) -> None:
    """Skip a summary for one of `Assignment.SkipReason`. It goes to another rater and does not return.

    Raises DomainError for another reason, AssignmentGone if it is not open, and NotAllowed in a gold round
    and for a re-opened rating.
    """
    with transaction.atomic():
        rater = lock_active_rater(rater)
        assignment = own_assignment(rater, assignment_id)
        if assignment.round_id is not None:
            raise NotAllowed(
                gettext("Gold summaries cannot be skipped. Answer Unsure where you cannot tell.")
            )
        if assignment.state == Assignment.State.REOPENED:
            raise NotAllowed(
                gettext("You have rated this summary. Keep your rating as it was, or finish it anew.")
            )
        if assignment.state != Assignment.State.OPEN:
            raise AssignmentGone(gettext("This summary is no longer assigned to you."))
        if reason not in Assignment.SkipReason.values:
            raise DomainError(
                f"reason: say why you skip it, with one of {', '.join(Assignment.SkipReason.values)}"
            )
        assignment.state, assignment.skip_reason = Assignment.State.SKIPPED, reason
        assignment.save(update_fields=["state", "skip_reason"])
        recount_places([assignment.summary_id])


def lock_active_rater(rater: Rater) -> Rater:
    """Return the rater, locked for this transaction.

    Raises NotAllowed if they are suspended or removed, or the project is archived or closed.
    """
    locked = (
        Rater.objects.select_for_update(of=("self",))
        .select_related("project__questionnaire")
        .get(pk=rater.pk)
    )
    require_active(locked)
    return locked


def require_active(rater: Rater) -> None:
    """Raise NotAllowed if the rater is suspended or removed, or the project archived or closed."""
    name = {"project": rater.project.name}
    if rater.status == Rater.Status.SUSPENDED:
        raise NotAllowed(gettext("You are suspended in %(project)s. Ask its manager.") % name)
    if rater.status == Rater.Status.REMOVED:
        raise NotAllowed(gettext("You are removed in %(project)s. Ask its manager.") % name)
    if rater.project.archived_at is not None:
        raise NotAllowed(gettext("%(project)s is archived, so nobody rates in it.") % name)
    if rater.project.closed_at is not None:
        raise CampaignClosed


def own_assignment(rater: Rater, assignment_id: int) -> Assignment:
    """Return the rater's assignment, locked for this transaction. Raises AssignmentGone."""
    assignment = (
        Assignment.objects.select_for_update(of=("self",))
        .select_related("summary__article")
        .filter(pk=assignment_id, rater=rater)
        .first()
    )
    if assignment is None:
        raise AssignmentGone(gettext("This summary is not assigned to you."))
    assignment.rater = rater  # with its project and questionnaire loaded
    return assignment
