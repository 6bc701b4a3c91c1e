"""Models asked again, on a real endpoint that is told what to say."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from itertools import count

import pytest
from django.db import OperationalError
from django.utils import timezone

from annotation.errors import NotAllowed, NotFound
from annotation.models import Summary
from scoring import tasks, working
from scoring.endpoints.remembered import model_at
from scoring.errors import InvalidRun, RunBusy
from scoring.models import EvaluatorSetup, ReaskedReply, Reasking, ReaskingSchedule, Score
from scoring.planning import plan_run
from scoring.steadiness.asking_again import LOT, MOST_ATTEMPTS, work_on_reasking
from scoring.steadiness.comparison import steadiness_of
from scoring.steadiness.reading import model_names, notice_of, replies_of
from scoring.steadiness.starting import (
    asking_evaluator,
    asking_setup,
    asking_setups,
    set_schedule,
    start_due,
    start_reasking,
    to_ask,
)
from tests.factories import make_member, make_project, make_summary
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint
from tests.scoring.steadiness.asked_projects import SUMMARIES, answering, scored_project

pytestmark = pytest.mark.django_db

CONSISTENCY, DRIFT = Reasking.Kind.CONSISTENCY, Reasking.Kind.DRIFT


def as_before(number: int) -> str:
    return f"{number * 4 / 100:.2f}"


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


def asked_again(setup, kind) -> Reasking:
    reasking = start_reasking(setup, kind)
    work_on_reasking(reasking.pk)
    reasking.refresh_from_db()
    return reasking


def test_a_steady_model_says_the_same_each_time(setup, endpoint):
    reasking = asked_again(setup, CONSISTENCY)
    assert (reasking.failure, reasking.is_unfinished) == ("", False)
    assert len(endpoint.asked) == 3 * SUMMARIES  # fewer than 30 are there
    found = steadiness_of(replies_of(reasking)["attribution"])
    assert (found.summaries, found.identical, found.difference) == (SUMMARIES, 1, 0)


def test_each_repeat_is_asked_anew_and_every_reply_is_kept(setup, endpoint):
    turns = count()
    endpoint.answer = answering(lambda _: f"0.{next(turns) % 10}")
    reasking = asked_again(setup, CONSISTENCY)
    assert len({asked.prompt for asked in endpoint.asked}) == SUMMARIES
    assert reasking.replies.count() == 3 * SUMMARIES
    assert len(set(reasking.replies.values_list("text", flat=True))) == 10
    assert steadiness_of(replies_of(reasking)["attribution"]).identical < 1


def test_a_reply_without_a_score_has_its_reason(setup, endpoint):
    endpoint.answer = answering(lambda number: "I cannot say." if number == 3 else "0.5")
    reasking = asked_again(setup, CONSISTENCY)
    lost = reasking.replies.filter(value=None)
    assert lost.count() == 3
    assert all(each.reason and each.text == "I cannot say." for each in lost)


def test_tokens_and_cost_are_counted_and_told_before(setup, endpoint):
    priced(setup)
    before = to_ask(setup, DRIFT)
    assert (before.requests, len(before.summary_ids), before.repeats) == (40, 20, 2)
    reasking = asked_again(setup, DRIFT)
    assert (reasking.prompt_tokens, reasking.completion_tokens) == (4000, 80)
    assert reasking.cost == Decimal("0.0416")
    assert before.cost_at_most >= reasking.cost
    assert len(endpoint.asked) == 40


def test_without_a_price_no_cost_is_told(setup):
    assert to_ask(setup, DRIFT).cost_at_most is None
    assert asked_again(setup, DRIFT).cost is None


def priced(setup):
    """The model costs ten dollars for a million tokens of prompts, twenty for those of replies."""
    model = model_at(setup.project_id, asking_evaluator(setup).address)
    model.input_price, model.output_price = Decimal(10), Decimal(20)
    model.save()
    return model


def test_a_budget_needs_a_price(setup):
    with pytest.raises(InvalidRun, match="no price is known for judge"):
        start_reasking(setup, DRIFT, budget=Decimal(1))
    with pytest.raises(InvalidRun, match="no price is known for judge"):
        set_schedule(setup, 7, make_member(setup.project, "manager"), Decimal(1))
    priced(setup)
    with pytest.raises(InvalidRun, match="budget: found -1"):
        start_reasking(setup, DRIFT, budget=Decimal(-1))
    assert not Reasking.objects.exists()


def test_a_budget_that_lasts_changes_nothing(setup, endpoint):
    priced(setup)
    reasking = start_reasking(setup, DRIFT, budget=Decimal(1))
    work_on_reasking(reasking.pk)
    reasking.refresh_from_db()
    assert (reasking.failure, reasking.has_changed, reasking.set_aside) == ("", False, 0)
    assert reasking.cost == Decimal("0.0416")


@pytest.mark.parametrize("budget", [Decimal("0.015"), Decimal("0.03"), Decimal("0.05")])
def test_it_ends_before_it_could_cost_more_than_its_budget_and_says_so(setup, endpoint, budget):
    priced(setup)
    reasking = start_reasking(setup, CONSISTENCY, budget=budget)
    work_on_reasking(reasking.pk)
    reasking.refresh_from_db()
    asked = len(endpoint.asked)
    assert 0 < asked < 3 * SUMMARIES
    assert reasking.cost == asked * Decimal("0.00104") <= budget
    assert f"{asked // 3} of {SUMMARIES} were answered" in reasking.failure
    assert "larger budget" in reasking.failure
    assert reasking.replies.count() == asked, "what was paid for is kept"


def test_a_budget_too_small_for_the_first_summary_asks_nothing(setup, endpoint):
    priced(setup)
    reasking = start_reasking(setup, CONSISTENCY, budget=Decimal("0.0001"))
    work_on_reasking(reasking.pk)
    reasking.refresh_from_db()
    assert f"0 of {SUMMARIES} were answered" in reasking.failure
    assert not endpoint.asked


def test_a_price_that_was_removed_ends_what_has_a_budget(setup, endpoint):
    model = priced(setup)
    reasking = start_reasking(setup, CONSISTENCY, budget=Decimal(1))
    model.input_price = model.output_price = None
    model.save()
    work_on_reasking(reasking.pk)
    reasking.refresh_from_db()
    assert "no price is known for judge" in reasking.failure
    assert not endpoint.asked


def test_what_a_killed_worker_may_have_spent_counts(setup, endpoint, monkeypatch):
    priced(setup)
    reasking = start_reasking(setup, CONSISTENCY, budget=Decimal("0.05"))

    def killed(rows):
        raise SystemExit

    with monkeypatch.context() as patched:
        patched.setattr(ReaskedReply.objects, "bulk_create", killed)
        with pytest.raises(SystemExit):
            work_on_reasking(reasking.pk)
    reasking.refresh_from_db()
    lost = reasking.set_aside
    assert lost > len(endpoint.asked) * Decimal("0.00104") > 0
    assert not reasking.cost
    Reasking.objects.filter(pk=reasking.pk).update(claimed_until=None)
    work_on_reasking(reasking.pk)
    reasking.refresh_from_db()
    assert reasking.set_aside == lost
    assert (reasking.cost or 0) + lost <= Decimal("0.05")
    assert "were answered" in reasking.failure


def test_replies_that_came_before_an_outage_are_paid_for_and_the_rest_is_free_again(
    setup, endpoint, monkeypatch
):
    monkeypatch.setattr("scoring.asking.sender.PATIENCE_S", 0.0)
    priced(setup)
    turns = count()
    endpoint.answer = answering(lambda _: "0.5" if next(turns) < 5 else Answer(status=503))
    reasking = start_reasking(setup, CONSISTENCY, budget=Decimal(1))
    work_on_reasking(reasking.pk)
    reasking.refresh_from_db()
    assert reasking.is_unfinished
    assert reasking.set_aside == 0
    assert reasking.cost == 5 * Decimal("0.00104")
    assert (reasking.prompt_tokens, reasking.completion_tokens) == (500, 10)


def test_a_schedule_keeps_its_budget_each_time(setup):
    priced(setup)
    set_schedule(setup, 7, make_member(setup.project, "manager"), Decimal("0.5"))
    EvaluatorSetup.objects.filter(pk=setup.pk).update(created_at=timezone.now() - timedelta(days=8))
    start_due()
    assert Reasking.objects.get().budget == Decimal("0.5")


def test_a_model_that_answers_as_before_has_not_changed(setup):
    reasking = asked_again(setup, DRIFT)
    assert reasking.has_changed is False
    assert notice_of(setup) is None


def test_a_model_that_answers_otherwise_is_noticed_until_it_answers_as_before(setup, endpoint):
    same = asked_again(setup, DRIFT)
    endpoint.answer = answering(lambda _: "0.5", "model-2")
    first, second = asked_again(setup, DRIFT), asked_again(setup, DRIFT)
    assert first.has_changed
    assert second.has_changed
    notice = notice_of(setup)
    assert (notice.noticed_at, notice.last_same_at) == (first.created_at, same.created_at)
    _, later = model_names(second)
    assert later == ["model-2"]
    endpoint.answer = answering(as_before)
    asked_again(setup, DRIFT)
    assert notice_of(setup) is None


def test_a_drift_asks_the_same_summaries_each_time(setup):
    assert asked_again(setup, DRIFT).summary_ids == asked_again(setup, DRIFT).summary_ids


def test_summaries_whose_texts_have_changed_are_not_compared(setup, endpoint):
    gone, *_ = to_ask(setup, DRIFT).summary_ids
    Summary.objects.filter(pk=gone).update(text="Another text.")
    reasking = asked_again(setup, DRIFT)
    assert gone not in replies_of(reasking)["attribution"]
    assert len(endpoint.asked) == 38


def test_with_all_texts_changed_there_is_nothing_to_compare(setup):
    Summary.objects.filter(project=setup.project, ratings=None).update(text="Another text.")
    reasking = asked_again(setup, DRIFT)
    assert reasking.has_changed is None
    assert "texts have changed" in reasking.failure


def test_a_worker_killed_between_two_lots_loses_none_and_pays_none_twice(setup, endpoint, monkeypatch):
    reasking = start_reasking(setup, CONSISTENCY)
    keep, lots = ReaskedReply.objects.bulk_create, count(1)

    def killed_in_the_third_lot(rows):
        if next(lots) == 3:
            raise SystemExit
        return keep(rows)

    with monkeypatch.context() as patched:
        patched.setattr(ReaskedReply.objects, "bulk_create", killed_in_the_third_lot)
        with pytest.raises(SystemExit):
            work_on_reasking(reasking.pk)
    asked = len(endpoint.asked)
    work_on_reasking(reasking.pk)  # somebody else holds it, as far as is known
    assert len(endpoint.asked) == asked
    Reasking.objects.filter(pk=reasking.pk).update(claimed_until=timezone.now() - timedelta(seconds=1))
    work_on_reasking(reasking.pk)
    reasking.refresh_from_db()
    assert not reasking.is_unfinished
    assert reasking.replies.count() == 3 * SUMMARIES
    assert len(endpoint.asked) - asked == 3 * (SUMMARIES - 2 * LOT)


def test_an_outage_is_tried_again_and_given_up_in_the_end(setup, endpoint, monkeypatch):
    monkeypatch.setattr("scoring.asking.sender.PATIENCE_S", 0.0)
    endpoint.answer = answering(lambda _: Answer(status=503))
    reasking = start_reasking(setup, DRIFT)
    for _ in range(MOST_ATTEMPTS):
        assert reasking.is_unfinished
        Reasking.objects.filter(pk=reasking.pk).update(claimed_until=None)
        work_on_reasking(reasking.pk)
        reasking.refresh_from_db()
    assert not reasking.is_unfinished
    assert "503" in reasking.failure


def test_a_busy_database_is_no_end(setup, monkeypatch):
    reasking = start_reasking(setup, DRIFT)

    def busy(rows):
        raise OperationalError("database is locked")

    with monkeypatch.context() as patched:
        patched.setattr(ReaskedReply.objects, "bulk_create", busy)
        work_on_reasking(reasking.pk)
    reasking.refresh_from_db()
    assert reasking.is_unfinished
    Reasking.objects.filter(pk=reasking.pk).update(claimed_until=None)
    work_on_reasking(reasking.pk)
    reasking.refresh_from_db()
    assert (reasking.failure, reasking.has_changed) == ("", False)


def test_what_kills_every_worker_is_given_up(setup, endpoint):
    reasking = start_reasking(setup, DRIFT)
    Reasking.objects.filter(pk=reasking.pk).update(attempts=MOST_ATTEMPTS)
    work_on_reasking(reasking.pk)
    reasking.refresh_from_db()
    assert reasking.failure.startswith("the worker stopped each time")
    assert not endpoint.asked


def test_a_wrong_key_ends_it_at_once(setup, endpoint):
    endpoint.answer = answering(lambda _: Answer(status=401))
    reasking = asked_again(setup, DRIFT)
    assert not reasking.is_unfinished
    assert "401" in reasking.failure


def test_one_at_a_time(setup):
    start_reasking(setup, DRIFT)
    with pytest.raises(RunBusy, match="being asked again already"):
        start_reasking(setup, DRIFT)
    start_reasking(setup, CONSISTENCY)  # of the other kind


def test_the_worker_is_woken_at_the_start_and_by_the_sweep(setup, sent, django_capture_on_commit_callbacks):
    with django_capture_on_commit_callbacks(execute=True):
        reasking = start_reasking(setup, DRIFT)
    expected = ("scoring.tasks.work_on_reasking", reasking.pk)
    [message] = sent("llm")
    assert (message["task"], *message["args"]) == expected
    with django_capture_on_commit_callbacks(execute=True):
        tasks.sweep()
    assert expected in [(each["task"], *each["args"]) for each in sent("llm")]
    work_on_reasking(reasking.pk)
    with django_capture_on_commit_callbacks(execute=True):
        tasks.sweep()
    assert not [each for each in sent("llm") if each["task"] == expected[0]]


def test_the_schedule_asks_when_its_days_are_over(setup):
    manager = make_member(setup.project, "manager")
    set_schedule(setup, 7, manager)
    start_due()
    assert not Reasking.objects.exists()
    type(setup).objects.filter(pk=setup.pk).update(created_at=timezone.now() - timedelta(days=8))
    start_due()
    start_due()
    reasking = Reasking.objects.get()
    assert (reasking.kind, reasking.started_by) == (DRIFT, None)
    work_on_reasking(reasking.pk)
    start_due()
    assert Reasking.objects.count() == 1
    set_schedule(setup, None, manager)
    assert not ReaskingSchedule.objects.exists()


def test_a_schedule_that_cannot_start_says_so_once_each_time(setup):
    set_schedule(setup, 1, make_member(setup.project, "manager"))
    type(setup).objects.filter(pk=setup.pk).update(
        created_at=timezone.now() - timedelta(days=2), fingerprint="0" * 64
    )
    start_due()
    start_due()
    [reasking] = Reasking.objects.all()
    assert "different on this worker" in reasking.failure


@pytest.mark.parametrize("days", [0, 366])
def test_days_out_of_range_are_refused(setup, days):
    with pytest.raises(InvalidRun, match=rf"days: found {days}, expected a whole number from 1 to 365"):
        set_schedule(setup, days, make_member(setup.project, "manager"))


def test_who_may_not_start_runs_may_not_ask_again(setup):
    stranger = make_member(make_project(), "manager")
    with pytest.raises((NotAllowed, NotFound)):
        start_reasking(setup, DRIFT, stranger)
    with pytest.raises((NotAllowed, NotFound)):
        set_schedule(setup, 7, stranger)


def test_an_address_that_pages_may_not_name_is_refused_to_people(setup, settings):
    settings.LLM_ENDPOINTS = ["https://api.openai.com/v1"]
    with pytest.raises(InvalidRun, match="'base_url'"):
        start_reasking(setup, DRIFT, make_member(setup.project, "manager"))


def test_no_schedule_asks_at_an_address_that_pages_may_not_name(setup, settings):
    manager = make_member(setup.project, "manager")
    set_schedule(setup, 1, manager)
    EvaluatorSetup.objects.filter(pk=setup.pk).update(created_at=timezone.now() - timedelta(days=2))
    settings.LLM_ENDPOINTS = ["https://api.openai.com/v1"]
    start_due()
    assert "LLM_ENDPOINTS" in Reasking.objects.get().failure
    with pytest.raises(InvalidRun, match="LLM_ENDPOINTS"):
        set_schedule(setup, 7, manager)
    set_schedule(setup, None, manager)  # but it can be ended
    assert not ReaskingSchedule.objects.exists()


def test_only_evaluators_that_ask_and_have_scored_are_asked_again(setup, endpoint):
    project = setup.project
    length = plan_run(project, "length", {})
    working.work_on_run(length.pk)
    assert list(asking_setups(project)) == [setup]
    with pytest.raises(InvalidRun, match="asks no language model"):
        start_reasking(length.setup, DRIFT)
    with pytest.raises(NotFound):
        asking_setup(project, length.setup.pk)
    Score.objects.filter(setup=setup).delete()
    assert not asking_setups(project)
    with pytest.raises(InvalidRun, match="has scored no summary"):
        start_reasking(setup, DRIFT)


def test_what_was_asked_again_goes_with_its_setup(setup):
    asked_again(setup, DRIFT)
    make_summary(setup.project)
    setup.delete()
    assert not ReaskedReply.objects.exists()
