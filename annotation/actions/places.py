"""How many ratings a summary still wants: the one place where that number is set."""

import hashlib
from collections.abc import Iterable

from django.db.models import Count, F, Q

from annotation.models import Assignment, Project, Rater, Summary

TAKEN = {
    "rated": Count(
        "ratings",
        distinct=True,
        filter=Q(ratings__completed_at__isnull=False, ratings__round__isnull=True)
        & ~Q(ratings__rater__status=Rater.Status.REMOVED),
    ),
    "leased": Count(
        "assignments",
        distinct=True,
        filter=Q(assignments__state=Assignment.State.OPEN, assignments__round__isnull=True),
    ),
}
"""Annotations of a summary: its ratings that count, and its open leases."""
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
    ids = list(summary_ids)
    for start in range(0, len(ids), CHUNK):
        rows = Summary.objects.select_for_update(of=("self",)).filter(pk__in=ids[start : start + CHUNK])
        # Locked first and counted after, so that a count is not overtaken by a claim.
        locked = {summary.pk: summary for summary in rows}
        taken = Summary.objects.filter(pk__in=locked).annotate(**TAKEN).values_list("pk", "rated", "leased")
        changed = []
        for pk, rated, leased in taken:
            summary = locked[pk]
            places = max(0, summary.ratings_wanted - rated - leased)
            if places != summary.open_places:
                summary.open_places = places
                changed.append(summary)
        Summary.objects.bulk_update(changed, ["open_places"])


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
