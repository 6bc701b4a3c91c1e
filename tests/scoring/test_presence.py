"""Which queues are served: workers sign, and are forgotten when they no longer do."""

from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.models import EvaluatorSetup, Worker
from scoring.presence import GONE_AFTER_S, is_served, sign, sign_off
from scoring.waking import queue_of

APIS = ("chat", "completions", "local_chat", "local_completions")

pytestmark = pytest.mark.django_db


def test_a_queue_is_served_once_a_worker_of_it_has_signed():
    assert not is_served("gpu")
    sign("one@here", ["cpu", "gpu"])
    assert is_served("gpu")
    assert is_served("cpu")
    assert not is_served("llm")


def test_a_worker_that_signed_off_or_fell_silent_serves_nothing():
    sign("one@here", ["gpu"])
    sign_off("one@here")
    assert not is_served("gpu")
    sign("two@here", ["gpu"])
    Worker.objects.update(seen_at=timezone.now() - timedelta(seconds=GONE_AFTER_S + 1))
    assert not is_served("gpu")
    sign("two@here", ["gpu"])
    assert is_served("gpu")


def test_a_worker_that_serves_other_queues_now_no_longer_counts_for_the_old_ones():
    sign("one@here", ["gpu"])
    sign("one@here", ["cpu"])
    assert not is_served("gpu")


def test_an_evaluator_with_a_model_goes_to_the_gpu_worker_or_else_to_the_others():
    model = EvaluatorSetup(evaluator="similarity")
    judge = {name: EvaluatorSetup(evaluator="ice", params={"model": "m", "api": name}) for name in APIS}
    assert queue_of(model) == queue_of(judge["local_chat"]) == queue_of(judge["local_completions"]) == "cpu"
    sign("one@here", ["gpu"])
    assert queue_of(model) == queue_of(judge["local_chat"]) == queue_of(judge["local_completions"]) == "gpu"
    assert queue_of(EvaluatorSetup(evaluator="rouge")) == "cpu"
    assert queue_of(judge["chat"]) == queue_of(judge["completions"]) == "llm"


def test_names_long_gone_are_cleared_away():
    sign("old@here", ["cpu"])
    Worker.objects.update(seen_at=timezone.now() - timedelta(days=2))
    sign("new@here", ["cpu"])
    assert list(Worker.objects.values_list("name", flat=True)) == ["new@here"]
