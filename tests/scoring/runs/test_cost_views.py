"""The run page's section on requests, tokens, cost and budget."""

from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.urls import reverse
from django.utils import timezone

from annotation.models import Summary
from scoring.models import Reservation, Run, StoredReply
from scoring.runs.planning import plan_run
from scoring.runs.worker import work_on_run
from tests.annotation.rating.rating_steps import signed_in
from tests.factories import make_member, make_summary, make_system
from tests.scoring.asking_projects import asking_project, asking_run, price
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.django_db

HTMX = {"HTTP_HX_REQUEST": "true"}


@pytest.fixture
def endpoint():
    return ScriptedEndpointAddress()


class ScriptedEndpointAddress(ScriptedEndpoint):
    """An endpoint that is never started, since these pages send no request."""

    base_url = "http://127.0.0.1:9/v1"  # type: ignore[assignment]


@pytest.fixture
def project():
    return asking_project(3)


@pytest.fixture
def client(project):
    return signed_in(make_member(project, "researcher"))


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
    return " ".join(unescape(response.content.decode()).split())


def reply(run, number, problem=""):
    return StoredReply.objects.create(
        project=run.setup.project, request=f"{number:064}", text="0.5", problem=problem, run=run
    )


def test_page_shows_requests_tokens_problems_and_the_endpoint(client, run):
    for number, problem in enumerate(["", "", "refused", "refused", "filtered"]):
        reply(run, number, problem)
    set_to(run, replies_received=5, prompt_tokens=12_345, completion_tokens=67)
    page = text_of(client.get(at("run", run), **HTMX))
    assert "<dt>Requests answered</dt><dd><b>5</b></dd>" in page
    assert "<b>12,345</b>" in page
    assert "<b>2</b> <span>refused</span></li><li><b>1</b> <span>filtered</span>" in page
    assert "judge-1" in page
    assert "http://127.0.0.1:9/v1" in page
    assert "<b>unknown</b>" in page
    assert reverse("endpoints", args=[run.setup.project.slug]) in page


def test_finished_run_says_how_many_summaries_share_a_reply(client, project):
    twin = Summary.objects.get(text="Summary number 1.")
    make_summary(project, article=twin.article, system=make_system(project, "other"), text=twin.text)
    with ScriptedEndpoint(lambda _: Answer("0.5")) as endpoint:
        run = asking_run(project, endpoint)
        shared = "1 summary has the same text as another of the same article"
        assert shared not in text_of(client.get(at("run", run)))
        work_on_run(run.pk, slice_s=600)
        assert len(endpoint.asked) == 3
    assert shared in text_of(client.get(at("run", run)))


def test_page_shows_the_budget_and_its_reservations(client, project, endpoint):
    model = price(project, endpoint, "1", "2")
    run = asking_run(project, endpoint)
    set_to(run, budget=Decimal(2), spent=Decimal("0.5"))
    for holder, amount, seconds in (("one", "0.25", 60), ("two", "0.125", -60)):
        until = timezone.now() + timedelta(seconds=seconds)
        Reservation.objects.create(
            run=run, holder=holder, amount=Decimal(amount), until=until, unanswered=12, at_once=8
        )
    page = text_of(client.get(at("run", run)))
    assert "<b>$0.50</b> of $2.00" in page
    assert 'max="2.0000" value="0.87500000"' in page
    assert "$0.25 reserved for requests in progress" in page
    assert "$0.12 reserved by workers that stopped" in page
    assert "At most 8 requests may have been paid twice" in page
    assert reverse("endpoint", args=[project.slug, model.endpoint_id]) in page


def test_page_of_a_run_without_a_language_model_has_no_costs(client, project):
    run = plan_run(project, "length", {})
    assert "Requests and cost" not in text_of(client.get(at("run", run)))


def test_paused_run_shows_its_reason_and_stops_polling(client, run):
    paused(run)
    page = text_of(client.get(at("run", run), **HTMX))
    assert "Run paused." in page
    assert "$0.02 of the budget of $0.02 is spent." in page
    assert "hx-trigger" not in page
    assert at("run_budget", run) in page
    assert at("run_cancel", run) in page
    listed = text_of(client.get(reverse("runs", args=[run.setup.project.slug])))
    assert "‖ paused" in listed


def test_paused_run_resumes_with_a_new_budget(client, project, endpoint):
    price(project, endpoint, "1", "2")
    run = asking_run(project, endpoint)
    paused(run, budget=Decimal("0.02"))
    response = client.post(at("run_budget", run), {"budget": "1.50", "action": "limit"})
    assert response.status_code == 302
    run.refresh_from_db()
    assert (run.status, run.budget, run.failure) == (Run.Status.QUEUED, Decimal("1.5"), "")


def test_paused_run_resumes_without_a_limit(client, run):
    paused(run, budget=Decimal("0.02"))
    client.post(at("run_budget", run), {"budget": "nonsense", "action": "unlimited"})
    run.refresh_from_db()
    assert (run.status, run.budget) == (Run.Status.QUEUED, None)


def test_invalid_budget_is_refused_beside_its_field(client, run, subtests):
    cases = [
        ("", "This field is required"),
        ("much", "Enter a number"),
        ("0", "greater than or equal to 0.0001"),
        ("-5", "greater than or equal to 0.0001"),
        ("0.00001", "4 decimal places"),
        ("100000000", "less than or equal to 10000000"),
        ("5", "needs a price for judge-1"),
    ]
    for budget, message in cases:
        with subtests.test(budget=budget, message=message):
            paused(run, budget=Decimal("0.02"))
            response = client.post(at("run_budget", run), {"budget": budget, "action": "limit"})
            assert response.status_code == 422
            assert message in text_of(response)
            run.refresh_from_db()
            assert (run.status, run.budget) == (Run.Status.PAUSED, Decimal("0.02"))


def test_run_that_failed_at_once_says_that_nothing_was_scored(client, run):
    set_to(run, status="failed", failure="the model shows no probabilities of tokens")
    page = text_of(client.get(at("run", run)))
    assert "Run failed before scoring anything." in page
    assert "The model shows no probabilities of tokens" in page


def test_reused_replies_of_earlier_runs_are_counted_separately(client, project, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    with ScriptedEndpoint() as served:
        for context_tokens in (0, 100_000):  # another setup with the same requests
            run = asking_run(project, served, context_tokens=context_tokens)
            work_on_run(run.pk)
        asked = len(served.asked)
    run.refresh_from_db()
    assert (asked, run.status, run.replies_reused) == (3, "done", 3)
    page = text_of(client.get(at("run", run)))
    assert "<dt>Requests answered</dt><dd><b>0</b></dd>" in page
    assert "3 requests were answered by stored replies of earlier runs" in page
    first = Run.objects.exclude(pk=run.pk).get()
    assert "of earlier runs" not in text_of(client.get(at("run", first)))
