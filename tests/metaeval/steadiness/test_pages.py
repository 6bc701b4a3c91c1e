"""The pages on steadiness, and the notices on others."""

import re
from collections.abc import Iterator
from decimal import Decimal
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from metaeval.steadiness.report import alpha_of, consistency_report, drift_report
from scoring import working
from scoring.endpoints.remembered import model_at
from scoring.models import EvaluatorSetup, Reasking, ReaskingSchedule, Score
from scoring.planning import plan_run
from scoring.steadiness.asking_again import work_on_reasking
from scoring.steadiness.starting import asking_evaluator
from tests.factories import make_member, make_project
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint
from tests.scoring.steadiness.asked_projects import answering, scored_project

pytestmark = pytest.mark.django_db

CHANGED = "answers differently since"


@pytest.fixture
def endpoint(monkeypatch) -> Iterator[ScriptedEndpoint]:
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    working._loaded.clear()
    with ScriptedEndpoint() as server:
        yield server
    working._loaded.clear()


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


def page(client, setup, **headers) -> str:
    response = client.get(address("steadiness_setup", setup, setup.pk), **headers)
    assert response.status_code == 200
    return response.content.decode()


def start(client, setup, kind) -> Reasking:
    response = client.post(address("steadiness_start", setup, setup.pk), {"kind": kind})
    assert response.status_code == 302
    return Reasking.objects.filter(kind=kind).first()


def asked(client, setup, kind) -> Reasking:
    reasking = start(client, setup, kind)
    work_on_reasking(reasking.pk)
    reasking.refresh_from_db()
    return reasking


def test_a_project_without_judges_says_what_to_do():
    project = make_project()
    client = Client()
    client.force_login(make_member(project, "researcher"))
    shown = client.get(reverse("steadiness", args=[project.slug])).content.decode()
    assert "No language model has scored this project yet" in shown


def test_before_it_is_asked_the_page_says_what_that_takes(manager, setup):
    shown = page(manager, setup)
    assert "24 summaries, 3 times each: 72 requests" in shown
    assert "20 summaries, 2 times each: 40 requests" in shown
    assert "no price is known" in shown
    assert "hx-get" not in shown.split('id="found"')[1].split(">")[0]


def test_while_it_is_asked_the_page_looks_again(manager, setup):
    start(manager, setup, "consistency")
    shown = page(manager, setup)
    assert "waiting for a worker" in shown
    assert 'hx-trigger="every 2s"' in shown
    assert 'id="ask-consistency"' not in shown
    part = page(manager, setup, HTTP_HX_REQUEST="true")
    assert part.lstrip().startswith('<div id="found"')


def test_figures_names_and_the_widest_apart(manager, setup, endpoint):
    replies = {}

    def says(number):
        replies[number] = replies.get(number, 0) + 1
        return "0.9" if number == 3 and replies[number] == 2 else "0.5"

    endpoint.answer = answering(says, "model-7")
    report = consistency_report(asked(manager, setup, "consistency"))
    [(dimension, found, alpha)] = report.dimensions
    assert (dimension, found.summaries) == ("attribution", 24)
    assert found.identical == pytest.approx(23 / 24)
    assert alpha.value < 0.1  # nothing but noise
    assert report.models == ["model-7"]
    [apart] = report.apart
    assert apart.summary.text == "Summary number 3."
    assert sorted(reply.value for reply in apart.replies) == [0.5, 0.5, 0.9]  # all three are asked at once
    shown = page(manager, setup)
    assert "model-7" in shown
    assert "95.8%" in shown
    assert "Summary number 3." in shown


def test_alpha_is_one_where_replies_differ_between_summaries_alone():
    assert alpha_of({1: [0.2] * 3, 2: [0.8] * 3}).value == 1
    assert alpha_of({1: [0.2] * 3, 2: [0.2] * 3}).reason
    assert alpha_of({}).reason


def test_a_changed_model_is_told_everywhere(manager, setup, endpoint):
    asked(manager, setup, "drift")
    assert CHANGED not in page(manager, setup)
    endpoint.answer = answering(lambda _: "0.5", "model-2")
    report = drift_report(asked(manager, setup, "drift"))
    assert report.p < 0.01
    assert CHANGED in page(manager, setup)
    run = setup.runs.get()
    for name, further in (("run", (run.pk,)), ("steadiness", ()), ("alignment", ())):
        shown = manager.get(address(name, setup, *further)).content.decode()
        assert CHANGED in shown, name


