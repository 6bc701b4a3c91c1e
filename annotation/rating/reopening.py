"""A rater re-opens the rating that they finished last, for example after a wrong key at the first question.

It starts again at its first stage, with its answers as drafts. It counts as it was until it is finished anew,
and stays so if that never happens: see `AssignmentQuerySet.release`. No answer is overwritten: see
`submitting.submit_at`.
"""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from annotation.errors import AssignmentGone, NotAllowed
from annotation.gold.rounds import decide_when_finished
from annotation.guidelines.following import require_confirmed
from annotation.models import Assignment, GoldRating, Rater, Rating
from annotation.open_places import recount_places
from annotation.rating.assigning import lock_active_rater, own_assignment
from annotation.rating.desk import Desk, draft_of
from annotation.rating.submitting import latest_answers

REOPENED = gettext_noop(
    "Your last rating is open again, with your answers. It counts as it was until you finish it."
)
FINISH_FIRST = gettext_noop("You have re-opened a rating already. Finish it first.")
CLOSED = gettext_noop("This campaign is closed, so its ratings stay as they are.")
NOT_LATEST = gettext_noop(
    "You can only re-open the rating that you finished last. Correct earlier ones in My ratings."
)
NO_CORRECTIONS = gettext_noop("Finished ratings cannot be changed in this project. Ask its manager.")
VOIDED = gettext_noop("The project's manager voided this rating, so it stays as it is.")
WITHDRAWN = gettext_noop("The project's manager withdrew this summary, so its rating stays as it is.")
IN_GOLD_SET = gettext_noop("This summary is in the gold set now, so its rating stays as it is.")
DECIDED = gettext_noop("This gold round is decided, so its ratings stay as they are.")
IN_TRAINING = gettext_noop("You get summaries to rate after you pass a gold round.")
GOLD_SHOWN = gettext_noop("You have seen the expected answers, so this rating stays as it is.")
SEEN_AGAIN = gettext_noop(
    "You have opened the same article for the next summary already. Finish that summary."
)


def reopenable_rating(rater: Rater) -> Rating | None:
    """Return the rating that the rater may re-open now, or None."""
    if _reopened(rater).exists():
        return None
    latest = _latest(rater)
    return None if latest is None or _refusal(rater, latest, is_gold=_is_gold(latest)) else latest


def reopenable_at(desk: Desk) -> Rating | None:
    """Return as `reopenable_rating`, from what the desk holds."""
    latest = desk.last_rating
    if desk.has_reopened or latest is None or _refusal(desk.rater, latest, is_gold=desk.last_is_gold):
        return None
    return latest


def reopen_rating(rater: Rater, rating_id: int, now: datetime | None = None) -> Assignment:
    """Open the rater's latest finished rating at its first stage. Return its assignment.

    Repeating it changes nothing. A gold rating may be re-opened until its round is decided. Raises NotAllowed
    for other ratings, if the project forbids corrections and if the rater may not rate, AssignmentGone for
    others' ratings, and GuidelinesUnconfirmed.
    """
    now = now or timezone.now()
    with transaction.atomic():
        rater = lock_active_rater(rater)
        require_confirmed(rater)
        # Locked, because its manager may be voiding it.
        own = _production_and_gold(rater).select_for_update(of=("self",))
        rating = own.filter(pk=rating_id).first()
        if rating is None or rating.assignment is None:
            raise AssignmentGone(gettext("You have no such finished rating."))
        reopened = _reopened(rater).first()
        if reopened == rating:
            return rating.assignment
        refusal = FINISH_FIRST if reopened else NOT_LATEST if rating != _latest(rater) else ""
        refusal = refusal or _refusal(rater, rating, is_gold=_is_gold(rating))
        if refusal:
            raise NotAllowed(gettext(refusal))
        _conceal_article(rater, rating)
        assignment = rating.assignment
        assignment.state = Assignment.State.REOPENED
        assignment.stage = 1
        assignment.stage_opened_at = now
        assignment.leased_until = max(
            assignment.leased_until, now + timedelta(minutes=rater.project.lease_minutes)
        )
        questionnaire = rater.project.questionnaire.protocol
        assignment.draft = draft_of(questionnaire.stage(1), latest_answers(rating))
        assignment.save()
        assignment.rater = rater
        return assignment


def keep_rating(rater: Rater, assignment_id: int, now: datetime | None = None) -> Assignment:
    """Close a re-opened rating as it was. Repeating it changes nothing. Return its assignment.

    Raises AssignmentGone for unfinished and others' ratings, and NotAllowed if the rater may not rate.
    """
    with transaction.atomic():
        rater = lock_active_rater(rater)
        assignment = own_assignment(rater, assignment_id)
        if assignment.state == Assignment.State.REOPENED:
            rater.assignments.filter(pk=assignment.pk).release()
            assignment.refresh_from_db(fields=["state", "draft", "resubmitted"])
            if assignment.round is not None:
                decide_when_finished(assignment.round, now or timezone.now())
        if assignment.state != Assignment.State.DONE:
            raise AssignmentGone(gettext("You have no such re-opened rating."))
        return assignment


def _production_and_gold(rater: Rater) -> QuerySet[Rating]:
    """Return the rater's ratings that were made here; imported ones have no assignment."""
    return Rating.objects.filter(rater=rater, assignment__isnull=False).select_related(
        "assignment__summary__article", "summary", "round"
    )


def _latest(rater: Rater) -> Rating | None:
    finished = _production_and_gold(rater).filter(completed_at__isnull=False)
    return finished.order_by("-completed_at", "-pk").first()


def _reopened(rater: Rater) -> QuerySet[Rating]:
    """Return the rating that the rater has re-opened and not finished anew."""
    return Rating.objects.filter(assignment__rater=rater, assignment__state=Assignment.State.REOPENED)


def _is_gold(rating: Rating) -> bool:
    return GoldRating.objects.filter(summary=rating.summary_id, retired_at__isnull=True).exists()


def _refusal(rater: Rater, rating: Rating, *, is_gold: bool) -> str:
    """Return why the latest rating cannot be re-opened; empty if it can."""
    if rater.project.closed_at is not None:
        return CLOSED
    if not rater.project.allow_corrections:
        return NO_CORRECTIONS
    if rating.voided_at is not None:
        return VOIDED
    if rating.round is not None:
        return DECIDED if rating.round.decided_at is not None else ""
    if rater.status != Rater.Status.QUALIFIED:
        return IN_TRAINING
    if rating.summary.withdrawn_at is not None:
        return WITHDRAWN
    if rating.is_check:  # until then it is like any other rating
        return GOLD_SHOWN if rating.gold_shown_at is not None else ""
    return IN_GOLD_SET if is_gold else ""


def _conceal_article(rater: Rater, rating: Rating) -> None:
    """Close other summaries of the same article, which the first stage must not show.

    In production they return to the pool with their answers. Raises NotAllowed in gold rounds, where the
    rater has to finish them.
    """
    shows_article = rater.project.questionnaire.protocol.shows_article
    if shows_article(1):
        return
    article = rating.summary.article_id
    others = rater.assignments.held().filter(summary__article=article)
    if rating.round_id is not None:
        if any(shows_article(stage) for stage in others.values_list("stage", flat=True)):
            raise NotAllowed(gettext(SEEN_AGAIN))
        return
    summaries = list(others.values_list("summary", flat=True))
    others.release()
    recount_places(summaries)
