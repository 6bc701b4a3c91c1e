"""A rater's own finished production ratings, as the rater may see them."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Prefetch, QuerySet
from django.utils.translation import gettext

from annotation import protocol
from annotation.errors import NotFound
from annotation.models import Answer, ArticleFlag, Rater, Rating
from annotation.rating.desk import GivenAnswer
from annotation.rating.shown_item import ShownArticle
from annotation.rating.withheld import withheld_articles


@dataclass(frozen=True, kw_only=True)
class Revision(GivenAnswer):
    created_at: datetime
    after_reveal: bool


@dataclass(frozen=True)
class PastAnswer:
    """One answer with its revisions, oldest first. The last one counts."""

    question: protocol.Question
    revisions: tuple[Revision, ...]

    @property
    def current(self) -> GivenAnswer:
        return self.revisions[-1]

    @property
    def corrected(self) -> bool:
        return len(self.revisions) > 1


@dataclass(frozen=True)
class PastRating:
    rating_id: int
    completed_at: datetime
    language: str
    summary: str
    answers: tuple[PastAnswer, ...]
    void_reason: str
    """The reason why the project's manager voided the rating; empty if it counts."""
    gold_shown: bool
    """True if the rating was a check and its rater has seen the gold answers."""
    is_reopened: bool
    """True while its rater answers it again. It counts as shown here."""

    @property
    def corrected(self) -> bool:
        return any(answer.corrected for answer in self.answers)

    @property
    def sheet(self) -> dict[str, str]:
        return {answer.question.key: answer.current.value for answer in self.answers}


@dataclass(frozen=True)
class OpenedRating:
    """A past rating with its article, if the rating reached it.

    The article is withheld while the rater rates another of its summaries that has not reached it yet.
    """

    rating: PastRating
    article: ShownArticle | None
    article_withheld: bool


def finished_ratings(rater: Rater) -> QuerySet[Rating]:
    """Return the rater's finished production ratings, newest first."""
    answers = Answer.objects.select_related("question").order_by("question__position", "revision")
    return (
        Rating.objects.filter(rater=rater, completed_at__isnull=False, round__isnull=True)
        .select_related("summary__article", "assignment")
        .defer("summary__article__title", "summary__article__text")
        .prefetch_related(Prefetch("answers", answers))
        .order_by("-completed_at", "-pk")
    )


def past_rating(rating: Rating) -> PastRating:
    """Return `rating`, from `finished_ratings`, as its rater may see it."""
    revisions: dict[str, list[Answer]] = {}
    for answer in rating.answers.all():
        revisions.setdefault(answer.question.key, []).append(answer)
    assert rating.completed_at is not None
    return PastRating(
        rating_id=rating.pk,
        completed_at=rating.completed_at,
        language=rating.summary.article.language,
        summary=rating.summary.text,
        gold_shown=rating.gold_shown_at is not None,
        is_reopened=rating.is_reopened,
        answers=tuple(
            PastAnswer(
                rows[0].question.protocol,
                tuple(
                    Revision(row.value, row.comment, created_at=row.created_at, after_reveal=row.after_reveal)
                    for row in rows
                ),
            )
            for rows in revisions.values()
            if rows[-1].is_current  # otherwise a re-opened rating ended before the question
        ),
        void_reason=rating.void_reason if rating.voided_at else "",
    )


def open_rating(rater: Rater, rating_id: int) -> OpenedRating:
    """Return one finished rating of this rater. Raises NotFound."""
    found = finished_ratings(rater).filter(pk=rating_id).first()
    if found is None:
        raise NotFound(gettext("You have no such finished rating."))
    past = past_rating(found)
    reached = max(answer.question.stage for answer in found.answers.all())
    if not rater.project.questionnaire.protocol.shows_article(reached):
        return OpenedRating(past, None, article_withheld=False)
    source = found.summary.article
    if source.pk in withheld_articles(rater):
        return OpenedRating(past, None, article_withheld=True)
    flags = ArticleFlag.objects.filter(assignment=found.assignment_id)
    flag = flags.values_list("reason", flat=True).first() or ""
    return OpenedRating(past, ShownArticle.of(source, flag), article_withheld=False)


def possible_values(questionnaire: protocol.Questionnaire, past: PastRating, key: str) -> frozenset[str]:
    """Return the answers to question `key` that leave the finished sheet complete.

    A correction can neither end a rating earlier nor require questions that were not asked.
    """
    return frozenset(
        value
        for value in questionnaire.question(key).scale.choices
        if protocol.is_complete(questionnaire, {**past.sheet, key: value})
    )
