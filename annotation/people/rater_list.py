"""The raters of a project as a list that can be sorted."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Prefetch

from annotation.gold.qualified_languages import qualified_raters
from annotation.models import AuditEntry, CheckSuspension, Project, QualificationRound, Rater, RaterMessage
from annotation.people.members import reasons_of
from annotation.progress.progress import work_by_rater


@dataclass(frozen=True)
class ListedRater:
    rater: Rater
    ratings: int
    last_rating: datetime | None
    qualified: set[str]
    """Languages in which the rater is qualified."""
    stopped: AuditEntry | None
    """The latest suspension or removal."""
    unread: int
    """Messages of the rater that no manager has opened."""


@dataclass(frozen=True)
class SortHeading:
    """The heading of a column. A link sorts by `sort`; one that sorts already turns the order around."""

    title: str
    sort: str
    aria_sort: str = ""
    """'ascending' or 'descending' for the column that sorts; empty for the others."""
    is_number: bool = False


_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def _name(row: ListedRater) -> list[Any]:
    """Return the pseudonym as a key that puts rater-2 before rater-10."""
    parts = re.split(r"(\d+)", row.rater.pseudonym)
    return [int(part) if place % 2 else part for place, part in enumerate(parts)]


_KEYS: dict[str, tuple[str, Callable[[ListedRater], Any], bool]] = {
    "name": ("Rater", _name, False),
    "status": ("Status", lambda row: Rater.Status.values.index(row.rater.status), False),
    "ratings": ("Ratings", lambda row: row.ratings, True),
    "last": ("Last rating", lambda row: row.last_rating or _LONG_AGO, True),
}
"""Parameter -> title, key, and whether the first click puts the highest first."""


def rater_rows(project: Project, sort: str) -> tuple[list[ListedRater], dict[str, SortHeading]]:
    """Return the raters sorted by a key, with "-" before it descending, and the headings by key.

    Equal rows and an unknown `sort` are in the order of pseudonyms.
    """
    chosen = sort.removeprefix("-")
    if chosen not in _KEYS or sort.startswith("--"):
        sort = chosen = "name"
    work, qualified, reasons = work_by_rater(project), qualified_raters(project), reasons_of(project)
    unread = RaterMessage.objects.unread_by_managers(project)
    raters = project.raters.select_related("user").prefetch_related(
        Prefetch("rounds", QualificationRound.objects.order_by("number")),
        Prefetch("check_suspensions", CheckSuspension.objects.filter(lifted_at__isnull=True)),
    )
    rows = [
        ListedRater(
            rater,
            *work.get(rater.pk, (0, None)),
            qualified=qualified.get(rater.pk, set()),
            stopped=reasons.get(rater.pseudonym),
            unread=unread.get(rater.pk, 0),
        )
        for rater in raters
    ]
    rows.sort(key=_name)
    rows.sort(key=_KEYS[chosen][1], reverse=sort.startswith("-"))
    return rows, {key: _heading(key, sort) for key in _KEYS}


def _heading(key: str, sort: str) -> SortHeading:
    title, _, highest_first = _KEYS[key]
    if sort.removeprefix("-") != key:
        return SortHeading(title, f"-{key}" if highest_first else key, is_number=highest_first)
    is_descending = sort.startswith("-")
    order = "descending" if is_descending else "ascending"
    return SortHeading(title, key if is_descending else f"-{key}", order, is_number=highest_first)
