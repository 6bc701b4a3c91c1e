"""The summaries of a project that are scored, and the texts that evaluators are given."""

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from annotation.database.portions import portions
from annotation.imports.reading.blank_texts import is_blank
from annotation.models import Article, Project, Rating, Summary
from scoring.contract.evaluator import Member, Need
from scoring.contract.items import Item
from scoring.models import Score

CHUNK = 2000  # ids in one statement


@dataclass(frozen=True)
class Selection:
    """The summaries that a run scores; by default all."""

    languages: tuple[str, ...] = ()
    """Languages of the articles; empty for all."""
    rated_only: bool = False
    """True if only summaries with a rating that counts are scored; the comparison uses no others."""
    articles: frozenset[int] | None = None
    """Primary keys of the articles whose summaries are scored; None for all."""


EVERYTHING = Selection()


def scorable(project: Project, selection: Selection = EVERYTHING) -> QuerySet[Summary]:
    """Return the summaries that are rated or open for rating: no gold items, no mere references."""
    rated = Exists(Rating.objects.countable().filter(summary=OuterRef("pk")))
    found = Summary.objects.filter(project=project, gold__isnull=True)
    found = found.filter(rated) if selection.rated_only else found.filter(Q(ratings_wanted__gt=0) | rated)
    if selection.languages:
        found = found.filter(article__language__in=selection.languages)
    if selection.articles is not None:
        found = found.filter(article__in=selection.articles)
    return found


def items_of(
    summary_ids: Collection[int], needs: Collection[Need], members: Collection[Member] = ()
) -> dict[int, Item]:
    """Return the items for an evaluator with these needs, in order, by summary id.

    Deleted summaries are left out. References are the other summaries by the article's reference systems.
    """
    found: dict[int, Item] = {}
    for ids in portions(summary_ids, CHUNK):
        found.update(_items(ids, needs, members))
    return {pk: found[pk] for pk in summary_ids if pk in found}


@dataclass(frozen=True)
class StoredCorpus:
    """All items of a run, for evaluators that need them together; each iteration reads the database."""

    summary_ids: Collection[int]
    needs: Collection[Need]
    members: Collection[Member] = ()

    def __iter__(self) -> Iterator[Item]:
        for ids in portions(self.summary_ids, CHUNK):
            yield from _items(ids, self.needs, self.members).values()


def item_id(external_id: str, system: str) -> str:
    """Return a summary's id outside the database, the same in every copy of the project."""
    return f"{external_id}/{system}"


def inputs_digest(item: Item) -> str:
    """Return 16 hex digits over the item's texts and the scores it is given."""
    digest = sha256()
    for text in (item.language, item.summary, item.article, *item.references):
        digest.update(b"\x00" if text is None else b"\x01" + text.encode())
        digest.update(b"\x1f")
    if item.scores:
        digest.update(json.dumps(item.scores, sort_keys=True).encode())
    return digest.hexdigest()[:16]


def _items(ids: list[int], needs: Collection[Need], members: Collection[Member]) -> dict[int, Item]:
    rows = list(
        Summary.objects.filter(pk__in=ids).values_list(
            "pk",
            "text",
            "article",
            "article__external_id",
            "article__language",
            "article__text_digest",
            "system__name",
        )
    )
    article_ids = {row[2] for row in rows}
    articles = _articles(article_ids) if Need.ARTICLE in needs else {}
    references = _references(article_ids) if Need.REFERENCES in needs else {}
    scores = _scores(ids, members)
    return {
        pk: Item(
            id=item_id(external_id, system),
            summary=text,
            language=language,
            article=articles.get(article),
            references=tuple(reference for other, reference in references.get(article, ()) if other != pk),
            article_id=external_id,
            article_digest=digest,
            scores=scores.get(pk, {}),
        )
        for pk, text, article, external_id, language, digest, system in rows
    }


def _articles(ids: Iterable[int]) -> dict[int, str]:
    return dict(Article.objects.filter(pk__in=ids).exclude(text="").values_list("pk", "text"))


def _scores(ids: list[int], members: Collection[Member]) -> dict[int, dict[str, dict[str, float]]]:
    """Return the members' scores: summary id -> member's name -> dimension -> score."""
    if not members:
        return {}
    names = {each.fingerprint: each.name for each in members}
    rows = Score.objects.filter(
        setup__project=F("summary__project"), setup__fingerprint__in=names, summary__in=ids
    )
    found: dict[int, dict[str, dict[str, float]]] = {}
    for pk, setup, dimension, value in rows.values_list(
        "summary", "setup__fingerprint", "dimension", "value"
    ):
        if value is not None:
            found.setdefault(pk, {}).setdefault(names[setup], {})[dimension] = value
    return found


def _references(article_ids: Iterable[int]) -> dict[int, list[tuple[int, str]]]:
    rows = (
        Summary.objects.filter(article__in=article_ids, system__is_reference=True)
        .order_by("pk")
        .values_list("article", "pk", "text")
    )
    found: dict[int, list[tuple[int, str]]] = {}
    for article, pk, text in rows:
        if not is_blank(text):
            found.setdefault(article, []).append((pk, text))
    return found
