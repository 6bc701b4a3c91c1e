"""Gold rounds: a new rater rates gold summaries until they pass a round."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Max, QuerySet
from django.utils import timezone

from annotation.errors import NotAllowed
from annotation.gold.qualification import Decision, Thresholds, decide
from annotation.guidelines.following import require_confirmed
from annotation.models import Answer, Assignment, GoldAnswer, Project, QualificationRound, Rater, Summary

ROUND_LEASE = timedelta(days=30)  # no other rater waits for it


def gold_available(rater: Rater) -> int:
    """Count the gold summaries in the rater's languages."""
    return _gold_for(rater).count()


def _gold_for(rater: Rater) -> QuerySet[Summary]:
    return (
        Summary.objects.filter(
            project=rater.project,
            gold__isnull=False,
            gold__retired_at__isnull=True,
            article__language__in=rater.languages,
        )
        .exclude(article__text="")
        .order_by("shuffle_key", "pk")
    )


def round_size(project: Project, done: int) -> int:
    """Return the most gold summaries in the next round of a rater who has finished `done` rounds."""
    return project.gold_round_size if done == 0 else project.gold_retry_size


def open_round(rater: Rater) -> QualificationRound | None:
    return rater.rounds.filter(decided_at__isnull=True).first()


def start_round(rater: Rater) -> QualificationRound:
    """Return the rater's open gold round, or start the next one.

    It takes the gold summaries that the rater has seen least often and longest ago. Raises NotAllowed unless
    the rater is in training and there are gold summaries in their languages, and GuidelinesUnconfirmed.
    """
    with transaction.atomic():
        rater = Rater.objects.select_for_update(of=("self",)).select_related("project").get(pk=rater.pk)
        if rater.status != Rater.Status.TRAINING:
            raise NotAllowed(f"Gold rounds are for raters in training. You are {rater.get_status_display()}.")
        require_confirmed(rater)
        running = open_round(rater)
        if running is not None:
            return running
        done = rater.rounds.count()
        size = round_size(rater.project, done)
        seen = {
            row["summary"]: (row["times"], row["last"])
            for row in Assignment.objects.filter(rater=rater, round__isnull=False)
            .values("summary")
            .annotate(times=Count("pk"), last=Max("round__number"))
        }
        gold = sorted(_gold_for(rater).values_list("pk", flat=True), key=lambda pk: seen.get(pk, (0, 0)))
        if not gold:
            raise NotAllowed(
                f"{rater.project.name} has no gold summaries in your languages yet. Its manager can add some."
            )
        now = timezone.now()
        started = QualificationRound.objects.create(rater=rater, number=done + 1)
        Assignment.objects.bulk_create(
            Assignment(
                rater=rater,
                summary_id=summary_id,
                round=started,
                stage_opened_at=now,
                leased_until=now + ROUND_LEASE,
            )
            for summary_id in gold[:size]
        )
        return started


def next_in_round(current: QualificationRound) -> Assignment | None:
    """Return the round's next unfinished summary."""
    return current.assignments.filter(state=Assignment.State.OPEN).order_by("pk").first()


def decide_when_finished(current: QualificationRound, now: datetime) -> None:
    """Decide the round once its last summary is rated. Passing qualifies the rater."""
    if current.decided_at is not None or next_in_round(current) is not None:
        return
    current.passed = round_decision(current).passed
    current.decided_at = now
    current.save(update_fields=["passed", "decided_at"])
    if current.passed:
        Rater.objects.filter(pk=current.rater_id, status=Rater.Status.TRAINING).update(
            status=Rater.Status.QUALIFIED
        )


def round_decision(current: QualificationRound) -> Decision:
    """Return the rater's agreement with gold by question, against the project's thresholds."""
    agreed = GoldAnswer.objects.filter(gold__summary__in=current.assignments.values("summary"))
    answers = Answer.objects.current().filter(rating__round=current)
    gold = _by_summary(agreed.values_list("gold__summary", "question__key", "value"))
    given = _by_summary(answers.values_list("rating__summary", "question__key", "value"))
    return decide([(gold[pk], given.get(pk, {})) for pk in gold], thresholds(current.rater.project))


def _by_summary(rows: Iterable[tuple[int, str, str]]) -> dict[int, dict[str, str]]:
    sheets: dict[int, dict[str, str]] = {}
    for summary_id, key, value in rows:
        sheets.setdefault(summary_id, {})[key] = value
    return sheets


def thresholds(project: Project) -> Thresholds:
    return Thresholds(project.gold_threshold, project.gold_thresholds)
