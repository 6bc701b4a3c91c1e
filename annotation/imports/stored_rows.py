"""Reading the project's rows that an import needs to know."""

from collections.abc import Collection, Iterable, Iterator

from annotation.database.portions import portions
from annotation.imports.known_rows import ArticleState, Sheet, SummaryState, exact_digest
from annotation.imports.reading.records import SummaryKey
from annotation.models import Answer, Article, GoldAnswer, Project, Rating, Summary


def stored_articles(project: Project, external_ids: Collection[str]) -> Iterator[ArticleState]:
    for names in portions(external_ids):
        for article in Article.objects.filter(project=project, external_id__in=names):
            yield ArticleState(
                article.external_id,
                article.language,
                article.dataset,
                article.split,
                article.title,
                exact_digest(article.text),
                pk=article.pk,
                stored_before=True,
            )


def stored_summaries(
    articles: Collection[ArticleState], systems: Collection[str]
) -> Iterator[tuple[SummaryKey, SummaryState]]:
    """Yield the summaries of these articles by these systems."""
    names = {article.pk: article.external_id for article in articles}
    for ids in portions(names):
        for pk, article, system, text in Summary.objects.filter(
            article__in=ids, system__name__in=systems
        ).values_list("pk", "article", "system__name", "text"):
            yield (names[article], system), SummaryState(exact_digest(text), pk=pk, stored_before=True)


def stored_ratings(summaries: Collection[int], raters: Collection[int]) -> Iterator[tuple[int, int, Sheet]]:
    """Yield (summary id, rater id, sheet) of ratings outside gold rounds, including unfinished ones."""
    for ids in portions(summaries):
        ratings = Rating.objects.filter(summary__in=ids, rater__in=raters, round__isnull=True)
        answers = Answer.objects.current().filter(rating__in=ratings).order_by("question__position")
        sheets = _sheets(answers.values_list("rating", "question__key", "value", "comment"))
        for rating, summary, rater in ratings.values_list("pk", "summary", "rater"):
            yield summary, rater, sheets.get(rating, Sheet(()))


def stored_gold(summaries: Collection[int]) -> Iterator[tuple[int, Sheet]]:
    """Yield (summary id, sheet of agreed answers) of gold summaries, including retired ones."""
    for ids in portions(summaries):
        answers = GoldAnswer.objects.filter(gold__summary__in=ids).order_by("question__position")
        yield from _sheets(
            answers.values_list("gold__summary", "question__key", "value", "explanation")
        ).items()


def _sheets(answers: Iterable[tuple[int, str, str, str]]) -> dict[int, Sheet]:
    """Return the sheets of (owner's id, question key, value, comment), by owner."""
    given: dict[int, list[tuple[str, str, str]]] = {}
    for owner, key, value, comment in answers:
        given.setdefault(owner, []).append((key, value, comment))
    return {
        owner: Sheet(
            tuple((key, value) for key, value, _ in rows),
            tuple((key, comment) for key, _, comment in rows if comment),
        )
        for owner, rows in given.items()
    }
