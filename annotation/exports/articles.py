"""Articles with their summaries, read in portions, so that memory does not grow with the project."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from annotation.database.portions import portions
from annotation.exports.filters import SummaryFilters
from annotation.models import Article, Project, Summary

PORTION = 200  # articles that are read together
REFERENCE = "reference-"


@dataclass(slots=True)
class ExportedSummary:
    pk: int
    system: str
    is_reference: bool
    text: str


@dataclass(slots=True)
class ExportedArticle:
    """An article with its summaries. `references` are those that only evaluators read."""

    article_id: str
    language: str
    dataset: str
    split: str
    title: str
    text: str
    references: list[str] = field(default_factory=list)
    summaries: list[ExportedSummary] = field(default_factory=list)

    @property
    def described(self) -> dict[str, str]:
        """The fields by which files describe an article, without empty ones."""
        given = {
            "language": self.language,
            "dataset": self.dataset,
            "split": self.split,
            "title": self.title,
            "article": self.text,
        }
        return {name: value for name, value in given.items() if value}


def exported_articles(project: Project, filters: SummaryFilters) -> Iterator[ExportedArticle]:
    """Yield the articles that have chosen summaries. Holds their ids, 8 bytes each, and one portion."""
    chosen = Summary.objects.filter(filters.summaries(), project=project).values("article")
    ids = array(
        "q", Article.objects.filter(pk__in=chosen).order_by("pk").values_list("pk", flat=True).iterator()
    )
    for portion in portions(ids, PORTION):
        yield from _read(project, filters, portion)


def _read(project: Project, filters: SummaryFilters, ids: list[int]) -> Iterator[ExportedArticle]:
    columns = ("external_id", "language", "dataset", "split", "title", "text")
    rows = Article.objects.filter(pk__in=ids).order_by("pk").values_list("pk", *columns)
    found = {pk: ExportedArticle(*row) for pk, *row in rows}
    for pk, texts in _references(ids).items():
        found[pk].references = texts
    summaries = Summary.objects.filter(filters.summaries(), project=project, article__in=ids)
    row: Any
    for article, *row in summaries.order_by("article", "pk").values_list(
        "article", "pk", "system__name", "system__is_reference", "text"
    ):
        summary = ExportedSummary(*row)
        if not _is_among(summary, found[article].references):
            found[article].summaries.append(summary)
    yield from found.values()


def _references(ids: list[int]) -> dict[int, list[str]]:
    """Return article id -> the texts of reference-1, reference-2, ... up to the first that is missing."""
    texts: dict[int, dict[str, str]] = {}
    for article, system, text in Summary.objects.filter(
        article__in=ids,
        system__is_reference=True,
        system__name__startswith=REFERENCE,
        ratings_wanted=0,
        gold__isnull=True,
    ).values_list("article", "system__name", "text"):
        texts.setdefault(article, {})[system] = text
    found = {}
    for article, by_name in texts.items():
        names = (f"{REFERENCE}{number}" for number in range(1, len(by_name) + 1))
        found[article] = list(_until_missing(by_name, names))
    return found


def _until_missing(by_name: dict[str, str], names: Iterator[str]) -> Iterator[str]:
    for name in names:
        if name not in by_name:
            return
        yield by_name[name]


def _is_among(summary: ExportedSummary, references: list[str]) -> bool:
    number = summary.system.removeprefix(REFERENCE)
    return summary.system.startswith(REFERENCE) and number.isdecimal() and int(number) <= len(references)
