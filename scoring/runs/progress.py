"""Progress and pace of runs, and the reasons for missing scores."""

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, Q, QuerySet, Sum
from django.utils import timezone

from annotation.models import Project
from scoring.models import Batch, Run, Score

PACE_BATCHES = 10
"""Latest batches from which the pace is computed."""


@dataclass(frozen=True)
class RunProgress:
    """Numbers of summaries of a run: to score, finished, and without a score on some dimension."""

    total: int
    done: int = 0
    unscored: int = 0

    @property
    def scored(self) -> int:
        return self.done - self.unscored

    @property
    def left(self) -> int:
        return self.total - self.done

    @property
    def percent(self) -> int:
        return 100 * self.done // self.total if self.total else 100


def runs_of(project: Project) -> list[tuple[Run, RunProgress]]:
    """Return the project's runs except rechecks, latest first, each with its progress."""
    runs = list(
        Run.objects.of_scores()
        .filter(setup__project=project)
        .select_related("setup", "created_by")
        .defer("setup__provenance", "setup__pool")
    )
    progress = progress_of_runs(runs)
    return [(run, progress[run.pk]) for run in runs]


def is_being_worked_on(run: Run) -> bool:
    """Return whether a worker holds a batch, a retry is due later, or the endpoint has requests."""
    now = timezone.now()
    batches = run.batches.unfinished().filter(Q(leased_until__gt=now) | Q(not_before__gt=now))
    collected = run.api_batches.unfinished().filter(leased_until__gt=now)
    return any(each.exists() for each in (batches, collected, run.api_batches.at_endpoint()))


def progress_of(run: Run) -> RunProgress:
    return progress_of_runs([run])[run.pk]


def progress_of_runs(runs: Iterable[Run]) -> dict[int, RunProgress]:
    """Return the progress of each run by primary key."""
    by_pk = {run.pk: run for run in runs}
    sums = dict.fromkeys(by_pk, (0, 0))
    rows = (
        Batch.objects.filter(run__in=by_pk)
        .values_list("run")
        .annotate(done=Sum("size", filter=Q(finished_at__isnull=False), default=0), unscored=Sum("unscored"))
    )
    sums.update({pk: (done, unscored) for pk, done, unscored in rows})
    imported = by_pk.keys() - {pk for pk, _, _ in rows}
    if imported:  # imported runs have no batches
        missing = dict(_missing(imported).values_list("run").annotate(Count("summary", distinct=True)))
        sums.update({pk: (by_pk[pk].total, missing.get(pk, 0)) for pk in imported})
    return {pk: RunProgress(run.total, *sums[pk]) for pk, run in by_pk.items()}


def reasons_of(run: Run) -> list[tuple[str, int]]:
    """Return (reason, number of summaries without a score because of it), most frequent first."""
    counts: Counter[str] = Counter()
    if not run.batches.exists():
        rows = _missing([run.pk]).values_list("reason").annotate(Count("summary", distinct=True))
        counts.update(dict(rows))
    for reasons in Batch.objects.filter(run=run, unscored__gt=0).values_list("reasons", flat=True):
        counts.update(reasons)
    return counts.most_common()


def cut_in(run: Run) -> int:
    """Return the number of summaries scored with a text truncated to the model's limit."""
    found: int = run.batches.aggregate(cut=Sum("cut", default=0))["cut"]
    return found


def pace_of(run: Run, now: datetime | None = None) -> float | None:
    """Return summaries per second over the latest batches of a running run; None before the first.

    The time counts until now, so that the pace of a stalled run falls.
    """
    if run.status != Run.Status.RUNNING or run.started_at is None:
        return None
    finished = Batch.objects.filter(run=run, finished_at__gte=run.started_at)
    latest = list(finished.order_by("-finished_at").values_list("finished_at", "size")[: PACE_BATCHES + 1])
    before = latest[PACE_BATCHES][0] if len(latest) > PACE_BATCHES else None
    begin = before or run.started_at
    elapsed = ((now or timezone.now()) - begin).total_seconds()
    sizes = [size for _, size in latest[:PACE_BATCHES]]
    return sum(sizes) / elapsed if sizes and elapsed > 0 else None


def postponed_batches(run: Run) -> dict[str, Any]:
    """Return how many `batches` will be retried after a temporary failure, and when the first is `due`."""
    waiting = run.batches.unfinished().filter(not_before__gt=timezone.now())
    return waiting.aggregate(batches=Count("pk"), due=Min("not_before"))


def _missing(runs: Collection[int]) -> QuerySet[Score]:
    return Score.objects.filter(run__in=runs, value__isnull=True)
