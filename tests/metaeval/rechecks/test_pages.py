"""The pages of rechecks, and the warnings on other pages."""

import re
from collections.abc import Iterator
from decimal import Decimal
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from metaeval import tasks
from metaeval.rechecks.report import alpha_of, consistency_report, drift_report
from metaeval.rechecks.starting import asking_evaluator
from scoring.endpoints.known_models import model_at
from scoring.models import RecheckSchedule, Run, Score, Setup
from scoring.runs import worker
from scoring.runs.planning import plan_run
from tests.factories import make_member, make_project
from tests.metaeval.rechecks.scored_projects import answering, scored_project
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.django_db

CHANGED = re.compile(r"since \d+ \w{3} \d{4}")


@pytest.fixture
def endpoint(monkeypatch) -> Iterator[ScriptedEndpoint]:
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    worker._loaded.clear()
    with ScriptedEndpoint() as server:
        yield server
    worker._loaded.clear()


@pytest.fixture
def setup(endpoint):
    return scored_project(endpoint)[1]


@pytest.fixture
def manager(setup) -> Client:
    client = Client()
    client.force_login(make_member(setup.project, "manager"))
    return client


def address(name, setup, *further):
    return reverse(name, args=[setup.project.slug, *further])


def get_page(client, setup, **headers) -> str:
    response = client.get(address("rechecks_of_setup", setup, setup.pk), **headers)
    assert response.status_code == 200
    return response.content.decode()


def start_check(client, setup, kind) -> Run:
    response = client.post(address("recheck_start", setup, setup.pk), {"kind": kind})
    assert response.status_code == 302
    return Run.objects.filter(kind=kind).first()


def run_check(client, setup, kind) -> Run:
    run = start_check(client, setup, kind)
    tasks.work_on_run(run.pk)
    run.refresh_from_db()
    return run


def test_a_project_without_judges_explains_the_next_step():
    project = make_project()
    client = Client()
    client.force_login(make_member(project, "researcher"))
    shown = client.get(reverse("rechecks", args=[project.slug])).content.decode()
    assert "No language model has scored this project yet" in shown


def test_the_page_shows_the_requests_before_a_check(manager, setup):
    shown = get_page(manager, setup)
    assert "24 summaries, 3 times each: 72 requests" in shown
    assert "20 summaries, 2 times each: 40 requests" in shown
    assert "price unknown" in shown
    assert "hx-get" not in shown.split('id="found"')[1].split(">")[0]


def test_the_page_polls_while_a_check_is_running(manager, setup):
    start_check(manager, setup, "consistency")
    shown = get_page(manager, setup)
    assert "waiting for a worker" in shown
    assert 'hx-trigger="every 2s"' in shown
    assert 'id="ask-consistency"' not in shown
    part = get_page(manager, setup, HTTP_HX_REQUEST="true")
    assert part.lstrip().startswith('<div id="found"')


def test_a_checks_run_has_a_page_but_is_not_in_the_list_of_runs(manager, setup):
    run = run_check(manager, setup, "drift")
    shown = manager.get(address("run", setup, run.pk)).content.decode()
    assert "Its scores are kept separate" in shown
    assert address("rechecks_of_setup", setup, setup.pk) in shown
    assert 'id="compare"' not in shown
    assert 'id="download"' not in shown
    assert address("run", setup, run.pk) in get_page(manager, setup)
    assert address("run", setup, run.pk) not in manager.get(address("runs", setup)).content.decode()


def test_the_page_shows_values_model_names_and_largest_differences(manager, setup, endpoint):
    replies = {}

    def reply_to(number):
        replies[number] = replies.get(number, 0) + 1
        return "0.9" if number == 3 and replies[number] == 2 else "0.5"

    endpoint.answer = answering(reply_to, "model-7")
    report = consistency_report(run_check(manager, setup, "consistency"))
    [(dimension, found, alpha)] = report.dimensions
    assert (dimension, found.summaries) == ("attribution", 24)
    assert found.identical == pytest.approx(23 / 24)
    assert alpha.value < 0.1  # the replies differ only by noise
    assert report.models == ["model-7"]
    [differing] = report.differing
    assert differing.summary.text == "Summary number 3."
    assert sorted(reply.value for reply in differing.replies) == [
        0.5,
        0.5,
        0.9,
    ]  # all three are requested at once, in any order
    shown = get_page(manager, setup)
    assert "model-7" in shown
    assert "95.8%" in shown
    assert "Summary number 3." in shown


def test_alpha_is_1_when_replies_differ_only_between_summaries():
    assert alpha_of({1: [0.2] * 3, 2: [0.8] * 3}).value == 1
    assert alpha_of({1: [0.2] * 3, 2: [0.2] * 3}).reason
    assert alpha_of({}).reason


