"""On a worker the endpoint's limits hold, and no evaluator is changed by who asks for it."""

import sqlite3
import threading
import time
from contextlib import closing

import pytest
from redis import Redis

from scoring import working
from scoring.endpoints.at_work import for_claim
from scoring.endpoints.stored_replies import StoredReplies
from scoring.models import Run
from scoring.planning import FIRST_BATCH, plan_run
from scoring.working import evaluator_of, work_on_run
from tests.factories import make_project, make_summary
from tests.scoring.asking_projects import asking_project, asking_run, price
from tests.scoring.claims import claimed
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint(monkeypatch, settings, tmp_path):
    monkeypatch.setenv("OPENAI_API_KEY", "any-key")
    settings.VAR_DIR = tmp_path
    working._loaded.clear()
    with ScriptedEndpoint() as server:
        yield server
    working._loaded.clear()


def limited(endpoint, **limits):
    """A run, not yet worked on, whose endpoint has these limits."""
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


def test_no_more_are_under_way_than_the_manager_allows(endpoint):
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


def test_requests_are_counted_where_other_workers_see_them_but_not_the_key(endpoint, settings, tmp_path):
    settings.CELERY_BROKER_URL = "memory://"
    assert work(limited(endpoint, requests_per_minute=10_000)).status == Run.Status.DONE
    with closing(sqlite3.connect(tmp_path / "rate_limits.sqlite3")) as counts:
        [(name,)] = counts.execute("SELECT name FROM bucket").fetchall()
    assert name.endswith(f":requests:{endpoint.base_url}")
    assert "any-key" not in name


def test_on_redis_workers_of_all_machines_see_them(endpoint, settings, tmp_path, redis_port):
    settings.CELERY_BROKER_URL = f"redis://127.0.0.1:{redis_port}/0"
    assert work(limited(endpoint, requests_per_minute=10_000)).status == Run.Status.DONE
    with Redis(port=redis_port, decode_responses=True) as counts:
        [name] = counts.keys()
    assert name.endswith(f":requests:{endpoint.base_url}")
    assert "any-key" not in name
    assert not (tmp_path / "rate_limits.sqlite3").exists()


def test_a_limit_that_no_request_fits_ends_the_run_with_what_to_do(endpoint):
    run = work(limited(endpoint, tokens_per_minute=5))
    assert run.status == Run.Status.FAILED
    assert "raise the limit" in run.failure
    assert not endpoint.asked


def test_the_evaluator_itself_is_left_as_it_is(endpoint):
    run = limited(endpoint)
    evaluator = evaluator_of(run.setup)
    copied = for_claim(evaluator, claimed(run))
    assert isinstance(copied.asking, StoredReplies)
    assert evaluator.asking is None


def test_evaluators_that_ask_no_endpoint_are_given_back():
    project = make_project()
    make_summary(project)
    run = plan_run(project, "length", {})
    evaluator = evaluator_of(run.setup)
    assert for_claim(evaluator, claimed(run)) is evaluator


def test_a_batch_of_which_a_model_refuses_all_does_not_end_a_run_that_it_has_answered(endpoint):
    run = asking_run(asking_project(56), endpoint)
    first = [f"number {number}." for number in range(FIRST_BATCH - 1)]  # beside the example
    endpoint.answer = lambda asked: Answer(status=200 if any(each in asked.prompt for each in first) else 404)
    assert work(run).status == Run.Status.DONE
    assert run.scores.filter(value__isnull=False).count() == len(first)
    reasons = set(run.scores.filter(value=None).values_list("reason", flat=True))
    assert reasons == {"refused", "article is in the in-context pool"}
