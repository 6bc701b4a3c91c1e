"""The gold set of each language, and what it lacks for a first and a retry round."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count

from annotation.models import GoldAnswer, Project, Rater, Summary
from annotation.protocol import Question


@dataclass(frozen=True)
class GoldAnswerCounts:
    """The number of gold summaries with each answer to a question; 0 for answers that none has."""

    question: Question
    answers: Mapping[str, int]


@dataclass(frozen=True)
class LanguageCoverage:
    """The gold set in one language. `needed` is for a first round and a retry without a repeated summary."""

    language: str
    summaries: int
    needed: int
    has_raters: bool
    questions: Sequence[GoldAnswerCounts]

    @property
    def missing(self) -> int:
        return max(0, self.needed - self.summaries)


def gold_coverage(project: Project) -> list[LanguageCoverage]:
    """Return the coverage of each language that has gold summaries, summaries to rate, or raters."""
    sizes = _sizes(project)
    rated = Summary.objects.filter(project=project).rateable().order_by()
    to_rate = set(rated.values_list("article__language", flat=True).distinct())
    with_raters = _languages_of_raters(project)
    counts: dict[tuple[str, str], dict[str, int]] = {}
    rows = GoldAnswer.objects.filter(gold__summary__in=Summary.objects.in_new_rounds(project)).order_by()
    for language, key, value, count in rows.values_list(
        "gold__summary__article__language", "question__key", "value"
    ).annotate(Count("pk")):
        counts.setdefault((language, key), {})[value] = count
    questions = project.questionnaire.protocol.questions
    return [
        LanguageCoverage(
            language,
            sizes.get(language, 0),
            _needed(project),
            language in with_raters,
            [
                GoldAnswerCounts(
                    each,
                    {**dict.fromkeys(_expected_answers(each), 0), **counts.get((language, each.key), {})},
                )
                for each in questions
            ],
        )
        for language in sorted(set(sizes) | to_rate | with_raters)
    ]


@dataclass(frozen=True)
class GoldShortage:
    language: str
    missing: int


def gold_shortages(project: Project) -> list[GoldShortage]:
    """Return the raters' languages in which a first round and a retry would repeat summaries."""
    sizes = _sizes(project)
    missing = {
        language: _needed(project) - sizes.get(language, 0) for language in _languages_of_raters(project)
    }
    return [GoldShortage(language, lack) for language, lack in sorted(missing.items()) if lack > 0]


def _needed(project: Project) -> int:
    return project.gold_round_size + project.gold_retry_size


def _sizes(project: Project) -> dict[str, int]:
    gold = Summary.objects.in_new_rounds(project).order_by()
    return dict(gold.values_list("article__language").annotate(Count("pk")))


def _languages_of_raters(project: Project) -> set[str]:
    """Return the languages of raters who have a login and may rate or qualify."""
    raters = project.raters.filter(
        user__isnull=False, status__in=[Rater.Status.TRAINING, Rater.Status.QUALIFIED]
    )
    return set().union(*raters.values_list("languages", flat=True))


def _expected_answers(question: Question) -> Sequence[str]:
    """Return the answers that a gold set should have: those that count as a number, so not Unsure."""
    return [value for value in question.scale.choices if question.scale.number(value) is not None]
