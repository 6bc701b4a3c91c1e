"""A run's progress, speed and missing scores."""

import math
from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from scoring.contract.evaluator import GENERAL
from scoring.contract.scores import Scored
from scoring.models import Batch, Run
from scoring.runs.claims import postpone_batch
from scoring.runs.lifecycle import cancel_run, resume_run
from scoring.runs.planning import plan_run
from scoring.runs.progress import (
    RunProgress,
    pace_of,
    postponed_batches,
    progress_of,
    reasons_of,
)
from scoring.runs.worker import record_scores
from tests.factories import make_member, make_summary
from tests.scoring.claims import claimed, make_run, record

pytestmark = pytest.mark.django_db


NOW = timezone.now()


def at(seconds_ago: float) -> datetime:
    return NOW - timedelta(seconds=seconds_ago)


def finish_batches(run: Run, seconds_ago: list[float]) -> None:
    """Finish one batch for each number of seconds before NOW."""
    for seconds in seconds_ago:
        claim = claimed(run)
        record(claim)
        Batch.objects.filter(pk=claim.pk).update(finished_at=at(seconds))
    run.refresh_from_db()


def test_summary_without_a_score_counts_once_for_all_its_dimensions(monkeypatch):
    run = make_run(monkeypatch, batches=1, size=3)
    claim = claimed(run)
    neither = Scored({"a": math.nan, "b": math.nan}, {"a": "no article", "b": "no reference"})
    one = Scored({"a": 1.0, "b": math.nan}, {"b": "no reference"})
    both = Scored({"a": 1.0, "b": 1.0})
    assert record_scores(claim, dict(zip(claim.summary_ids, (neither, one, both), strict=True)), {})
    progress = progress_of(run)
    assert progress == RunProgress(total=3, done=3, unscored=2)
    assert progress.scored == 1
    assert reasons_of(run) == [("no reference", 2), ("no article", 1)]


def test_missing_scores_of_a_run_stay_after_a_later_run_fills_them(monkeypatch):
    first = make_run(monkeypatch, batches=1)
    claim = claimed(first)
    missing = Scored({GENERAL: math.nan}, {GENERAL: "no answer"})
    record_scores(claim, dict.fromkeys(claim.summary_ids, missing), {})
    second = plan_run(first.setup.project, "length", {})
    record(claimed(second))
    assert (progress_of(first).unscored, reasons_of(first)) == (2, [("no answer", 2)])
    assert (progress_of(second).unscored, reasons_of(second)) == (0, [])


def test_speed_is_that_of_the_latest_batches(monkeypatch):
    run = make_run(monkeypatch, batches=14, size=2)
    finish_batches(run, [100, 90, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0])
    run.started_at = at(200)
    assert pace_of(run, NOW) == pytest.approx(20 / 10)
    assert progress_of(run).left == 2


def test_speed_counts_from_the_start_with_few_batches(monkeypatch):
    run = make_run(monkeypatch, batches=4, size=2)
    finish_batches(run, [10, 1])
    run.started_at = at(20)
    assert pace_of(run, NOW) == pytest.approx(4 / 20)


def test_speed_falls_while_a_run_hangs(monkeypatch):
    run = make_run(monkeypatch, batches=4, size=2)
    finish_batches(run, [10])
    run.started_at = at(20)
    assert pace_of(run, NOW) == pytest.approx(2 / 20)
    assert pace_of(run, at(-180)) == pytest.approx(2 / 200)


def test_run_has_no_speed_before_its_first_batch_or_after_its_end(monkeypatch):
    run = make_run(monkeypatch, batches=2)
    assert pace_of(run) is None
    claimed(run)
    run.refresh_from_db()
    assert pace_of(run) is None
    Run.objects.update(status=Run.Status.DONE)
    run.refresh_from_db()
    assert pace_of(run) is None


def test_speed_of_a_resumed_run_excludes_the_pause(monkeypatch):
    run = make_run(monkeypatch, batches=6, size=2)
    finish_batches(run, [3600, 3599])
    manager = make_member(run.setup.project, "manager")
    cancel_run(run, manager)
    resume_run(run, manager)
    finish_batches(run, [0])
    run.started_at = at(4)
    assert pace_of(run, NOW) == pytest.approx(2 / 4)


def test_postponed_batches_are_counted_with_their_earliest_time(monkeypatch):
    run = make_run(monkeypatch, batches=3)
    assert postponed_batches(run) == {"batches": 0, "due": None}
    postpone_batch(claimed(run))
    postpone_batch(claimed(run))
    postponed = postponed_batches(run)
    assert postponed["batches"] == 2
    assert postponed["due"] == min(
        Batch.objects.exclude(not_before=None).values_list("not_before", flat=True)
    )


def test_run_without_summaries_to_score_is_complete(monkeypatch):
    run = make_run(monkeypatch, batches=1)
    record(claimed(run))
    nothing = plan_run(run.setup.project, "length", {})
    assert progress_of(nothing) == RunProgress(0, 0, 0)
    assert progress_of(nothing).percent == 100
    make_summary(run.setup.project)
    assert progress_of(plan_run(run.setup.project, "length", {})).percent == 0
