"""Gold rounds: a new rater rates gold summaries until they pass a round."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from random import SystemRandom

from django.db import transaction
from django.db.models import Count, Max, QuerySet
from django.utils import timezone

from annotation.errors import NotAllowed
from annotation.gold.qualification import Decision, Thresholds, decide
from annotation.gold.qualified_languages import qualified_languages, qualify_by_round
from annotation.gold.sampling import sample_round
from annotation.guidelines.following import require_confirmed
from annotation.models import Answer, Assignment, GoldAnswer, Project, QualificationRound, Rater, Summary
from annotation.templatetags.texts import language_name

ROUND_LEASE = timedelta(days=30)  # no other rater waits for it


def gold_available(project: Project, language: str) -> int:
    """Count the gold summaries in this language that new rounds may take."""
    return _gold_in(project, language).count()


def _gold_in(project: Project, language: str) -> QuerySet[Summary]:
    return Summary.objects.in_new_rounds(project).filter(article__language=language)


def round_size(project: Project, done: int) -> int:
    """Return the most gold summaries in the next round after `done` rounds in the same language."""
    return project.gold_round_size if done == 0 else project.gold_retry_size


def open_round(rater: Rater, language: str) -> QualificationRound | None:
    return rater.rounds.filter(language=language, decided_at__isnull=True).first()


def start_round(rater: Rater, language: str) -> QualificationRound:
    """Return the rater's open gold round in this language, or start the next one.

    `sample_round` says which gold summaries it takes. Raises NotAllowed for
    suspended and removed raters, for a language that they do not have or are qualified in, and without gold
    summaries in it, and GuidelinesUnconfirmed.
    """
    with transaction.atomic():
        rater = Rater.objects.select_for_update(of=("self",)).select_related("project").get(pk=rater.pk)
        if rater.status in (Rater.Status.SUSPENDED, Rater.Status.REMOVED):
            raise NotAllowed(f"Gold rounds are for active raters. You are {rater.get_status_display()}.")
        if language not in rater.languages:
            raise NotAllowed("Choose one of your languages first.")
        if language in qualified_languages(rater):
            raise NotAllowed(f"You are already qualified in {language_name(language)}.")
        require_confirmed(rater)
        running = open_round(rater, language)
        if running is not None:
            return running
        size = round_size(rater.project, rater.rounds.filter(language=language).count())
        seen = {
            row["summary"]: (row["times"], row["last"])
            for row in Assignment.objects.filter(rater=rater, round__isnull=False)
            .values("summary")
            .annotate(times=Count("pk"), last=Max("round__number"))
        }
        gold = GoldAnswer.objects.filter(gold__summary__in=_gold_in(rater.project, language))
        sheets = _by_summary(gold.values_list("gold__summary", "question__key", "value"))
        if not sheets:
            raise NotAllowed(
                f"{rater.project.name} has no gold summaries in {language_name(language)} yet. "
                "Its manager can add some."
            )
        now = timezone.now()
        started = QualificationRound.objects.create(
            rater=rater, language=language, number=rater.rounds.count() + 1
        )
        Assignment.objects.bulk_create(
            Assignment(
                rater=rater,
                summary_id=summary_id,
                round=started,
                stage_opened_at=now,
                leased_until=now + ROUND_LEASE,
            )
            for summary_id in sample_round(sheets, seen, size, SystemRandom())
        )
        return started


def next_in_round(current: QualificationRound) -> Assignment | None:
    """Return the round's next unfinished summary."""
    return current.assignments.filter(state=Assignment.State.OPEN).order_by("pk").first()


def decide_when_finished(current: QualificationRound, now: datetime) -> None:
    """Decide the round once its last summary is rated. Passing qualifies the rater in its language."""
    if current.decided_at is not None or next_in_round(current) is not None:
        return
    current.passed = round_decision(current).passed
    current.decided_at = now
    current.save(update_fields=["passed", "decided_at"])
    if current.passed:
        qualify_by_round(current, now)


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
