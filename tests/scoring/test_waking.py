"""Wake-ups for workers: from the sweep, and through the tasks."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone

from scoring.models import Batch, EvaluatorSetup, Run
from scoring.runs import cancel_run, postpone_batch
from scoring.tasks import sweep, work_on_run
from scoring.waking import queue_of, wake_waiting_runs
from tests.factories import make_member
from tests.scoring.claims import LEASE, claimed, make_run, record, status_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def woken(sent, django_capture_on_commit_callbacks):
    """The runs that a sweep wakes, with the seconds until the message expires."""

    def sweep_now() -> dict[int, float]:
        with django_capture_on_commit_callbacks(execute=True):
            wake_waiting_runs()
        return {
            message["args"][0]: (datetime.fromisoformat(message["expires"]) - timezone.now()).total_seconds()
            for message in sent("cpu")
        }

    return sweep_now


def test_the_sweep_wakes_a_run_that_waits_for_its_worker(monkeypatch, woken):
    run = make_run(monkeypatch)
    assert woken() == {run.pk: pytest.approx(2, abs=1)}


def test_the_message_to_a_run_that_nobody_has_worked_on_for_long_stays_longer(monkeypatch, woken):
    run = make_run(monkeypatch)
    Run.objects.update(created_at=timezone.now() - timedelta(minutes=5))
    assert woken() == {run.pk: pytest.approx(60, abs=1)}
    record(claimed(run))
    assert woken() == {run.pk: pytest.approx(2, abs=1)}


def test_the_sweep_leaves_runs_alone_in_which_no_batch_can_be_claimed(monkeypatch, woken):
    run = make_run(monkeypatch, batches=2)
    claimed(run)
    postpone_batch(claimed(run))
    assert woken() == {}


def test_the_sweep_finds_the_batch_of_a_worker_that_was_killed(monkeypatch, woken):
    run = make_run(monkeypatch, batches=1)
    claimed(run, now=timezone.now() - LEASE - timedelta(seconds=1))
    assert set(woken()) == {run.pk}


def test_the_sweep_finds_a_postponed_batch_when_it_is_due(monkeypatch, woken):
    run = make_run(monkeypatch, batches=1)
    postpone_batch(claimed(run))
    Batch.objects.update(not_before=timezone.now() - timedelta(seconds=1))
    assert set(woken()) == {run.pk}


def test_the_sweep_leaves_runs_alone_that_have_ended(monkeypatch, woken):
    run = make_run(monkeypatch)
    cancel_run(run, make_member(run.setup.project, "manager"))
    assert woken() == {}


def test_the_tasks_do_what_their_names_say(monkeypatch, sent, django_capture_on_commit_callbacks):
    run = make_run(monkeypatch)
    with django_capture_on_commit_callbacks(execute=True):
        sweep()
    assert [message["args"] for message in sent("cpu")] == [[run.pk]]
    work_on_run(run.pk)
    assert status_of(run) == Run.Status.DONE


def test_every_evaluator_has_a_queue_even_one_that_is_gone():
    assert queue_of(EvaluatorSetup(evaluator="ice", params={"model": "m"})) == "llm"
    assert queue_of(EvaluatorSetup(evaluator="rouge")) == "cpu"
    assert queue_of(EvaluatorSetup(evaluator="gone")) == "cpu"
    assert queue_of(EvaluatorSetup(evaluator="ice", params={"parameter": "gone"})) == "cpu"
