"""The database as figures for Prometheus: numbers without names, texts or raters.

The cost of each query grows with unfinished work, raters, runs or workers, never with all summaries, ratings
or scores.
"""

import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, InterfaceError
from django.db.models import Count, Max, Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone
from prometheus_client.core import GaugeMetricFamily

from annotation.models import Assignment, ImportJob, Leased, Rater, Rating
from annotation.models.leases import free_and_due
from scoring.models import ApiBatch, Batch, RegisteredModel, Reservation, Run, Training, Worker
from scoring.training.wake_ups import next_in_line
from scoring.workers.presence import GONE_AFTER_S
from scoring.workers.wake_ups import due_api_batches

KEPT_S = 5.0
"""Seconds for which a process gives the same figures again, so that asking often costs nothing."""
QUEUES = ("cpu", "gpu", "llm", "training")
"""Queues that are reported even while no worker serves them."""


class State:
    """Prometheus's collector of the database's figures."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._figures: list[GaugeMetricFamily] = []
        self._read_at = float("-inf")

    def collect(self) -> list[GaugeMetricFamily]:
        with self._lock:
            if time.monotonic() > self._read_at + KEPT_S:
                self._figures = read_figures(timezone.now())
                self._read_at = time.monotonic()
            return self._figures


def read_figures(now: datetime) -> list[GaugeMetricFamily]:
    """Return all figures as of now; only that the database is not up if it cannot be read."""
    up = GaugeMetricFamily("touchstone_database_up", "1 if the database could be read, else 0.")
    try:
        figures = [*_work(now), *_raters(now), *_runs(), *_workers(now)]
    except (DatabaseError, InterfaceError):
        up.add_metric([], 0)
        return [up]
    up.add_metric([], 1)
    return [up, *figures]


def _work(now: datetime) -> Iterator[GaugeMetricFamily]:
    waiting = GaugeMetricFamily("touchstone_work_waiting", "Work that a worker may take.", labels=["kind"])
    age = GaugeMetricFamily(
        "touchstone_work_waiting_seconds",
        "Longest time that work has waited; 0 if none waits.",
        labels=["kind"],
    )
    leased = GaugeMetricFamily("touchstone_work_leased", "Work that a worker holds.", labels=["kind"])
    lost = GaugeMetricFamily(
        "touchstone_work_lost",
        "Work whose worker stopped renewing its lease, so that another may take it.",
        labels=["kind"],
    )
    kinds = {
        "batch": _batches(now),
        "api_batch": (*_held(ApiBatch, now), *_waiting(due_api_batches(now), now)),
        "import": (*_held(ImportJob, now), *_waiting(ImportJob.objects.claimable(now), now)),
        "training": (*_held(Training, now), *_waiting(next_in_line(now), now)),
        "registration": (
            *_held(RegisteredModel, now),
            *_waiting(RegisteredModel.objects.claimable(now), now),
        ),
    }
    for kind, (held, expired, number, seconds) in kinds.items():
        waiting.add_metric([kind], number)
        age.add_metric([kind], seconds)
        leased.add_metric([kind], held)
        lost.add_metric([kind], expired)
    yield from (waiting, age, leased, lost)


def _batches(now: datetime) -> tuple[int, int, int, float]:
    """Return the batches that are held, lost and waiting, and how many seconds the idlest run has rested.

    A run's batches wait for each other, so what counts is when anything last happened to the run.
    """
    unfinished = Q(finished_at__isnull=True)
    rows = (
        Batch.objects.filter(run__status__in=Run.UNFINISHED)
        .exclude(run__in=ApiBatch.objects.unfinished().values("run"))
        .order_by()
        .values("run", "run__created_at")
        .annotate(
            leased=Count("pk", filter=unfinished & Q(leased_until__gte=now)),
            lost=Count("pk", filter=unfinished & Q(leased_until__lt=now)),
            waiting=Count("pk", filter=unfinished & free_and_due(now)),
            last_finish=Max("finished_at"),
            last_lease=Max("leased_until"),
            last_pause=Max("not_before", filter=Q(not_before__lte=now)),
        )
    )
    held = lost = waiting = 0
    longest = 0.0
    for row in rows:
        held += row["leased"]
        lost += row["lost"]
        waiting += row["waiting"]
        if row["waiting"]:
            signs = (row["run__created_at"], row["last_finish"], row["last_lease"], row["last_pause"])
            longest = max(longest, (now - max(filter(None, signs))).total_seconds())
    return held, lost, waiting, longest


def _held(model: type[Leased], now: datetime) -> tuple[int, int]:
    """Return how much work workers hold, and how much they have lost."""
    found = model._default_manager.filter(finished_at__isnull=True).aggregate(
        held=Count("pk", filter=Q(leased_until__gte=now)), lost=Count("pk", filter=Q(leased_until__lt=now))
    )
    return found["held"], found["lost"]


def _waiting(claimable: QuerySet[Any], now: datetime) -> tuple[int, float]:
    """Return how much work waits, and the longest time in seconds since it became free and due."""
    since = Greatest(
        "created_at", Coalesce("not_before", "created_at"), Coalesce("leased_until", "created_at")
    )
    found = claimable.order_by().aggregate(number=Count("pk"), first=Min(since))
    return found["number"], _seconds_since(found["first"], now)


def _raters(now: datetime) -> Iterator[GaugeMetricFamily]:
    # Written out, since SQLite's plan for any states cannot use the index of open leases.
    states = [RawSQL("'open'", ()), RawSQL("'reopened'", ())]
    held = Assignment.objects.filter(state__in=states, leased_until__gte=now).aggregate(
        number=Count("pk"), first=Min("stage_opened_at")
    )
    yield GaugeMetricFamily(
        "touchstone_rater_leases", "Summaries that raters hold for rating.", value=held["number"]
    )
    yield GaugeMetricFamily(
        "touchstone_rater_leases_oldest_seconds",
        "Longest time since the open stage of a held summary was opened; 0 if none is held.",
        value=_seconds_since(held["first"], now),
    )
    # The index of a rater's ratings by time gives the latest ones; ratings have none by time alone.
    latest = Rating.objects.finished().filter(
        rater=OuterRef("pk"), completed_at__gte=now - timedelta(hours=1)
    )
    number = latest.order_by().values("rater").annotate(number=Count("pk")).values("number")
    yield GaugeMetricFamily(
        "touchstone_ratings_last_hour",
        "Ratings finished in the last hour, without gold rounds and hidden checks.",
        value=Rater.objects.annotate(latest=Subquery(number)).aggregate(sum=Sum("latest"))["sum"] or 0,
    )


def _runs() -> Iterator[GaugeMetricFamily]:
    runs = GaugeMetricFamily("touchstone_runs", "Runs, rechecks included.", labels=["status"])
    found = Run.objects.order_by().values("status").annotate(number=Count("pk"), dollars=Sum("spent"))
    by_status = {row["status"]: row for row in found}
    for status in Run.Status.values:
        runs.add_metric([status], by_status[status]["number"] if status in by_status else 0)
    yield runs
    yield GaugeMetricFamily(
        "touchstone_money_spent_dollars",
        "US dollars spent by all runs that have not been deleted.",
        value=float(sum(row["dollars"] for row in by_status.values())),
    )
    yield GaugeMetricFamily(
        "touchstone_money_reserved_dollars",
        "US dollars reserved for requests in progress, or kept as spent for killed workers.",
        value=float(Reservation.objects.aggregate(sum=Sum("amount"))["sum"] or 0),
    )


def _workers(now: datetime) -> Iterator[GaugeMetricFamily]:
    workers = GaugeMetricFamily("touchstone_workers", "Workers that run, by queue.", labels=["queue"])
    seen = GaugeMetricFamily(
        "touchstone_worker_seen_seconds",
        "Time since a worker of the queue last reported, if one did today.",
        labels=["queue"],
    )
    number = Counter(dict.fromkeys(QUEUES, 0))
    latest: dict[str, float] = {}
    for queues, seen_at in Worker.objects.values_list("queues", "seen_at"):
        age = max(0.0, (now - seen_at).total_seconds())
        for queue in queues:
            number[queue] += age <= GONE_AFTER_S
            latest[queue] = min(age, latest.get(queue, age))
    for queue, many in sorted(number.items()):
        workers.add_metric([queue], many)
    for queue, age in sorted(latest.items()):
        seen.add_metric([queue], age)
    yield from (workers, seen)


def _seconds_since(moment: datetime | None, now: datetime) -> float:
    return max(0.0, (now - moment).total_seconds()) if moment else 0.0
