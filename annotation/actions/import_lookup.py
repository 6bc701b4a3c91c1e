"""Reading what a project holds of the things that some rows of a file name."""

from collections.abc import Collection, Iterable, Iterator
from typing import TypeVar

from annotation.actions.import_states import (
    ArticleState,
    Sheet,
    SummaryKey,
    SummaryState,
    text_digest,
)
from annotation.models import Answer, Article, GoldAnswer, Project, Rating, Summary

T = TypeVar("T")
AT_ONCE = 500  # names in one statement


def stored_articles(project: Project, external_ids: Collection[str]) -> Iterator[ArticleState]:
    for names in _portions(external_ids):
        for article in Article.objects.filter(project=project, external_id__in=names):
            yield ArticleState(
                article.external_id,
                article.language,
                article.dataset,
                article.split,
                article.title,
                text_digest(article.text),
                article.pk,
                stored_before=True,
            )


def stored_summaries(
    articles: Collection[ArticleState], systems: Collection[str]
) -> Iterator[tuple[SummaryKey, SummaryState]]:
    """The summaries of these articles by these systems."""
    names = {article.pk: article.external_id for article in articles}
    for ids in _portions(names):
        for pk, article, system, text in Summary.objects.filter(
            article__in=ids, system__name__in=systems
        ).values_list("pk", "article", "system__name", "text"):
            yield (names[article], system), SummaryState(text_digest(text), pk, stored_before=True)


def stored_ratings(summaries: Collection[int], raters: Collection[int]) -> Iterator[tuple[int, int, Sheet]]:
    """(summary id, rater id, answers) of ratings outside gold rounds, begun ones among them."""
    for ids in _portions(summaries):
        ratings = Rating.objects.filter(summary__in=ids, rater__in=raters, round__isnull=True)
        given: dict[int, list[tuple[str, str, str]]] = {}
        for rating, *answer in (
            Answer.objects.current()
            .filter(rating__in=ratings)
            .order_by("question__position")
            .values_list("rating", "question__key", "value", "comment")
        ):
            given.setdefault(rating, []).append((answer[0], answer[1], answer[2]))
        for rating, summary, rater in ratings.values_list("pk", "summary", "rater"):
            yield summary, rater, _sheet(given.get(rating, []))


def stored_gold(summaries: Collection[int]) -> Iterator[tuple[int, Sheet]]:
    """(summary id, agreed answers) of gold summaries, retired ones among them."""
    for ids in _portions(summaries):
        given: dict[int, list[tuple[str, str, str]]] = {}
        for summary, *answer in (
            GoldAnswer.objects.filter(gold__summary__in=ids)
            .order_by("question__position")
            .values_list("gold__summary", "question__key", "value", "explanation")
        ):
            given.setdefault(summary, []).append((answer[0], answer[1], answer[2]))
        for summary, answers in given.items():
            yield summary, _sheet(answers)


def _sheet(answers: Iterable[tuple[str, str, str]]) -> Sheet:
    answers = list(answers)
    return Sheet(
        tuple((key, value) for key, value, _ in answers),
        tuple((key, comment) for key, _, comment in answers if comment),
    )


def _portions(names: Collection[T]) -> Iterator[list[T]]:
    ordered = list(names)
    for start in range(0, len(ordered), AT_ONCE):
        yield ordered[start : start + AT_ONCE]
