"""Requests of workers keep the endpoint's limits and leave the evaluator unchanged."""

import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import replace

import pytest
from redis import Redis

from scoring.contract.fingerprints import earlier_fingerprint
from scoring.models import Run
from scoring.replies.stored_replies import StoredReplies
from scoring.runs import worker
from scoring.runs.asking import with_stored_replies
from scoring.runs.planning import FIRST_BATCH, plan_run, start
from scoring.runs.worker import evaluator_of, work_on_run
from tests.factories import make_project, make_summary
from tests.scoring.asking_projects import asking_plan, asking_project, asking_run, price
from tests.scoring.claims import claimed
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint(monkeypatch, settings, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "any-key")
    settings.VAR_DIR = tmp_path
    worker._loaded.clear()
    with ScriptedEndpoint() as server:
        yield server
    worker._loaded.clear()


def limited(endpoint, **limits):
    """Start a run, not yet worked on, whose endpoint has these limits."""
    project = asking_project(12)
    there = price(project, endpoint, "1", "1").endpoint
    for name, limit in limits.items():
        setattr(there, name, limit)
    there.save()
    return asking_run(project, endpoint)


def work(run: Run) -> Run:
    work_on_run(run.pk, slice_s=600)
    run.refresh_from_db()
    return run


def test_another_timeout_or_key_variable_makes_no_new_setup_and_is_used(endpoint, monkeypatch):
    monkeypatch.setenv("LAB_API_KEY", "any-key")
    project = asking_project(2)
    first = work(asking_run(project, endpoint))
    make_summary(project)
    again = asking_run(project, endpoint, timeout_s=7.5, api_key_env="LAB_API_KEY", temperature=1.5)
    assert (again.setup, again.reused) == (first.setup, 2)
    assert work(again).status == Run.Status.DONE
    address = evaluator_of(again.setup).address
    assert (address.timeout_s, address.api_key_env) == (7.5, "LAB_API_KEY")
    assert asking_run(project, endpoint, mode="samples", temperature=1.5).setup != first.setup


def test_setup_whose_fingerprint_has_the_timeout_keeps_its_scores_and_works(endpoint):
    project = asking_project(2)
    planned = asking_plan(project, endpoint, timeout_s=7.5)
    earlier = replace(planned, fingerprint=earlier_fingerprint(planned.evaluator))
    assert earlier.fingerprint != planned.fingerprint
    first = work(start(earlier))
    assert first.status == Run.Status.DONE
    again = asking_run(project, endpoint, timeout_s=7.5)
    assert (again.setup, again.reused) == (first.setup, 2)


def test_requests_in_flight_stay_within_the_managers_limit(endpoint):
    lock, under_way, most = threading.Lock(), 0, 0

    def answer(_):
        nonlocal under_way, most
        with lock:
            under_way += 1
            most = max(most, under_way)
        time.sleep(0.02)
        with lock:
            under_way -= 1
        return Answer()

    endpoint.answer = answer
    assert work(limited(endpoint, most_in_flight=2)).status == Run.Status.DONE
    assert most == 2


def test_workers_share_the_count_of_requests_without_the_key(endpoint, settings, tmp_path):
    settings.CELERY_BROKER_URL = "memory://"
    assert work(limited(endpoint, requests_per_minute=10_000)).status == Run.Status.DONE
    with closing(sqlite3.connect(tmp_path / "rate_limits.sqlite3")) as counts:
        [(name,)] = counts.execute("SELECT name FROM bucket").fetchall()
    assert name.endswith(f":requests:{endpoint.base_url}")
    assert "any-key" not in name


def test_workers_of_several_machines_share_the_count_in_redis(endpoint, settings, tmp_path, redis_server):
    settings.CELERY_BROKER_URL = redis_server.url
    assert work(limited(endpoint, requests_per_minute=10_000)).status == Run.Status.DONE
    with Redis(port=redis_server.port, decode_responses=True) as counts:
        [name] = counts.keys()
    assert name.endswith(f":requests:{endpoint.base_url}")
    assert "any-key" not in name
    assert not (tmp_path / "rate_limits.sqlite3").exists()


def test_run_fails_if_no_request_fits_the_limit(endpoint):
    run = work(limited(endpoint, tokens_per_minute=5))
    assert run.status == Run.Status.FAILED
    assert "raise the limit" in run.failure
    assert not endpoint.asked


def test_evaluator_itself_is_not_changed(endpoint):
    run = limited(endpoint)
    evaluator = evaluator_of(run.setup)
    copied = with_stored_replies(evaluator, claimed(run))
    assert isinstance(copied.asking, StoredReplies)
    assert evaluator.asking is None


def test_evaluators_without_an_endpoint_are_returned_unchanged():
    project = make_project()
    make_summary(project)
    run = plan_run(project, "length", {})
    evaluator = evaluator_of(run.setup)
    assert with_stored_replies(evaluator, claimed(run)) is evaluator


def test_fully_refused_batch_does_not_fail_a_run_that_has_answers(endpoint):
    run = asking_run(asking_project(56), endpoint)
    first = [f"number {number}." for number in range(FIRST_BATCH - 1)]  # the first batch also has the example
    endpoint.answer = lambda asked: Answer(status=200 if any(each in asked.prompt for each in first) else 404)
    assert work(run).status == Run.Status.DONE
    assert run.scores.filter(value__isnull=False).count() == len(first)
    reasons = set(run.scores.filter(value=None).values_list("reason", flat=True))
    assert reasons == {"refused", "article is in the in-context pool"}
