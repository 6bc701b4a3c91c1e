"""The Check button: a worker asks the model what it can do, and the page tells what it found."""

from datetime import timedelta
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from scoring.endpoints.managing import add_endpoint, add_model
from scoring.endpoints.remembered import PATIENCE_S, check
from scoring.models import EndpointModel
from scoring.presence import sign
from tests.factories import make_member, make_project
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.django_db

HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def project():
    return make_project()


@pytest.fixture
def manager(project):
    return make_member(project, "manager")


@pytest.fixture
def served():
    with ScriptedEndpoint() as endpoint:
        yield endpoint


@pytest.fixture
def model(project, manager, served):
    return add_model(add_endpoint(project, served.base_url, manager), "judge", "chat", manager)


@pytest.fixture
def client(manager):
    client = Client()
    client.force_login(manager)
    return client


def at(model):
    return reverse("endpoint_model_check", args=[model.endpoint.project.slug, model.endpoint_id, model.pk])


def text_of(response):
    return unescape(response.content.decode())


def test_a_check_asks_a_worker_and_the_page_follows_it(
    client, model, served, sent, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    assert "Not asked yet" in text_of(client.get(at(model), **HTMX))
    with django_capture_on_commit_callbacks(execute=True):
        part = text_of(client.post(at(model), **HTMX))
    assert "Asking it what it can do" in part
    assert "hx-trigger" in part
    assert "<form" not in part
    focused = f'<button id="check-{model.pk}"'
    assert focused in part, "a button that goes takes the keyboard's place in the page with it"
    [message] = sent("llm")
    assert (message["task"], message["args"]) == ("scoring.tasks.check_endpoint_model", [model.pk])
    check(model.pk)
    part = text_of(client.get(at(model), **HTMX))
    assert "hx-trigger" not in part
    assert "takes the temperature 0 (mode greedy)" in part
    assert '✗</span><span class="visually-hidden">no:</span> shows probabilities (mode expected)' in part
    assert "Asked on" in part
    assert "Check again" in part
    assert focused in part


def test_what_went_wrong_stands_there(client, model, served, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    served.answer = lambda _: Answer(status=401)
    client.post(at(model))
    check(model.pk)
    part = text_of(client.get(at(model), **HTMX))
    assert "The check failed." in part
    assert "401" in part


def test_where_no_worker_answers_it_says_so_and_stops_asking(client, model):
    asked = timezone.now() - timedelta(seconds=PATIENCE_S + 1)
    EndpointModel.objects.filter(pk=model.pk).update(check_asked_at=asked)
    part = text_of(client.get(at(model), **HTMX))
    assert "none is running that asks language models" in part
    assert "hx-trigger" not in part
    sign("worker", ["llm"])
    assert "those there are have other work" in text_of(client.get(at(model), **HTMX))


def test_an_address_that_is_no_longer_on_offer_is_not_asked(client, model, settings):
    settings.LLM_ENDPOINTS = ["https://api.openai.com/v1"]
    assert client.post(at(model), **HTMX).status_code == 400
    assert EndpointModel.objects.get().check_asked_at is None


def test_a_researcher_reads_it_without_the_button(project, model):
    client = Client()
    client.force_login(make_member(project, "researcher"))
    part = text_of(client.get(at(model), **HTMX))
    assert "Not asked yet" in part
    assert "<button" not in part
    assert client.post(at(model)).status_code == 403
