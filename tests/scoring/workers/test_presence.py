"""The queues that workers serve, recorded when workers sign on and off."""

from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.models import Setup, Worker
from scoring.workers.presence import GONE_AFTER_S, is_served, sign, sign_off
from scoring.workers.wake_ups import queue_of

APIS = ("chat", "completions", "local_chat", "local_completions")

pytestmark = pytest.mark.django_db


def test_queue_is_served_once_one_of_its_workers_has_signed_on():
    assert not is_served("gpu")
    sign("one@here", ["cpu", "gpu"])
    assert is_served("gpu")
    assert is_served("cpu")
    assert not is_served("llm")


def test_worker_that_signed_off_or_fell_silent_serves_no_queue():
    sign("one@here", ["gpu"])
    sign_off("one@here")
    assert not is_served("gpu")
    sign("two@here", ["gpu"])
    Worker.objects.update(seen_at=timezone.now() - timedelta(seconds=GONE_AFTER_S + 1))
    assert not is_served("gpu")
    sign("two@here", ["gpu"])
    assert is_served("gpu")


def test_worker_that_changed_queues_no_longer_serves_the_old_ones():
    sign("one@here", ["gpu"])
    sign("one@here", ["cpu"])
    assert not is_served("gpu")


def test_evaluator_with_a_local_model_uses_the_gpu_queue_if_it_is_served():
    model = Setup(evaluator="similarity")
    judge = {name: Setup(evaluator="ice", params={"model": "m", "api": name}) for name in APIS}
    assert queue_of(model) == queue_of(judge["local_chat"]) == queue_of(judge["local_completions"]) == "cpu"
    sign("one@here", ["gpu"])
    assert queue_of(model) == queue_of(judge["local_chat"]) == queue_of(judge["local_completions"]) == "gpu"
    assert queue_of(Setup(evaluator="rouge")) == "cpu"
    assert queue_of(judge["chat"]) == queue_of(judge["completions"]) == "llm"


def test_workers_silent_for_long_are_deleted():
    sign("old@here", ["cpu"])
    Worker.objects.update(seen_at=timezone.now() - timedelta(days=2))
    sign("new@here", ["cpu"])
    assert list(Worker.objects.values_list("name", flat=True)) == ["new@here"]
