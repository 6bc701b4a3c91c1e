"""Counts of each rater's contradictory answers, and where they are."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation.contradictions.rules import Contradiction, ContradictionRule, contradictions, rules_of
from annotation.models import Answer, Project, Rater, Rating


@dataclass(frozen=True)
class RaterContradictions:
    rater: Rater
    contradictory: int
    checked: int
    """Ratings that answer a question of a rule and could contradict themselves."""

    @property
    def share(self) -> float:
        return self.contradictory / self.checked


def contradictory_ratings(project: Project) -> QuerySet[Rating]:
    """Return the ratings that count and contradict themselves by any rule, the latest first."""
    wanted = Q(pk__in=[])
    for rule in rules_of(project.questionnaire.key):
        others = Q()
        for key, value in rule.others:
            others |= Q(_given(key, value))
        wanted |= Q(_given(*rule.answer)) & others
    ratings = Rating.objects.countable().filter(wanted, summary__project=project)
    return ratings.order_by("-completed_at", "-pk")


def contradictions_by_rater(project: Project) -> list[RaterContradictions]:
    """Return the raters with a rating that could contradict itself, the largest share first."""
    checked = Q(pk__in=[])
    for rule in rules_of(project.questionnaire.key):
        checked |= Q(_answered(rule))
    ratings = Rating.objects.countable().filter(checked, summary__project=project)
    counts = dict(ratings.order_by().values_list("rater").annotate(Count("pk")))
    found = dict(contradictory_ratings(project).order_by().values_list("rater").annotate(Count("pk")))
    raters = Rater.objects.in_bulk(list(counts))
    rows = [RaterContradictions(raters[pk], found.get(pk, 0), times) for pk, times in counts.items()]
    return sorted(rows, key=lambda row: (-row.share, -row.contradictory, row.rater.pseudonym))


def contradictions_in(project: Project, ratings: Sequence[Rating]) -> dict[int, list[Contradiction]]:
    """Return rating id -> its contradictions."""
    sheets: dict[int, dict[str, str]] = {rating.pk: {} for rating in ratings}
    answers = Answer.objects.current().filter(rating__in=ratings)
    for pk, key, value in answers.values_list("rating", "question__key", "value"):
        sheets[pk][key] = value
    questionnaire = project.questionnaire.protocol
    return {pk: contradictions(questionnaire, sheet) for pk, sheet in sheets.items()}


def _given(key: str, value: str) -> Exists:
    answers = Answer.objects.current().filter(rating=OuterRef("pk"))
    return Exists(answers.filter(question__key=key, value=value))


def _answered(rule: ContradictionRule) -> Exists:
    answers = Answer.objects.current().filter(rating=OuterRef("pk"))
    return Exists(answers.filter(question__key=rule.answer[0]))
