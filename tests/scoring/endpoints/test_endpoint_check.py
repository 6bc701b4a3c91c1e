"""The Check button: a worker checks what the model supports, and the page shows the result."""

from datetime import timedelta
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from scoring.endpoints.endpoint_admin import add_endpoint, add_model
from scoring.endpoints.known_models import PATIENCE_S, check
from scoring.models import EndpointModel
from scoring.workers.presence import sign
from tests.factories import make_member
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.django_db

HTMX = {"HTTP_HX_REQUEST": "true"}


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
    return " ".join(unescape(response.content.decode()).split())


def test_check_is_sent_to_a_worker_and_the_page_follows_it(
    client, model, served, sent, monkeypatch, django_capture_on_commit_callbacks
):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    assert "Not tested yet" in text_of(client.get(at(model), **HTMX))
    with django_capture_on_commit_callbacks(execute=True):
        part = text_of(client.post(at(model), **HTMX))
    assert "Testing capabilities" in part
    assert "hx-trigger" in part
    assert "<form" not in part
    focused = f'<button id="check-{model.pk}"'
    assert focused in part, "the button keeps the keyboard focus while the check runs"
    [message] = sent("llm")
    assert (message["task"], message["args"]) == ("scoring.tasks.check_endpoint_model", [model.pk])
    check(model.pk)
    part = text_of(client.get(at(model), **HTMX))
    assert "hx-trigger" not in part
    assert "temperature 0 (mode greedy)" in part
    assert '✗</span><span class="visually-hidden">no:</span> probabilities (mode expected)' in part
    assert "Tested on" in part
    assert "Test capabilities again" in part
    assert focused in part


def test_page_shows_why_the_check_failed(client, model, served, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    served.answer = lambda _: Answer(status=401)
    client.post(at(model))
    check(model.pk)
    part = text_of(client.get(at(model), **HTMX))
    assert "The test failed." in part
    assert "401" in part


def test_page_reports_a_missing_worker_and_stops_polling(client, model):
    asked = timezone.now() - timedelta(seconds=PATIENCE_S + 1)
    EndpointModel.objects.filter(pk=model.pk).update(check_asked_at=asked)
    part = text_of(client.get(at(model), **HTMX))
    assert "No worker for language models is running" in part
    assert "hx-trigger" not in part
    sign("worker", ["llm"])
    assert "all are busy" in text_of(client.get(at(model), **HTMX))


def test_address_no_longer_allowed_is_not_checked(client, model, settings):
    settings.LLM_ENDPOINTS = ["https://api.openai.com/v1"]
    assert client.post(at(model), **HTMX).status_code == 400
    assert EndpointModel.objects.get().check_asked_at is None


def test_researcher_sees_the_result_without_the_button(project, model):
    client = Client()
    client.force_login(make_member(project, "researcher"))
    part = text_of(client.get(at(model), **HTMX))
    assert "Not tested yet" in part
    assert "<button" not in part
    assert client.post(at(model)).status_code == 403
