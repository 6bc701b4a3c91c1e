"""Finding summaries, and what managers and researchers may see of one."""

from dataclasses import dataclass

from django.db.models import Count, Exists, F, OuterRef, Prefetch, Q, QuerySet, TextChoices
from django.db.models.functions import Substr

from annotation.lookups import one_of
from annotation.models import (
    Answer,
    Article,
    ArticleFlag,
    Assignment,
    GuidelinesVersion,
    Project,
    Rater,
    Rating,
    Summary,
)
from annotation.progress.progress import seconds_in_stages

EXCERPT = 400  # characters
LONGEST_SEARCH = 100  # characters


class Shown(TextChoices):
    ALL = "all", "all summaries"
    RATED = "rated", "rated"
    UNRATED = "unrated", "not rated yet"
    FLAGGED = "flagged", "with open flags"
    SKIPPED = "skipped", "skipped by a rater"
    GOLD = "gold", "gold set"
    WITHDRAWN = "withdrawn", "withdrawn"


def find_summaries(
    project: Project, *, shown: str = Shown.ALL, language: str = "", system: str = "", text: str = ""
) -> QuerySet[Summary]:
    """Return the project's summaries, grouped by article, with an `excerpt` in place of their texts.

    Empty filters admit all. `text` is searched in summaries and titles.
    """
    counted = Rating.objects.countable().filter(summary=OuterRef("pk"))
    found = Summary.objects.filter(project=project)
    if language:
        found = found.filter(article__in=Article.objects.filter(project=project, language=language))
    if system:
        found = found.filter(system__name=system)
    if text:
        found = found.filter(
            Q(text__icontains=text) | Q(article__title__icontains=text) | Q(article__external_id=text)
        )
    if shown == Shown.RATED:
        found = found.filter(Exists(counted))
    elif shown == Shown.UNRATED:
        found = found.rateable().filter(~Exists(counted))
    elif shown == Shown.FLAGGED:
        flagged = ArticleFlag.objects.filter(assignment__summary__project=project, resolved_at__isnull=True)
        found = found.filter(article__in=flagged.values("assignment__summary__article"))
    elif shown == Shown.SKIPPED:
        skipped = Assignment.objects.filter(summary=OuterRef("pk"), state=Assignment.State.SKIPPED)
        found = found.filter(Exists(skipped))
    elif shown == Shown.GOLD:
        found = found.filter(gold__retired_at__isnull=True, gold__isnull=False)
    elif shown == Shown.WITHDRAWN:
        found = found.filter(withdrawn_at__isnull=False)
    return (
        found.select_related("article", "system", "gold")
        .defer("text", "article__text")
        .annotate(excerpt=Substr("text", 1, EXCERPT))
        .order_by("article_id", "system_id")
    )


def rating_counts(summaries: list[Summary]) -> dict[int, int]:
    """Return summary id -> number of countable ratings, for summaries that have any."""
    rows = Rating.objects.countable().filter(summary__in=summaries).values_list("summary")
    return dict(rows.annotate(Count("pk")))


def summary_in(project: Project, summary_id: int) -> Summary:
    """Return the project's summary with this id. Raises NotFound."""
    rows = project.summaries.select_related(
        "article", "system", "gold", "project__questionnaire", "withdrawn_by"
    )
    return one_of(rows, summary_id, "summary")


def references_of(summary: Summary) -> QuerySet[Summary]:
    """Return the other references of the summary's article."""
    return (
        Summary.objects.filter(article=summary.article_id, system__is_reference=True)
        .exclude(pk=summary.pk)
        .select_related("system")
        .order_by("system__name")
    )


def flags_of(summary: Summary) -> QuerySet[ArticleFlag]:
    """Return raters' flags of the summary's article, from all its summaries, open ones first."""
    return (
        ArticleFlag.objects.filter(assignment__summary__article=summary.article_id)
        .select_related("assignment__rater", "resolved_by")
        .order_by(F("resolved_at").desc(nulls_first=True), "created_at")
    )


def skips_of(summary: Summary) -> QuerySet[Assignment]:
    """Return the assignments in which raters skipped the summary, by rater."""
    skipped = summary.assignments.filter(state=Assignment.State.SKIPPED)
    return skipped.select_related("rater").order_by("rater__pseudonym")


@dataclass(frozen=True)
class RatingRow:
    """A rating. `answers` holds the revisions of each question's answer, oldest first."""

    rating: Rating
    answers: list[list[Answer]]

    @property
    def left_out(self) -> str:
        """Return why the rating does not count; empty if it does."""
        if self.rating.round is not None:
            return f"gold round {self.rating.round.number}"
        if self.rating.is_check:
            return "hidden check"
        if self.rating.completed_at is None:
            return "not finished"
        if self.rating.voided_at is not None:
            return "voided"
        return "rater removed" if self.rating.rater.status == Rater.Status.REMOVED else ""

    @property
    def guidelines(self) -> list[GuidelinesVersion]:
        """The versions of the guidelines under which the answers were given."""
        given = (answer.guidelines for revisions in self.answers for answer in revisions)
        return list(dict.fromkeys(version for version in given if version is not None))

    @property
    def seconds(self) -> float | None:
        return seconds_in_stages(self.rating.stage_times) if self.rating.stage_times else None


def ratings_of(summary: Summary) -> list[RatingRow]:
    """Return all ratings of the summary, countable ones first."""
    answers = (
        Answer.objects.select_related("question", "guidelines").defer("guidelines__text").order_by("revision")
    )
    ratings = summary.ratings.select_related("rater", "round", "voided_by").prefetch_related(
        Prefetch("answers", answers)
    )
    keys = [question.key for question in summary.project.questionnaire.protocol.questions]
    rows = []
    for rating in ratings.order_by("rater__pseudonym", "created_at"):
        revisions: dict[str, list[Answer]] = {key: [] for key in keys}
        for answer in rating.answers.all():
            revisions[answer.question.key].append(answer)
        rows.append(RatingRow(rating, list(revisions.values())))
    return sorted(rows, key=lambda row: bool(row.left_out))
