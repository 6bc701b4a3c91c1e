"""The number of ratings that a summary still needs, which only this module sets, and who may give them."""

import hashlib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from django.db import connection
from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Subquery, When
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Greatest

from annotation.database.joined_rows import ModelColumns, prepared_cursor
from annotation.database.portions import portions
from annotation.errors import DomainError
from annotation.models import Article, Assignment, Project, Rater, Rating, Summary

SHUFFLE_KEYS = 2**31
ORDER_IS_FIXED = "The first summary was given out, so the order can no longer change."
ARTICLE_GAP = 10
"""Summaries that a rater gets before another one of the same article, while there is a choice."""


def open_to(rater: Rater, languages: Collection[str]) -> QuerySet[Summary]:
    """Return the summaries with open places that the rater may get, in shuffled order.

    Those that they had are left out unless their lease expired. If the project gives each article once, so
    are other summaries of the same articles.
    """
    had = Assignment.objects.filter(rater=rater).exclude(state=Assignment.State.RELEASED)
    found = Summary.objects.with_open_places(rater.project, languages)
    if rater.project.articles_once:
        return found.filter(~Exists(had.filter(summary__article=OuterRef("article"))))
    return found.filter(~Exists(had.filter(summary=OuterRef("pk"), round__isnull=True)))


def spread_over_articles(rater: Rater, summaries: QuerySet[Summary]) -> QuerySet[Summary]:
    """Return those of `summaries` whose articles the rater has not had lately, or whose lease expired."""
    mine = Assignment.objects.filter(rater=rater, summary=OuterRef("pk"), round__isnull=True)
    expired = mine.filter(state=Assignment.State.RELEASED)
    return summaries.filter(~Q(article__in=recent_articles(rater)) | Exists(expired))


def recent_articles(rater: Rater) -> QuerySet[Assignment, int]:
    """Return the ids of the articles of the rater's last `ARTICLE_GAP` summaries."""
    return rater.assignments.order_by("-pk").values_list("summary__article", flat=True)[:ARTICLE_GAP]


def _in_turn(rater: Rater, languages: Collection[str], *, spread: bool) -> QuerySet[Summary]:
    """Return the summaries that the rater may get, the next one first.

    Without `spread`, articles may be repeated, and the one comes first that the rater had longest ago.
    """
    qualified = rater.qualifications.values("language")
    summaries = open_to(rater, languages).filter(article__language__in=qualified)
    if spread:
        return spread_over_articles(rater, summaries)
    latest = rater.assignments.filter(summary__article=OuterRef("article")).order_by("-pk")
    return summaries.order_by(Subquery(latest.values("pk")[:1]), "shuffle_key", "pk")


CLAIMED = ModelColumns(Summary, "annotation_summary", "article", "system", "project", "text")
ITS_ARTICLE = ModelColumns(Article, "article", "language")
CLAIM = f"""
UPDATE annotation_summary SET open_places = open_places - 1
WHERE id = ({{first}}) AND open_places > 0
RETURNING {CLAIMED.columns},
    article_id, (SELECT language FROM annotation_article WHERE id = annotation_summary.article_id)
"""  # noqa: S608 - names of columns


def claim_place(rater: Rater, languages: Sequence[str], *, spread: bool) -> Summary | None:
    """Take an open place of the next summary in languages in which the rater is qualified, or return None.

    With `spread`, only of articles that they have not had lately. The summary comes without its article's
    text. Must be in a transaction, and is safe under any concurrency: two raters get different places.
    """
    waits = False
    while True:
        statement, values = _claim(rater.project.articles_once, len(languages), spread=spread, waits=waits)
        meant: dict[object, Any] = {RATER: rater.pk, PROJECT: rater.project_id}
        meant.update(zip(_stand_ins(len(languages)), languages, strict=True))
        with prepared_cursor() as cursor:
            cursor.execute(statement, [meant.get(value, value) for value in values])
            claimed = _claimed(cursor.fetchone())
        if claimed is not None:
            return claimed
        if not connection.features.has_select_for_update:
            return None
        if not _in_turn(rater, languages, spread=spread).exists():
            return None
        waits = True


def next_in_turn(rater: Rater, languages: Sequence[str], *, spread: bool, most: int) -> list[int]:
    """Return the primary keys of the summaries that `claim_place` would take next, at most `most`."""
    return list(_in_turn(rater, languages, spread=spread).values_list("pk", flat=True)[:most])


def claim_place_of(summary_id: int) -> Summary | None:
    """Take an open place of this summary, as `claim_place`, or return None if it has none left."""
    with prepared_cursor() as cursor:
        cursor.execute(CLAIM.format(first="%s"), [summary_id])
        return _claimed(cursor.fetchone())


