"""How many ratings a summary still wants: the one place where that number is set."""

import hashlib
from collections.abc import Iterable

from django.db.models import Count, F, OuterRef, QuerySet, Subquery
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce, Greatest

from annotation.models import Assignment, Project, Rating, Summary

CHUNK = 500  # ids in one statement; SQLite's limit on variables is far above it


def claim_place(summary_id: int) -> bool:
    """Take one open place of a summary, if there is one. Atomic under any concurrency."""
    return bool(
        Summary.objects.filter(pk=summary_id, open_places__gt=0).update(open_places=F("open_places") - 1)
    )


def free_place(summary_id: int) -> None:
    """Give one place back."""
    recount_places([summary_id])


def recount_places(summary_ids: Iterable[int]) -> None:
    """Set open places from the truth: wanted, less countable ratings, less open leases; never below 0.

    Below 0 it would fall where a reinstated rater's rating comes back after another has filled the place.
    """
    ids = sorted(set(summary_ids))
    for start in range(0, len(ids), CHUNK):
        rows = Summary.objects.filter(pk__in=ids[start : start + CHUNK])
        # Locked first and counted after, so that a count is not overtaken by a claim.
        list(rows.select_for_update(of=("self",)).order_by("pk").values_list("pk"))
        rows.update(open_places=Greatest(0, F("ratings_wanted") - taken_places()))


def taken_places() -> Combinable:
    """Of a summary, for the database: its ratings that count and its open leases."""
    leases = Assignment.objects.filter(state=Assignment.State.OPEN, round__isnull=True)
    return _count_of(Rating.objects.countable()) + _count_of(leases)


def _count_of(rows: QuerySet[Rating] | QuerySet[Assignment]) -> Coalesce:
    mine = rows.filter(summary=OuterRef("pk")).order_by().values("summary")
    return Coalesce(Subquery(mine.annotate(count=Count("pk")).values("count")), 0)


def wanted_ratings(project: Project, article_id: str, system: str) -> int:
    """The project's redundancy for a summary: a fixed share, chosen by a hash of its names, gets more.

    The hash makes the choice repeatable and independent of the order of import.
    """
    share = int.from_bytes(_digest(project, article_id, system)[:8], "big") / 2**64
    return project.extra_redundancy if share < project.extra_share else project.redundancy


def shuffle_key(project: Project, article_id: str, system: str) -> int:
    """The summary's place in the order in which raters get summaries: fixed, and unrelated to the file's."""
    return int.from_bytes(_digest(project, article_id, system)[8:12], "big") >> 1


def _digest(project: Project, article_id: str, system: str) -> bytes:
    return hashlib.sha256("\x1f".join((project.slug, article_id, system)).encode()).digest()
