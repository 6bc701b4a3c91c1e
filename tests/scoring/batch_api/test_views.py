"""Starting a run through the batch API in the browser, and its progress on the run's page."""

from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from scoring.models import EndpointModel, Run
from scoring.runs import worker
from scoring.runs.lifecycle import cancel_run
from tests.scoring.asking_projects import asking_project
from tests.scoring.batch_api.batch_runs import batch_run, work_once, work_until_done
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    worker._loaded.clear()
    with ScriptedEndpoint(lambda _: Answer("0.5", usage=(100, 2)), takes_batches=True) as server:
        yield server
    worker._loaded.clear()


@pytest.fixture
def project():
    return asking_project(3)


@pytest.fixture
def client(researcher):
    client = Client()
    client.force_login(researcher)
    return client


def page(client, run):
    response = client.get(reverse("run", args=[run.setup.project.slug, run.pk]))
    assert response.status_code == 200
    return " ".join(unescape(response.content.decode()).split())


def form(endpoint, **changed):
    return {
        "evaluator": "ice",
        "param_model": "judge-1",
        "param_base_url": endpoint.base_url,
        "param_dimensions": ["attribution"],
        "param_examples": "1",
        "param_pool_articles": "1",
        "delivery": "batch",
        **changed,
    }


def test_run_is_sent_as_a_batch(client, project, endpoint):
    response = client.post(reverse("run_new", args=[project.slug]), form(endpoint, action="start"))
    assert response.status_code == 302, response.content.decode()
    run = Run.objects.get()
    assert run.delivery == Run.Delivery.BATCH
    assert run.api_batches.exists()


def test_form_reports_an_endpoint_without_batch_api(client, project, endpoint):
    batch_run(project, endpoint)
    EndpointModel.objects.update(abilities={"batches": False})
    for action in ("preview", "start"):
        sent = form(endpoint, action=action, param_seed="7")
        response = client.post(reverse("run_new", args=[project.slug]), sent)
        assert response.status_code == 422
        assert "no batch API" in response.context["form"].errors["delivery"][0]


def test_form_offers_no_batch_to_evaluators_without_an_endpoint(client, project):
    response = client.get(reverse("run_new", args=[project.slug]), {"evaluator": "length"})
    assert "as a batch" not in response.content.decode()


def test_page_shows_the_progress_of_the_batch(client, project, endpoint):
    run = batch_run(project, endpoint)
    assert "Collecting requests" in page(client, run)
    work_once(run)
    shown = page(client, run)
    assert "Submitted on" in shown
    assert "batch_0" in shown
    assert "0</b> of 3 requests answered" in shown
    assert "Waiting for the endpoint" in shown
    assert 'hx-trigger="every 10s"' in shown
    work_once(run)
    assert "last checked on" in page(client, run)
    work_until_done(run)
    shown = page(client, run)
    assert "3</b> of 3 requests answered" in shown
    assert "Counted at the full price" in shown
    assert "hx-trigger" not in shown


def test_page_says_that_the_batch_is_being_cancelled(client, project, researcher, endpoint):
    run = work_once(batch_run(project, endpoint))
    cancel_run(run, researcher)
    work_once(run)
    assert "Cancelling" in page(client, run)
    work_until_done(run)
    assert "Cancelling" not in page(client, run)


def test_page_shows_the_endpoints_error_message(client, project, endpoint):
    endpoint.answer = lambda _: Answer(status=500)
    run = work_until_done(batch_run(project, endpoint))
    shown = page(client, run)
    assert "3</b> <span>scripted 500" in shown
    assert "not answered in the batch" in shown
