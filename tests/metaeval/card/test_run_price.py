"""The run time behind an evaluator's scores."""

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from metaeval.card.run_price import NO_RUN, NOT_RECORDED, run_price
from scoring.models import Run, Score
from tests.factories import make_project
from tests.metaeval.rated_projects import make_setup, make_summaries

BEGIN = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


@pytest.fixture
def setup(db):
    return make_setup(make_project(), "ROUGE-1")


def make_run(setup, seconds, total, status=Run.Status.DONE, **fields):
    end = BEGIN + timedelta(seconds=seconds)
    return Run.objects.create(
        setup=setup, status=status, total=total, reused=7, started_at=BEGIN, finished_at=end, **fields
    )


def test_finished_runs_are_added_up_and_a_summary_that_two_scored_counts_once(setup):
    summaries = make_summaries(setup.project, ["first", "second"], ["a", "b"])
    runs = [make_run(setup, 30, 100, prompt_tokens=900, completion_tokens=40, spent="0.5")]
    runs.append(make_run(setup, 90, 300, prompt_tokens=60, spent="0.25"))
    for run, some in zip(runs, (summaries[:1], summaries), strict=True):
        for summary in some:
            dimension = "coherence" if run is runs[0] else "fluency"
            Score.objects.create(setup=setup, summary=summary, dimension=dimension, run=run, value=1)
    make_run(setup, 500, 10, status=Run.Status.FAILED)
    make_run(setup, 700, 60, kind=Run.Kind.DRIFT)
    price = run_price(setup.project, str(setup.pk))
    assert (price.seconds, price.scored, price.summaries, price.seconds_per_thousand) == (120, 400, 4, 300)
    assert (price.tokens, price.dollars) == (1000, Decimal("0.75"))
    setup.project.only_published = True
    assert run_price(setup.project, str(setup.pk)).dollars == 0


def test_imported_scores_have_no_price(setup):
    make_run(setup, 0, 100)
    price = run_price(setup.project, str(setup.pk))
    assert price.reason == NOT_RECORDED
    assert math.isnan(price.seconds_per_thousand)


def test_no_finished_run_means_no_price(setup):
    make_run(setup, 5, 100, status=Run.Status.CANCELLED)
    assert run_price(setup.project, str(setup.pk)).reason == NO_RUN