def test_a_run_that_asks_no_model_has_no_word_of_it(manager, setup):
    run = plan_run(setup.project, "length", {})
    working.work_on_run(run.pk)
    assert "/steadiness/" not in manager.get(address("run", setup, run.pk)).content.decode().split("<main")[1]


def test_a_failure_is_told_and_can_be_tried_again(manager, setup, endpoint):
    endpoint.answer = answering(lambda _: Answer(status=401))
    asked(manager, setup, "drift")
    shown = page(manager, setup)
    assert "The last time failed." in shown
    assert 'id="ask-drift"' in shown


def test_the_schedule_is_set_changed_and_stopped(manager, setup):
    where = address("steadiness_schedule", setup, setup.pk)
    assert manager.post(where, {"days": "14"}).status_code == 302
    assert ReaskingSchedule.objects.get().every_days == 14
    assert "Every 14 days" in page(manager, setup)
    for days, told in (("soon", "'soon'"), ("0", "0"), ("9" * 5000, f"'{'9' * 20}'")):
        assert manager.post(where, {"days": days}).status_code == 302
        words = f"days: found {told}, expected a whole number from 1 to 365"
        assert words in unescape(page(manager, setup))
    manager.post(where)
    assert not ReaskingSchedule.objects.exists()


def test_another_kind_of_asking_does_not_exist(manager, setup):
    response = manager.post(address("steadiness_start", setup, setup.pk), {"kind": "other"})
    assert response.status_code == 404


def test_more_evaluators_cost_no_more_queries(manager, setup):
    def counted() -> int:
        with CaptureQueriesContext(connection) as queries:
            assert manager.get(address("steadiness", setup)).status_code == 200
        return len(queries)

    def copied(number: int) -> None:
        other = EvaluatorSetup.objects.get(pk=setup.pk)
        other.pk, other.fingerprint, other.label = None, str(number) * 64, f"Judge {number}"
        other.save()
        summary = Score.objects.filter(setup=setup).first().summary
        Score.objects.create(
            setup=other, run=setup.runs.get(), summary=summary, dimension="attribution", value=0.5
        )
        for kind in Reasking.Kind:
            Reasking.objects.create(
                setup=other,
                kind=kind,
                summary_ids=[summary.pk],
                repeats=3,
                ended_at=timezone.now(),
                has_changed=True if kind == Reasking.Kind.DRIFT else None,
            )
        ReaskingSchedule.objects.create(setup=other, every_days=7)

    copied(1)
    before = counted()
    for number in range(2, 6):
        copied(number)
    assert counted() == before
    assert manager.get(address("steadiness", setup)).content.decode().count(CHANGED) == 5


def test_what_asking_again_may_cost_is_set_on_the_page(setup, manager):
    assert 'name="budget"' not in page(manager, setup), "there is no price to keep it by"
    model = model_at(setup.project_id, asking_evaluator(setup).address)
    model.input_price = model.output_price = Decimal(10)
    model.save()
    shown = page(manager, setup)
    ids = re.findall(r'id="([a-z]+-budget)"', shown)
    assert ids == ["consistency-budget", "drift-budget", "schedule-budget"]
    url = address("steadiness_start", setup, setup.pk)
    refused = manager.post(url, {"kind": "consistency", "budget": "much"}, follow=True)
    assert "budget: Enter a number." in refused.content.decode()
    assert not Reasking.objects.exists()
    manager.post(url, {"kind": "consistency", "budget": "0.02"})
    reasking = Reasking.objects.get()
    assert reasking.budget == Decimal("0.02")
    work_on_reasking(reasking.pk)
    shown = page(manager, setup)
    assert "of the budget of $0.02" in shown.lower()
    assert "of $0.02</span>" in shown
    manager.post(address("steadiness_schedule", setup, setup.pk), {"days": 7, "budget": "0.5"})
    assert ReaskingSchedule.objects.get().budget == Decimal("0.5")
    assert "for $0.50 at most each time" in page(manager, setup)
