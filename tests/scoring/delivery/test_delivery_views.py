"""How a run is sent as a batch in the browser, and what its page tells of the hand-in."""

from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from scoring import working
from scoring.models import EndpointModel, Run
from scoring.runs import cancel_run
from tests.factories import make_member
from tests.scoring.asking_projects import asking_project
from tests.scoring.delivery.handed_in import batch_run, turn, turns
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.django_db


@pytest.fixture
def endpoint(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    working._loaded.clear()
    with ScriptedEndpoint(lambda _: Answer("0.5", usage=(100, 2)), takes_batches=True) as server:
        yield server
    working._loaded.clear()


@pytest.fixture
def project():
    return asking_project(3)


@pytest.fixture
def researcher(project):
    return make_member(project, "researcher")


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


def test_a_run_is_sent_as_a_batch(client, project, endpoint):
    response = client.post(reverse("run_new", args=[project.slug]), form(endpoint, action="start"))
    assert response.status_code == 302, response.content.decode()
    run = Run.objects.get()
    assert run.delivery == Run.Delivery.BATCH
    assert run.hand_ins.exists()


def test_where_there_are_no_batches_the_choice_says_so(client, project, endpoint):
    batch_run(project, endpoint)
    EndpointModel.objects.update(abilities={"batches": False})
    for action in ("preview", "start"):
        sent = form(endpoint, action=action, param_seed="7")
        response = client.post(reverse("run_new", args=[project.slug]), sent)
        assert response.status_code == 422
        assert "takes no batches" in response.context["form"].errors["delivery"][0]


def test_evaluators_that_ask_no_endpoint_have_no_such_choice(client, project):
    response = client.get(reverse("run_new", args=[project.slug]), {"evaluator": "length"})
    assert "as a batch" not in response.content.decode()


def test_the_page_follows_the_hand_in(client, project, endpoint):
    run = batch_run(project, endpoint)
    assert "Requests are being collected" in page(client, run)
    turn(run)
    shown = page(client, run)
    assert "Handed in on" in shown
    assert "batch_0" in shown
    assert "0</b> of 3 requests answered" in shown
    assert "Waiting for the endpoint" in shown
    assert 'hx-trigger="every 10s"' in shown
    turn(run)
    assert "last looked at on" in page(client, run)
    turns(run)
    shown = page(client, run)
    assert "3</b> of 3 requests answered" in shown
    assert "Counted at the full price" in shown
    assert "hx-trigger" not in shown


def test_the_page_says_that_it_is_being_taken_back(client, project, researcher, endpoint):
    run = turn(batch_run(project, endpoint))
    cancel_run(run, researcher)
    turn(run)
    assert "Being taken back" in page(client, run)
    turns(run)
    assert "Being taken back" not in page(client, run)


def test_the_page_has_the_endpoints_words(client, project, endpoint):
    endpoint.answer = lambda _: Answer(status=500)
    run = turns(batch_run(project, endpoint))
    shown = page(client, run)
    assert "3</b> <span>scripted 500" in shown
    assert "not answered in the batch" in shown
