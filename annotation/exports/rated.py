"""Ratings with their answers, read in portions, so that memory does not grow with the project."""

from array import array
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from annotation.database.portions import portions
from annotation.exports.filters import RatingFilters
from annotation.models import Answer, Project, Rating

PORTION = 500  # ratings that are read together


class GivenRevision(NamedTuple):
    """One revision of an answer."""

    question: str
    stage: int
    value: str
    comment: str
    revision: int
    is_current: bool
    after_reveal: bool
    answered_at: datetime


@dataclass(slots=True)
class ExportedRating:
    """A finished rating, its summary and its rater, who has no name but the pseudonym."""

    article_id: str
    language: str
    dataset: str
    split: str
    title: str
    system: str
    is_reference: bool
    summary: str
    rater: str
    group: str
    rater_status: str
    is_imported: bool
    started_at: datetime
    rated_at: datetime
    stage_times: list[dict[str, Any]]
    article: str = ""
    """The article's text; empty unless articles were requested."""
    revisions: list[GivenRevision] = field(default_factory=list)
    """Revisions of all questions, in the order of the questionnaire and oldest first."""

    @property
    def values(self) -> dict[str, str]:
        """The current answers by question key."""
        return {given.question: given.value for given in self.revisions if given.is_current}

    @property
    def comments(self) -> dict[str, str]:
        """The comments on current answers by question key."""
        return {
            given.question: given.comment for given in self.revisions if given.is_current and given.comment
        }


_COLUMNS = (
    "summary__article__external_id",
    "summary__article__language",
    "summary__article__dataset",
    "summary__article__split",
    "summary__article__title",
    "summary__system__name",
    "summary__system__is_reference",
    "summary__text",
    "rater__pseudonym",
    "rater__group",
    "rater__status",
    "assignment",
    "created_at",
    "completed_at",
    "stage_times",
)
_ASSIGNMENT = _COLUMNS.index("assignment")


def exported_ratings(
    project: Project, filters: RatingFilters, *, split: str | None = None, articles: bool = False
) -> Iterator[ExportedRating]:
    """Yield the ratings, or those of one split, by article, summary and pseudonym.

    A project that they are imported into has the same order. Holds their ids, 8 bytes each, and one portion.
    """
    chosen = filters.ratings(project).order_by("summary__article", "summary", "rater__pseudonym")
    if split is not None:
        chosen = chosen.filter(summary__article__split=split)
    ids = array("q", chosen.values_list("pk", flat=True).iterator())
    for portion in portions(ids, PORTION):
        found = _read(portion, articles)
        yield from (found[pk] for pk in portion)


def ratings_of_summaries(
    project: Project, filters: RatingFilters, summaries: Collection[int]
) -> dict[int, list[ExportedRating]]:
    """Return summary id -> its ratings by pseudonym; summaries without ratings are left out."""
    found: dict[int, list[ExportedRating]] = {}
    for ids in portions(summaries, PORTION):
        # A condition of its own, so that the planner starts from these few summaries.
        chosen = filters.ratings(project).filter(pk__in=Rating.objects.filter(summary__in=ids).values("pk"))
        pairs = dict(chosen.order_by("rater__pseudonym").values_list("pk", "summary"))
        ratings = _read(list(pairs), articles=False)
        for pk, summary in pairs.items():
            found.setdefault(summary, []).append(ratings[pk])
    return found


def _read(ids: list[int], articles: bool) -> dict[int, ExportedRating]:
    columns = (*_COLUMNS, "summary__article__text") if articles else _COLUMNS
    found = {}
    for pk, *row in Rating.objects.filter(pk__in=ids).values_list("pk", *columns):
        row[_ASSIGNMENT] = row[_ASSIGNMENT] is None
        found[pk] = ExportedRating(*row)
    answers = Answer.objects.filter(rating__in=ids).order_by("rating", "question__position", "revision")
    given: Any
    for pk, *given in answers.values_list(
        "rating",
        "question__key",
        "question__stage",
        "value",
        "comment",
        "revision",
        "is_current",
        "after_reveal",
        "created_at",
    ):
        found[pk].revisions.append(GivenRevision(*given))
    return found
