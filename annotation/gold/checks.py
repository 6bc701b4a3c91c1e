"""Hidden checks: gold summaries among a qualified rater's work, which look like all others.

Ratings of checks never count, and checks take no place of a summary.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from random import SystemRandom

from django.db.models import Exists, F, OuterRef, QuerySet
from django.utils import timezone

from annotation.audit.actions import Action
from annotation.audit.log import acting_as, record
from annotation.events.recording import record_suspension
from annotation.gold.answer_sheets import agreed_sheets, given_sheets
from annotation.gold.qualification import Decision, decide
from annotation.gold.rounds import thresholds
from annotation.models import Assignment, CheckSuspension, Project, Rater, Rating, Summary
from annotation.open_places import recent_articles, recount_places


def check_is_due(project: Project) -> bool:
    """Draw whether a rater's next summary is a hidden check, at the project's rate."""
    return SystemRandom().random() < project.check_rate


def draw_check(rater: Rater, languages: Sequence[str], *, of_other_articles: bool) -> int | None:
    """Return a gold summary for a hidden check; None if there is none for this rater.

    It is one that the rater has never had, with `of_other_articles` of an article that they have not had
    lately.
    """
    unseen = unseen_gold(rater, languages)
    if of_other_articles:
        unseen = unseen.exclude(article__in=recent_articles(rater))
    if rater.project.articles_once:
        unseen = unseen.exclude(article__in=rater.assignments.values("summary__article"))
    ids = list(unseen.values_list("pk", flat=True))
    return SystemRandom().choice(ids) if ids else None


def unseen_gold(rater: Rater, languages: Sequence[str]) -> QuerySet[Summary]:
    """Return the gold summaries in these languages that the rater never had. Expired checks may return."""
    expired = Assignment.objects.filter(is_check=True, state=Assignment.State.RELEASED)
    had = Assignment.objects.filter(rater=rater, summary=OuterRef("pk")).exclude(pk__in=expired)
    rated = Rating.objects.filter(rater=rater, summary=OuterRef("pk"), completed_at__isnull=False)
    return Summary.objects.in_new_rounds(rater.project).filter(
        ~Exists(had), ~Exists(rated), article__language__in=languages
    )


def settle_check(rater: Rater, rating: Rating, language: str, now: datetime) -> None:
    """Show the gold answers of a finished check if the project wants it, and suspend a rater who fails.

    A rater is suspended once the share of matched answers in their last checks in a language is below the
    project's threshold. The rater must be locked.
    """
    project = rater.project
    if project.check_feedback:
        rating.gold_shown_at = now
        rating.save(update_fields=["gold_shown_at"])
    found = check_accuracy(rater, language)
    if found is None or found.checks < project.check_minimum or found.share >= project.check_threshold:
        return
    CheckSuspension.objects.create(
        rater=rater,
        language=language,
        suspended_at=now,
        checks=found.checks,
        matched=found.matched,
        asked=found.asked,
        threshold=project.check_threshold,
    )
    Rater.objects.filter(pk=rater.pk).update(status=Rater.Status.SUSPENDED, status_before=F("status"))
    rater.status = Rater.Status.SUSPENDED
    held = rater.assignments.held().filter(round__isnull=True)
    summaries = list(held.values_list("summary", flat=True))
    held.release()
    recount_places(summaries)
    with acting_as(lambda: None):  # it is not the rater who does this
        details = {"language": language, "matched": found.matched, "asked": found.asked}
        record(Action.RATER_SUSPENDED_BY_CHECKS, project, rater, details=details)
    record_suspension(rater, by_checks=True)


def lift_suspensions(rater: Rater) -> None:
    """Mark the rater's suspensions by checks as lifted."""
    rater.check_suspensions.filter(lifted_at__isnull=True).update(lifted_at=timezone.now())


@dataclass(frozen=True)
class CheckAccuracy:
    """A rater's answers to their last checks in one language, by question in `decision`."""

    language: str
    checks: int
    decision: Decision

    @property
    def matched(self) -> int:
        return sum(result.matched for result in self.decision.results)

    @property
    def asked(self) -> int:
        return sum(result.asked for result in self.decision.results)

    @property
    def share(self) -> float:
        """Return the share of answers that match the gold answers, 0 to 1."""
        return self.matched / self.asked


def check_accuracy(rater: Rater, language: str) -> CheckAccuracy | None:
    """Return the accuracy in the project's window of last checks, None without any.

    Checks before the last suspension and of summaries that are no longer gold are left out.
    """
    return check_accuracies(rater, [language]).get(language)


def check_accuracies(rater: Rater, languages: Collection[str]) -> dict[str, CheckAccuracy]:
    """Return the accuracy of `check_accuracy` by language, where any, in a fixed number of queries."""
    ratings = Rating.objects.filter(
        rater=rater,
        is_check=True,
        completed_at__isnull=False,
        summary__gold__isnull=False,
        summary__article__language__in=languages,
    )
    last = rater.check_suspensions.order_by("-suspended_at").first()
    if last is not None:
        ratings = ratings.filter(completed_at__gt=last.suspended_at)
    checks: dict[str, dict[int, int]] = {}
    latest_first = ratings.order_by("-completed_at", "-pk")
    for language, pk, summary in latest_first.values_list("summary__article__language", "pk", "summary"):
        window = checks.setdefault(language, {})
        if len(window) < rater.project.check_window:
            window[pk] = summary
    if not checks:
        return {}
    agreed = agreed_sheets({summary for window in checks.values() for summary in window.values()})
    given = given_sheets(Rating.objects.filter(pk__in={pk for window in checks.values() for pk in window}))
    found = {}
    for language, window in checks.items():
        pairs = [(agreed[summary], given.get(summary, {})) for summary in window.values()]
        found[language] = CheckAccuracy(language, len(pairs), decide(pairs, thresholds(rater.project)))
    return found