def test_a_changed_model_is_reported_on_every_page(manager, setup, endpoint):
    run_check(manager, setup, "drift")
    assert not CHANGED.search(get_page(manager, setup))
    endpoint.answer = answering(lambda _: "0.5", "model-2")
    report = drift_report(run_check(manager, setup, "drift"))
    assert report.p < 0.01
    assert CHANGED.search(get_page(manager, setup))
    run = setup.runs.of_scores().get()
    for name, further in (("run", (run.pk,)), ("rechecks", ()), ("judges", ())):
        shown = manager.get(address(name, setup, *further)).content.decode()
        assert CHANGED.search(shown), name


def test_a_run_without_a_model_does_not_mention_checks(manager, setup):
    run = plan_run(setup.project, "length", {})
    worker.work_on_run(run.pk)
    assert "/rechecks/" not in manager.get(address("run", setup, run.pk)).content.decode().split("<main")[1]


def test_a_failed_check_is_reported_and_can_be_retried(manager, setup, endpoint):
    endpoint.answer = answering(lambda _: Answer(status=401))
    run_check(manager, setup, "drift")
    shown = get_page(manager, setup)
    assert "The last recheck failed." in shown
    assert 'id="ask-drift"' in shown


def test_the_schedule_can_be_set_and_stopped(manager, setup):
    where = address("recheck_schedule", setup, setup.pk)
    assert manager.post(where, {"days": "14"}).status_code == 302
    assert RecheckSchedule.objects.get().every_days == 14
    assert "every 14 days" in get_page(manager, setup)
    for days, told in (("soon", "'soon'"), ("0", "0"), ("9" * 5000, f"'{'9' * 20}'")):
        assert manager.post(where, {"days": days}).status_code == 302
        words = f"days: found {told}, expected a whole number from 1 to 365"
        assert words in unescape(get_page(manager, setup))
    manager.post(where)
    assert not RecheckSchedule.objects.exists()


def test_an_unknown_kind_of_check_is_refused(manager, setup):
    response = manager.post(address("recheck_start", setup, setup.pk), {"kind": "other"})
    assert response.status_code == 404


def test_more_evaluators_cost_no_more_queries(manager, setup):
    def count_queries() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert manager.get(address("rechecks", setup)).status_code == 200
        return len(queries)

    def add_evaluator(number: int) -> None:
        other = Setup.objects.get(pk=setup.pk)
        other.pk, other.fingerprint, other.label = None, str(number) * 64, f"Judge {number}"
        other.save()
        summary = Score.objects.filter(setup=setup).first().summary
        Score.objects.create(
            setup=other, run=setup.runs.of_scores().get(), summary=summary, dimension="attribution", value=0.5
        )
        for kind in Run.RECHECKS:
            Run.objects.create(
                setup=other,
                kind=kind,
                status=Run.Status.DONE,
                has_changed=True if kind == Run.Kind.DRIFT else None,
            )
        RecheckSchedule.objects.create(setup=other, every_days=7)

    add_evaluator(1)
    before = count_queries()
    for number in range(2, 6):
        add_evaluator(number)
    assert count_queries() == before
    assert len(CHANGED.findall(manager.get(address("rechecks", setup)).content.decode())) == 5


def test_the_budget_of_a_check_can_be_set_on_the_page(setup, manager):
    assert 'name="budget"' not in get_page(manager, setup), "a model without a price has no budget"
    model = model_at(setup.project_id, asking_evaluator(setup).address)
    model.input_price = model.output_price = Decimal(10)
    model.save()
    shown = get_page(manager, setup)
    ids = re.findall(r'id="([a-z]+-budget)"', shown)
    assert ids == ["consistency-budget", "drift-budget", "schedule-budget"]
    url = address("recheck_start", setup, setup.pk)
    refused = manager.post(url, {"kind": "consistency", "budget": "much"}, follow=True)
    assert "budget: Enter a number." in refused.content.decode()
    assert not Run.objects.rechecks().exists()
    manager.post(url, {"kind": "consistency", "budget": "0.02"})
    run = Run.objects.rechecks().get()
    assert run.budget == Decimal("0.02")
    tasks.work_on_run(run.pk)
    shown = get_page(manager, setup)
    assert "The last recheck is paused." in shown
    assert "of the budget of $0.02" in shown.lower()
    assert "of $0.02</span>" in shown
    manager.post(address("recheck_schedule", setup, setup.pk), {"days": 7, "budget": "0.5"})
    assert RecheckSchedule.objects.get().budget == Decimal("0.5")
    assert "a budget of $0.50 each" in get_page(manager, setup)
