"""Counts of a dataset for its card."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count

from annotation.exports.filters import RatingFilters
from annotation.models import Answer, Project, QualificationRound, Rater, Rating
from annotation.models.ratings import RatingQuerySet


@dataclass(frozen=True)
class Share:
    """The share of the dataset in one language or by one system."""

    name: str
    articles: int
    summaries: int
    ratings: int
    raters: int


@dataclass(frozen=True)
class DatasetCounts:
    whole: Share
    languages: Sequence[Share]
    datasets: Sequence[Share]
    systems: Sequence[Share]
    raters: Sequence[tuple[str, str, int]]
    """Pseudonym, group and number of ratings."""
    answers: dict[str, dict[str, int]]
    """Question key -> value -> current answers."""
    rated_once: int
    """Summaries with one rating."""
    imported: int
    """Ratings made elsewhere."""
    corrected_late: int
    """Current answers that were given after a later stage had been shown."""
    passed_gold: int
    """Raters of the dataset who passed a gold round."""
    removed_ratings: int
    """Ratings that are left out because their raters were removed."""


def dataset_counts(project: Project, filters: RatingFilters) -> DatasetCounts:
    ratings = filters.ratings(project)
    current = Answer.objects.current().filter(rating__in=ratings)
    times = ratings.order_by().values("summary").annotate(times=Count("pk"))
    answers: dict[str, dict[str, int]] = {}
    for key, value, count in (
        current.order_by().values_list("question__key", "value").annotate(count=Count("pk"))
    ):
        answers.setdefault(key, {})[value] = count
    passed = QualificationRound.objects.filter(passed=True, rater__in=ratings.values("rater"))
    return DatasetCounts(
        whole=_whole(ratings),
        languages=_shares(ratings, "summary__article__language"),
        datasets=_shares(ratings, "summary__article__dataset"),
        systems=_shares(ratings, "summary__system__name"),
        raters=list(
            ratings.order_by("rater__pseudonym")
            .values_list("rater__pseudonym", "rater__group")
            .annotate(count=Count("pk"))
        ),
        answers=answers,
        rated_once=times.filter(times=1).count(),
        imported=ratings.filter(assignment__isnull=True).count(),
        corrected_late=current.filter(after_reveal=True).count(),
        passed_gold=passed.values("rater").distinct().count(),
        removed_ratings=_removed(project, filters),
    )


_COUNTS = {
    "articles": Count("summary__article", distinct=True),
    "summaries": Count("summary", distinct=True),
    "ratings": Count("pk"),
    "raters": Count("rater", distinct=True),
}


def _whole(ratings: RatingQuerySet) -> Share:
    return Share("All", **ratings.order_by().aggregate(**_COUNTS))


def _shares(ratings: RatingQuerySet, place: str) -> list[Share]:
    rows = ratings.order_by(place).values(place).annotate(**_COUNTS)
    return [Share(row.pop(place), **row) for row in rows]


def _removed(project: Project, filters: RatingFilters) -> int:
    if filters.rater_status:
        return 0
    removed = Rating.objects.finished().filter(rater__status=Rater.Status.REMOVED)
    return removed.filter(filters.summaries("summary__"), summary__project=project).count()
