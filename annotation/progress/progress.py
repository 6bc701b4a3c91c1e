"""The progress of a project: ratings by language, system, day and rater, and a forecast of the end."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from statistics import median
from typing import Any

from django.db.models import Count, Max, Q, QuerySet, Sum
from django.utils import timezone

from annotation.models import Article, ArticleFlag, Assignment, Project, Rater, RaterMessage, Rating, Summary

FORECAST_DAYS = 7
LONGEST_FORECAST = 3650  # days


@dataclass(frozen=True)
class Forecast:
    """The expected last day, or the `reason` why none is named."""

    pace: float
    """Ratings a day."""
    over: int
    """The number of days that the pace is the mean of."""
    ends_on: date | None
    reason: str = ""


def forecast(missing: int, collected: Sequence[int], today: date) -> Forecast:
    """Forecast the day on which the last of the `missing` ratings is given.

    `collected` are the ratings of the full days before `today`, oldest first. The pace is their mean from the
    first day with a rating on, weekends included. Today counts as a day of work, since its ratings so far
    are given already.
    """
    worked = next((list(collected[at:]) for at, count in enumerate(collected) if count), [])
    pace = sum(worked) / len(worked) if worked else 0.0
    if not missing:
        return Forecast(pace, len(worked), None, "every needed rating is given")
    if not worked:
        return Forecast(0.0, 0, None, f"no rating was collected in the {len(collected)} days before today")
    days = math.ceil(missing / pace)
    if days > LONGEST_FORECAST:
        return Forecast(pace, len(worked), None, "at this pace it takes more than ten years")
    return Forecast(pace, len(worked), today + timedelta(days=days - 1))


DAYS = 14
PACE_DAYS = 7
LATEST_FLAGS = 20

IMPORTED = Q(assignment__isnull=True)
"""Ratings from files. Those collected here have an assignment."""
OPEN_LEASE = Q(state=Assignment.State.OPEN, round__isnull=True, is_check=False)


@dataclass
class Group:
    """The summaries to rate of one language, dataset or system, or all.

    Of the `wanted` ratings some are `given`, some `missing` (leased ones included) and some `blocked`,
    because the article has no text. `rated` summaries have at least one rating. `collected` and `imported`
    are all ratings that count, also beyond what is wanted.
    """

    name: str = ""
    summaries: int = 0
    rated: int = 0
    collected: int = 0
    imported: int = 0
    wanted: int = 0
    missing: int = 0
    blocked: int = 0

    @property
    def ratings(self) -> int:
        return self.collected + self.imported

    @property
    def possible(self) -> int:
        """The wanted ratings that are given or can be."""
        return self.wanted - self.blocked

    @property
    def given(self) -> int:
        return self.possible - self.missing

    @property
    def percent(self) -> int:
        """The given share of the possible ratings, rounded down, so that 100 means all."""
        return 100 * self.given // self.possible if self.possible else 0


@dataclass(frozen=True)
class Day:
    """The number of countable ratings that were finished on one day."""

    date: date
    collected: int
    imported: int


@dataclass(frozen=True)
class RaterProgress:
    """A rater's work. `today` counts ratings collected today.

    `seconds` is the median time in the open stages of a rating, over the last `PACE_DAYS` days.
    """

    rater: Rater
    ratings: int
    today: int
    last_rating: datetime | None
    seconds: float | None


@dataclass(frozen=True)
class Progress:
    """All figures of the page. `collected` plus `imported` are the ratings that count."""

    articles: int
    """Articles of the summaries to rate. Those of gold summaries and of none are not among them."""
    all: Group
    languages: list[Group]
    datasets: list[Group]
    """One for each dataset; empty if no article names one."""
    systems: list[Group]
    collected: int
    imported: int
    days: list[Day]
    raters: list[RaterProgress]
    gold: list[tuple[str, int]]
    leases: int
    forecast: Forecast
    flags: list[ArticleFlag]
    """The latest open flags."""
    flag_count: int
    """The number of open flags."""
    unread: dict[int, int]
    """Rater id -> the number of messages that no manager has opened, for raters who have some."""

    @property
    def ratings(self) -> int:
        return self.collected + self.imported

    @property
    def today(self) -> Day:
        return self.days[-1]

    @property
    def gold_count(self) -> int:
        return sum(count for _, count in self.gold)

    @property
    def suspended(self) -> list[str]:
        """Return the pseudonyms of suspended raters."""
        return [row.rater.pseudonym for row in self.raters if row.rater.status == Rater.Status.SUSPENDED]

    @property
    def unread_messages(self) -> int:
        return sum(self.unread.values())

    @property
    def writers(self) -> list[Rater]:
        """Return the raters with unread messages."""
        return [row.rater for row in self.raters if row.rater.pk in self.unread]

    @property
    def started(self) -> bool:
        """Return whether there are summaries to rate and raters."""
        return bool(self.languages and self.raters)

    @property
    def is_under_way(self) -> bool:
        """Return whether raters have begun, or files brought all ratings."""
        return bool(self.collected or (self.all.ratings and not self.all.missing))


OF_SUMMARY = ("summary__article__language", "summary__article__dataset", "summary__system__name")
Cell = tuple[str, str, str]
"""A language, a dataset (empty for none) and a system."""


def progress_version(project: Project) -> str:
    """Return a text that changes whenever a figure of `progress_of` may have changed. Cheap."""
    statuses = project.raters.order_by("status").values_list("status").annotate(Count("pk"))
    unread = RaterMessage.objects.unread_by_managers(project)
    return ".".join(
        (
            str(project.revision),
            str(_leases(project).count()),
            "/".join(map(str, _flags(project).aggregate(Count("pk"), Max("pk")).values())),
            "".join(f"{status[0]}{count}" for status, count in statuses),
            "/".join(f"{rater}-{count}" for rater, count in unread.items()),
            str(timezone.localdate().toordinal()),
        )
    )


def progress_of(project: Project) -> Progress:
    """Return all figures, in a number of queries that does not grow with the project."""
    now = timezone.localtime()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    cells = _cells(project)
    flags = _flags(project)
    sources = _countable(project).aggregate(
        collected=Count("pk", filter=~IMPORTED), imported=Count("pk", filter=IMPORTED)
    )
    everything = _sum("", cells.values())
    datasets = _by(cells, 1)
    days = _days(project, midnight)
    return Progress(
        articles=Summary.objects.filter(project=project).rateable().count_articles(),
        all=everything,
        languages=_by(cells, 0),
        datasets=datasets if any(group.name for group in datasets) else [],
        systems=_by(cells, 2),
        forecast=forecast(
            everything.missing, [day.collected for day in days[-1 - FORECAST_DAYS : -1]], midnight.date()
        ),
        **sources,
        days=days,
        raters=_raters(project, midnight),
        gold=list(
            Summary.objects.filter(project=project, gold__isnull=False, gold__retired_at__isnull=True)
            .values_list("article__language")
            .annotate(Count("pk"))
            .order_by("article__language")
        ),
        leases=_leases(project).count(),
        flags=list(
            flags.select_related("assignment__rater", "assignment__summary__article").order_by("-created_at")[
                :LATEST_FLAGS
            ]
        ),
        flag_count=flags.count(),
        unread=RaterMessage.objects.unread_by_managers(project),
    )


def overall_progress(projects: Iterable[Project]) -> dict[int, Group]:
    """Return project id -> its progress, without `rated` and `ratings`."""
    groups = {project.pk: Group(project.name) for project in projects}
    rows = Summary.objects.rateable().filter(project__in=groups).values_list("project")
    for pk, summaries, wanted, open_places in rows.annotate(
        Count("pk"), Sum("ratings_wanted"), Sum("open_places")
    ):
        groups[pk].summaries, groups[pk].wanted, groups[pk].missing = summaries, wanted, open_places
    for pk, blocked in rows.filter(without_text(groups)).annotate(Sum("open_places")):
        groups[pk].blocked = blocked
        groups[pk].missing -= blocked
    leases = Assignment.objects.filter(OPEN_LEASE, rater__project__in=groups, **_rateable("summary__"))
    for pk, leased in leases.values_list("rater__project").annotate(Count("pk")):
        groups[pk].missing += leased
    return groups


def work_by_rater(project: Project) -> dict[int, tuple[int, datetime | None]]:
    """Return rater id -> the number of ratings that `finished` counts, and the time of the last."""
    rows = _finished(project).values_list("rater").annotate(Count("pk"), Max("completed_at"))
    return {rater: (ratings, last) for rater, ratings, last in rows}


def _finished(project: Project) -> QuerySet[Rating]:
    return Rating.objects.finished().filter(rater__project=project)


def _countable(project: Project) -> QuerySet[Rating]:
    return Rating.objects.countable().filter(summary__project=project)


def _leases(project: Project) -> QuerySet[Assignment]:
    return Assignment.objects.filter(OPEN_LEASE, rater__project=project)


def _flags(project: Project) -> QuerySet[ArticleFlag]:
    return ArticleFlag.objects.filter(assignment__rater__project=project, resolved_at__isnull=True)


def _rateable(prefix: str) -> dict[str, object]:
    """Return `Summary.objects.rateable()` as a filter on a relation."""
    return {
        f"{prefix}ratings_wanted__gt": 0,
        f"{prefix}gold__isnull": True,
        f"{prefix}withdrawn_at__isnull": True,
    }


def _cells(project: Project) -> dict[Cell, Group]:
    cells = {}
    summaries = Summary.objects.filter(project=project).rateable()
    places = summaries.values_list("article__language", "article__dataset", "system__name")
    for *cell, count, wanted, open_places in places.annotate(
        Count("pk"), Sum("ratings_wanted"), Sum("open_places")
    ):
        cells[_cell(cell)] = Group(summaries=count, wanted=wanted, missing=open_places)
    for *cell, blocked in places.filter(without_text([project.pk])).annotate(Sum("open_places")):
        group = cells[_cell(cell)]
        group.blocked = blocked
        group.missing -= blocked
    leases = _leases(project).filter(**_rateable("summary__"))
    for *cell, leased in leases.values_list(*OF_SUMMARY).annotate(Count("pk")):
        cells[_cell(cell)].missing += leased
    ratings = _countable(project).filter(**_rateable("summary__"))
    counts = ratings.values_list(*OF_SUMMARY).annotate(
        collected=Count("pk", filter=~IMPORTED),
        imported=Count("pk", filter=IMPORTED),
        rated=Count("summary", distinct=True),
    )
    for *cell, collected, imported, rated in counts:
        group = cells[_cell(cell)]
        group.collected, group.imported, group.rated = collected, imported, rated
    return cells


def without_text(project_ids: Iterable[int]) -> Q:
    """Return the summaries that nobody can rate. Looking up the digest first spares reading all texts."""
    articles = Article.objects.filter(project__in=list(project_ids), text_digest="", text="")
    return Q(article__in=articles)


def _cell(names: list[Any]) -> Cell:
    language, dataset, system = names
    return language, dataset, system


def _by(cells: dict[Cell, Group], part: int) -> list[Group]:
    names = sorted({cell[part] for cell in cells})
    return [_sum(name, (group for cell, group in cells.items() if cell[part] == name)) for name in names]


def _sum(name: str, groups: Iterable[Group]) -> Group:
    total = Group(name)
    for group in groups:
        total.summaries += group.summaries
        total.rated += group.rated
        total.collected += group.collected
        total.imported += group.imported
        total.wanted += group.wanted
        total.missing += group.missing
        total.blocked += group.blocked
    return total


def _days(project: Project, midnight: datetime) -> list[Day]:
    starts = [midnight - timedelta(days=ago) for ago in reversed(range(DAYS))]
    counts = {}
    for number, start in enumerate(starts):
        on_this_day = Q(completed_at__gte=start, completed_at__lt=start + timedelta(days=1))
        counts[f"collected_{number}"] = Count("pk", filter=on_this_day & ~IMPORTED)
        counts[f"imported_{number}"] = Count("pk", filter=on_this_day & IMPORTED)
    ratings = Rating.objects.countable().filter(rater__project=project, completed_at__gte=starts[0])
    found = ratings.aggregate(**counts)
    return [
        Day(start.date(), found[f"collected_{number}"], found[f"imported_{number}"])
        for number, start in enumerate(starts)
    ]


def _raters(project: Project, midnight: datetime) -> list[RaterProgress]:
    ratings = _finished(project)
    counts = {
        rater_id: (finished, today, last_rating)
        for rater_id, finished, today, last_rating in ratings.values_list("rater").annotate(
            finished=Count("pk"),
            today=Count("pk", filter=Q(completed_at__gte=midnight) & ~IMPORTED),
            last_rating=Max("completed_at"),
        )
    }
    seconds: dict[int, list[float]] = {}
    recent = ratings.filter(
        assignment__isnull=False, completed_at__gte=midnight - timedelta(days=PACE_DAYS - 1)
    )
    for rater_id, stage_times in recent.values_list("rater", "stage_times"):
        seconds.setdefault(rater_id, []).append(seconds_in_stages(stage_times))
    return [
        RaterProgress(
            rater,
            *counts.get(rater.pk, (0, 0, None)),
            seconds=median(seconds[rater.pk]) if rater.pk in seconds else None,
        )
        for rater in project.raters.select_related("user")
    ]


def seconds_in_stages(stage_times: list[dict[str, str]]) -> float:
    """Return the seconds between opening and submitting, summed over the stages of a rating."""
    return sum(seconds_by_stage(stage_times).values())


def seconds_by_stage(stage_times: list[dict[str, Any]]) -> dict[int, float]:
    """Return the seconds between opening and submitting of each stage of a rating."""
    seconds: dict[int, float] = {}
    for each in stage_times:
        opened, submitted = (datetime.fromisoformat(each[when]) for when in ("opened_at", "submitted_at"))
        seconds[each["stage"]] = seconds.get(each["stage"], 0.0) + (submitted - opened).total_seconds()
    return seconds
