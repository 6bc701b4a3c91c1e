"""Trainings wake a worker of their own where one runs, so that other work does not wait behind them."""

import pytest

from scoring.training.planning import plan_training, start_training
from scoring.training.wake_ups import wake_waiting_trainings
from scoring.workers.presence import sign


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("served", "queue"),
    [([], "cpu"), (["cpu"], "cpu"), (["cpu", "gpu"], "gpu"), (["cpu", "gpu", "training"], "training")],
)
def test_a_training_waits_for_the_worker_that_suits_it_best(
    project, sent, django_capture_on_commit_callbacks, served, queue
):
    sign("one@here", served)
    with django_capture_on_commit_callbacks(execute=True):
        training = start_training(plan_training(project, "counting", {}), None, "mine")
    assert [message["args"] for message in sent(queue)] == [[training.pk]]
    with django_capture_on_commit_callbacks(execute=True):
        wake_waiting_trainings()
    assert [message["args"] for message in sent(queue)] == [[training.pk]]
