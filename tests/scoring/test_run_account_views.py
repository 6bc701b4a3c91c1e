"""What a run's page tells of the model it asks: requests, tokens, cost, and why it is paused."""

from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from scoring.models import Reservation, Run, StoredReply
from scoring.planning import plan_run
from scoring.working import work_on_run
from tests.factories import make_member
from tests.scoring.asking_projects import asking_project, asking_run, price
from tests.scoring.scripted_endpoint import ScriptedEndpoint

pytestmark = pytest.mark.django_db

HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def endpoint():
    return ScriptedEndpointAddress()


class ScriptedEndpointAddress(ScriptedEndpoint):
    """Never started: these pages ask nobody."""

    base_url = "http://127.0.0.1:9/v1"  # type: ignore[assignment]


@pytest.fixture
def project():
    return asking_project(3)


@pytest.fixture
def client(project):
    client = Client()
    client.force_login(make_member(project, "researcher"))
    return client


@pytest.fixture
def run(project, endpoint):
    return asking_run(project, endpoint)


def set_to(run, **fields):
    Run.objects.filter(pk=run.pk).update(**fields)
    run.refresh_from_db()


def paused(run, **fields):
    set_to(run, status="paused", failure="$0.02 of the budget of $0.02 is spent.", **fields)


def at(name, run):
    return reverse(name, args=[run.setup.project.slug, run.pk])


def text_of(response):
    return unescape(response.content.decode())


def reply(run, number, problem=""):
    return StoredReply.objects.create(
        project=run.setup.project, request=f"{number:064}", text="0.5", problem=problem, run=run
    )


def test_the_page_tells_requests_tokens_and_where_they_go(client, run):
    for number, problem in enumerate(["", "", "refused", "refused", "filtered"]):
        reply(run, number, problem)
    set_to(run, replies_received=5, prompt_tokens=12_345, completion_tokens=67)
    page = text_of(client.get(at("run", run), **HTMX))
    assert "<dt>Requests answered</dt><dd><b>5</b></dd>" in page
    assert "<b>12,345</b>" in page
    assert "<b>2</b> <span>refused</span></li><li><b>1</b> <span>filtered</span>" in page
    assert "judge-1" in page
    assert "http://127.0.0.1:9/v1" in page
    assert "<b>not known</b>" in page
    assert reverse("endpoints", args=[run.setup.project.slug]) in page


def test_the_budget_is_shown_with_what_is_set_aside(client, project, endpoint):
    model = price(project, endpoint, "1", "2")
    run = asking_run(project, endpoint)
    set_to(run, budget=Decimal(2), spent=Decimal("0.5"))
    for holder, amount, seconds in (("one", "0.25", 60), ("two", "0.125", -60)):
        until = timezone.now() + timedelta(seconds=seconds)
        Reservation.objects.create(run=run, holder=holder, amount=Decimal(amount), until=until)
    page = text_of(client.get(at("run", run)))
    assert "<b>$0.50</b> of $2.00" in page
    assert 'max="2.0000" value="0.87500000"' in page
    assert "$0.25 set aside for requests under way" in page
    assert "$0.12 set aside for requests of workers that were stopped" in page
    assert reverse("endpoint", args=[project.slug, model.endpoint_id]) in page


def test_runs_that_ask_no_model_say_nothing_of_it(client, project):
    run = plan_run(project, "length", {})
    assert "What was asked" not in text_of(client.get(at("run", run)))


def test_a_paused_run_says_why_and_is_no_longer_asked_after(client, run):
    paused(run)
    page = text_of(client.get(at("run", run), **HTMX))
    assert "The run is paused." in page
    assert "$0.02 of the budget of $0.02 is spent." in page
    assert "hx-trigger" not in page
    assert at("run_budget", run) in page
    assert at("run_cancel", run) in page
    listed = text_of(client.get(reverse("runs", args=[run.setup.project.slug])))
    assert "‖ paused" in listed


def test_a_paused_run_goes_on_with_a_new_budget(client, project, endpoint):
    price(project, endpoint, "1", "2")
    run = asking_run(project, endpoint)
    paused(run, budget=Decimal("0.02"))
    response = client.post(at("run_budget", run), {"budget": "1.50", "action": "limit"})
    assert response.status_code == 302
    run.refresh_from_db()
    assert (run.status, run.budget, run.failure) == (Run.Status.QUEUED, Decimal("1.5"), "")


def test_a_paused_run_goes_on_without_a_limit(client, run):
    paused(run, budget=Decimal("0.02"))
    client.post(at("run_budget", run), {"budget": "nonsense", "action": "unlimited"})
    run.refresh_from_db()
    assert (run.status, run.budget) == (Run.Status.QUEUED, None)


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ("", "This field is required"),
        ("much", "Enter a number"),
        ("0", "greater than or equal to 0.0001"),
        ("-5", "greater than or equal to 0.0001"),
        ("0.00001", "4 decimal places"),
        ("100000000", "less than or equal to 10000000"),
        ("5", "No price is known for judge-1"),
    ],
)
def test_what_is_no_budget_or_cannot_be_kept_is_refused_beside_the_field(client, run, budget, message):
    paused(run, budget=Decimal("0.02"))
    response = client.post(at("run_budget", run), {"budget": budget, "action": "limit"})
    assert response.status_code == 422
    assert message in text_of(response)
    run.refresh_from_db()
    assert (run.status, run.budget) == (Run.Status.PAUSED, Decimal("0.02"))


def test_a_run_that_failed_at_once_says_that_nothing_was_scored(client, run):
    set_to(run, status="failed", failure="the model shows no probabilities of tokens")
    page = text_of(client.get(at("run", run)))
    assert "The run failed before anything was scored." in page
    assert "The model shows no probabilities of tokens" in page


def test_replies_of_earlier_runs_are_counted_apart(client, project, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    with ScriptedEndpoint() as served:
        for patience_s in (60, 61):  # another setup that asks the same
            run = asking_run(project, served, timeout_s=patience_s)
            work_on_run(run.pk)
        asked = len(served.asked)
    run.refresh_from_db()
    assert (asked, run.status, run.replies_reused) == (3, "done", 3)
    page = text_of(client.get(at("run", run)))
    assert "<dt>Requests answered</dt><dd><b>0</b></dd>" in page
    assert "3 more requests were answered by replies of earlier runs" in page
    first = Run.objects.exclude(pk=run.pk).get()
    assert "of earlier runs" not in text_of(client.get(at("run", first)))