RATER, PROJECT = -1, -2  # stand-ins for ids


def _claimed(row: tuple[Any, ...] | None) -> Summary | None:
    if row is None:
        return None
    claimed = CLAIMED.in_row(row)
    claimed.article = ITS_ARTICLE.in_row(row, CLAIMED.width)
    return claimed


def _stand_ins(languages: int) -> list[str]:
    return [f"language {number}" for number in range(languages)]


@lru_cache
def _claim(articles_once: bool, languages: int, *, spread: bool, waits: bool) -> tuple[str, tuple[Any, ...]]:
    """Return the statement of `claim_place`, written once for all raters, and values with stand-ins."""
    anybody = Rater(pk=RATER, project=Project(pk=PROJECT, articles_once=articles_once))
    # Others may be claiming the first ones; there is no need to wait for them while there are more.
    first = _in_turn(anybody, _stand_ins(languages), spread=spread).select_for_update(
        of=("self",), no_key=True, skip_locked=not waits
    )
    statement, values = first.values("pk")[:1].query.sql_with_params()
    return CLAIM.format(first=statement), values


def recount_places(summary_ids: Iterable[int]) -> None:
    """Set open places to wanted ratings less countable ratings less open leases, at least 0.

    The difference is negative if a reinstated rater's rating counts again after another has replaced it. A
    withdrawn summary has no open places.
    """
    for ids in portions(sorted(set(summary_ids))):
        rows = Summary.objects.filter(pk__in=ids)
        # Lock before counting, so that no claim comes in between.
        list(rows.select_for_update(of=("self",)).order_by("pk").values_list("pk"))
        left = Greatest(0, F("ratings_wanted") - taken_places())
        rows.update(open_places=Case(When(withdrawn_at__isnull=False, then=0), default=left))


def taken_places() -> Combinable:
    """Return an expression for a summary's countable ratings plus open leases."""
    leases = Assignment.objects.filter(state=Assignment.State.OPEN, round__isnull=True)
    return _count_of(Rating.objects.countable()) + _count_of(leases)


def _count_of(rows: QuerySet[Rating] | QuerySet[Assignment]) -> Coalesce:
    mine = rows.filter(summary=OuterRef("pk")).order_by().values("summary")
    return Coalesce(Subquery(mine.annotate(count=Count("pk")).values("count")), 0)


def wanted_ratings(project: Project, article_id: str, system: str) -> int:
    """Return how many ratings a summary needs. A share, chosen by a hash of its names, needs more.

    The hash makes the choice repeatable and independent of the order of imports.
    """
    share = int.from_bytes(_digest(project, article_id, system)[:8], "big") / 2**64
    return project.extra_redundancy if share < project.extra_share else project.redundancy


def shuffle_key(project: Project, article_id: str, system: str, weight: float = 1.0) -> int:
    """Return the summary's position in the order of assignment, unrelated to the order of the file.

    It is uniform from 0 to below SHUFFLE_KEYS. With another `weight` than 1 (above 0), each summary that
    comes next is one of those left with a probability that is proportional to its weight.
    """
    key = int.from_bytes(_digest(project, article_id, system)[8:12], "big") >> 1
    if weight == 1:
        return key
    place = (key + 0.5) / SHUFFLE_KEYS
    return int(-math.expm1(math.log1p(-place) / weight) * SHUFFLE_KEYS)


def draw_by_weight(project: Project, weights: Mapping[int, float]) -> None:
    """Give summaries, by primary key, these weights and the positions that follow from them.

    Must be in a transaction. Raises DomainError if anything was given out or rated before: only draws from
    the first one on have known probabilities.
    """
    for ids in portions(sorted(weights)):
        rows = Summary.objects.filter(project=project, pk__in=ids).select_related("article", "system")
        found = list(rows.select_for_update(of=("self",)).order_by("pk").defer("text", "article__text"))
        for each in found:
            each.draw_weight = weights[each.pk]
            each.shuffle_key = shuffle_key(
                project, each.article.external_id, each.system.name, each.draw_weight
            )
        Summary.objects.bulk_update(found, ["draw_weight", "shuffle_key"])
    # After the locks, so that no claim comes in between.
    if work_has_begun(project):
        raise DomainError(ORDER_IS_FIXED)


def work_has_begun(project: Project) -> bool:
    """Return whether a summary was ever given out or rated, gold rounds aside."""
    given = Assignment.objects.filter(summary__project=project, round__isnull=True)
    return given.exists() or Rating.objects.filter(summary__project=project, round__isnull=True).exists()


def _digest(project: Project, article_id: str, system: str) -> bytes:
    return hashlib.sha256("\x1f".join((project.slug, article_id, system)).encode()).digest()
