"""Rechecks: asking a judge again, on a real endpoint with scripted answers."""

from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from itertools import count

import pytest
from django.db import transaction
from django.utils import timezone

from annotation.errors import NotAllowed, NotFound
from annotation.models import Summary
from metaeval import tasks
from metaeval.experiments.following import experiment_of
from metaeval.experiments.starting import experiment_of_setups
from metaeval.rechecks.comparison import measure_consistency
from metaeval.rechecks.results import model_names, notice_of, replies_of
from metaeval.rechecks.starting import (
    asking_evaluator,
    asking_setup,
    asking_setups,
    plan_recheck,
    set_schedule,
    start_due,
    start_recheck,
)
from scoring.contract.params import read_params
from scoring.endpoints.known_models import model_at
from scoring.errors import InvalidRun, RunBusy
from scoring.evaluators import load_evaluator
from scoring.inputs.members import with_members_named
from scoring.models import Batch, RecheckSchedule, RecheckScore, Run, Score, Setup, StoredReply
from scoring.replies.budgets import set_budget
from scoring.runs import worker
from scoring.runs.claims import claim_batch
from scoring.runs.lifecycle import cancel_run, delete_run, resume_run
from scoring.runs.planning import plan_run
from scoring.runs.progress import runs_of
from tests.factories import make_member, make_project
from tests.metaeval.rechecks.scored_projects import SUMMARIES, answering, scored_project
from tests.scoring.scripted_endpoint import Answer, ScriptedEndpoint

pytestmark = pytest.mark.django_db

CONSISTENCY, DRIFT = Run.Kind.CONSISTENCY, Run.Kind.DRIFT


def as_before(number: int) -> str:
    return f"{number * 4 / 100:.2f}"


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedEndpoint]:
    with pytest.MonkeyPatch.context() as patched, ScriptedEndpoint() as server:
        patched.setenv("OPENAI_API_KEY", "any")
        patched.setenv("NO_PROXY", "127.0.0.1")
        worker._loaded.clear()
        yield server
        worker._loaded.clear()


@pytest.fixture(scope="module")
def scored(server, django_db_setup, django_db_blocker) -> Iterator[int]:
    """Create the scored project once, in a transaction around those of the tests."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield scored_project(server)[1].pk
        transaction.set_rollback(True)


@pytest.fixture
def endpoint(server, scored) -> ScriptedEndpoint:
    """Return the endpoint, which answers as it did when the project was scored."""
    server.answer = answering(as_before)
    server.asked.clear()
    return server


@pytest.fixture
def setup(endpoint, scored, db) -> Setup:
    return Setup.objects.select_related("project").get(pk=scored)


def work(run: Run) -> Run:
    """Run a worker's task until nothing can be claimed."""
    tasks.work_on_run(run.pk)
    run.refresh_from_db()
    return run


def rechecked(setup, kind) -> Run:
    return work(start_recheck(setup, kind))


def test_stable_model_gives_the_same_reply_each_time(setup, endpoint):
    run = rechecked(setup, CONSISTENCY)
    assert (run.failure, run.status) == ("", Run.Status.DONE)
    assert len(endpoint.asked) == 3 * SUMMARIES  # the project has fewer than 30
    found = measure_consistency(replies_of(run)["attribution"])
    assert (found.summaries, found.identical, found.difference) == (SUMMARIES, 1, 0)


def test_each_repetition_sends_new_requests_and_stores_every_reply(setup, endpoint):
    turns = count()
    endpoint.answer = answering(lambda _: f"0.{next(turns) % 10}")
    run = rechecked(setup, CONSISTENCY)
    assert len({asked.prompt for asked in endpoint.asked}) == SUMMARIES
    assert run.recheck_scores.count() == 3 * SUMMARIES
    assert len(set(run.recheck_scores.values_list("explanation", flat=True))) == 10
    assert measure_consistency(replies_of(run)["attribution"]).identical < 1


def test_reply_without_a_score_has_a_reason(setup, endpoint):
    endpoint.answer = answering(lambda number: "I cannot say." if number == 3 else "0.5")
    run = rechecked(setup, CONSISTENCY)
    lost = run.recheck_scores.filter(value=None)
    assert lost.count() == 3
    assert all(each.reason and each.explanation == "I cannot say." for each in lost)


def test_tokens_and_cost_are_counted_and_estimated_before(setup, endpoint):
    priced(setup)
    before = plan_recheck(setup, DRIFT)
    assert (before.requests_in_all, len(before.summary_ids), before.repeats) == (40, 20, 2)
    run = rechecked(setup, DRIFT)
    assert (run.prompt_tokens, run.completion_tokens) == (4000, 80)
    assert run.spent == Decimal("0.0416")
    assert before.cost_at_most >= run.spent
    assert len(endpoint.asked) == 40


def test_recheck_without_a_price_has_no_cost(setup):
    assert plan_recheck(setup, DRIFT).cost_at_most is None
    assert rechecked(setup, DRIFT).spent == 0


def priced(setup):
    """Set a price of ten dollars per million prompt tokens and twenty per million reply tokens."""
    model = model_at(setup.project_id, asking_evaluator(setup).address)
    model.input_price, model.output_price = Decimal(10), Decimal(20)
    model.save()
    return model


def test_budget_needs_a_price(setup):
    with pytest.raises(InvalidRun, match="a budget needs a price for judge"):
        start_recheck(setup, DRIFT, budget=Decimal(1))
    with pytest.raises(InvalidRun, match="a budget needs a price for judge"):
        set_schedule(setup, 7, make_member(setup.project, "manager"), Decimal(1))
    priced(setup)
    with pytest.raises(InvalidRun, match="budget: found -1"):
        start_recheck(setup, DRIFT, budget=Decimal(-1))
    assert not Run.objects.rechecks().exists()


def test_sufficient_budget_does_not_change_the_result(setup, endpoint):
    priced(setup)
    run = work(start_recheck(setup, DRIFT, budget=Decimal(1)))
    assert (run.failure, run.has_changed, run.spent) == ("", False, Decimal("0.0416"))
    assert not run.reservations.exists()


def test_recheck_pauses_at_its_budget_and_resumes_with_a_larger_one(setup, endpoint):
    priced(setup)
    manager = make_member(setup.project, "manager")
    run = work(start_recheck(setup, DRIFT, budget=Decimal("0.03")))
    asked = len(endpoint.asked)
    assert (run.status, run.has_changed) == (Run.Status.PAUSED, None)
    assert 0 < asked < 40
    assert run.spent == asked * Decimal("0.00104") <= Decimal("0.03")
    set_budget(run, Decimal(1), manager)
    resume_run(run, manager)
    run = work(run)
    assert (run.status, run.has_changed) == (Run.Status.DONE, False)
    assert len(endpoint.asked) == 40, "no reply is paid for twice"


def test_every_scheduled_recheck_gets_the_budget(setup):
    priced(setup)
    set_schedule(setup, 7, make_member(setup.project, "manager"), Decimal("0.5"))
    Setup.objects.filter(pk=setup.pk).update(created_at=timezone.now() - timedelta(days=8))
    start_due()
    assert Run.objects.rechecks().get().budget == Decimal("0.5")


def test_unchanged_replies_give_no_notice(setup):
    run = rechecked(setup, DRIFT)
    assert run.has_changed is False
    assert notice_of(setup) is None


def test_changed_model_is_noticed_until_its_old_replies_return(setup, endpoint):
    same = rechecked(setup, DRIFT)
    endpoint.answer = answering(lambda _: "0.5", "model-2")
    first, second = rechecked(setup, DRIFT), rechecked(setup, DRIFT)
    assert first.has_changed
    assert second.has_changed
    notice = notice_of(setup)
    assert (notice.noticed_at, notice.last_same_at) == (first.created_at, same.created_at)
    assert (second.models_before, model_names(second)) == (["model-1"], ["model-2"])
    endpoint.answer = answering(as_before)
    rechecked(setup, DRIFT)
    assert notice_of(setup) is None


def test_drift_checks_ask_about_the_same_summaries(setup):
    first, second = rechecked(setup, DRIFT), rechecked(setup, DRIFT)
    asked = [set(each.recheck_scores.values_list("summary", flat=True)) for each in (first, second)]
    assert asked[0] == asked[1]
    assert len(asked[0]) == 20


def test_summaries_with_changed_texts_are_not_compared(setup, endpoint):
    gone, *_ = plan_recheck(setup, DRIFT).summary_ids
    Summary.objects.filter(pk=gone).update(text="Another text.")
    run = rechecked(setup, DRIFT)
    assert gone not in replies_of(run)["attribution"]
    assert len(endpoint.asked) == 38


def test_drift_check_is_refused_if_all_texts_have_changed(setup):
    Summary.objects.filter(project=setup.project, ratings=None).update(text="Another text.")
    with pytest.raises(InvalidRun, match="texts have changed"):
        start_recheck(setup, DRIFT)


def test_texts_changed_during_the_check_are_not_compared(setup):
    one, *others = plan_recheck(setup, DRIFT).summary_ids
    run = start_recheck(setup, DRIFT)
    Summary.objects.filter(pk=one).update(text="Another text.")
    work(run)
    assert sorted(replies_of(run)["attribution"]) == others
    run = start_recheck(setup, DRIFT)
    Summary.objects.filter(pk__in=others).update(text="Another text.")
    work(run)
    assert (run.status, run.has_changed) == (Run.Status.FAILED, None)
    assert "texts have changed" in run.failure


def test_recheck_does_not_change_the_setups_scores(setup, endpoint):
    before = list(Score.objects.order_by("pk").values())
    revision = type(setup.project).objects.get().revision
    endpoint.answer = answering(lambda _: "0.5")
    run = rechecked(setup, DRIFT)
    assert run.recheck_scores.filter(repetition__gt=0, value=0.5).count() == 40
    assert list(Score.objects.order_by("pk").values()) == before
    assert [each.kind for each, _ in runs_of(setup.project)] == [Run.Kind.SCORES]
    assert type(setup.project).objects.get().revision == revision


def test_recheck_does_not_replace_the_setups_latest_run(setup):
    manager = make_member(setup.project, "manager")
    start_recheck(setup, DRIFT)
    length = work(plan_run(setup.project, "length", {})).setup
    named = [(each.pk, each.label) for each in (setup, length)]
    family = experiment_of_setups(setup.project, manager, "Both", "models", named)
    [judge, _] = experiment_of(setup.project, family.pk).members
    assert (judge.run.kind, judge.is_done) == (Run.Kind.SCORES, True)
    calibrated = read_params(load_evaluator("calibrated"), {"member": setup.label})
    assert setup.fingerprint.startswith(with_members_named(setup.project, calibrated).member)


def test_replies_of_rechecks_are_not_reused_by_other_runs(setup, endpoint):
    first = rechecked(setup, CONSISTENCY)
    second = rechecked(setup, CONSISTENCY)
    assert len(endpoint.asked) == 2 * 3 * SUMMARIES
    assert (first.replies_reused, second.replies_reused) == (0, 0)
    Score.objects.filter(setup=setup).delete()
    StoredReply.objects.exclude(run__in=[first, second]).delete()
    work(plan_run(setup.project, "ice", setup.params))
    assert len(endpoint.asked) == 7 * SUMMARIES


def test_killed_worker_pays_for_no_reply_twice(setup, endpoint):
    run = start_recheck(setup, CONSISTENCY)
    lost = claim_batch(run.pk)
    evaluator = worker.evaluator_of(setup)
    items = worker.items_of(lost.summary_ids[:10], evaluator.needs_for(evaluator.params))
    worker.score_items(worker.with_stored_replies(evaluator, lost), items)  # the worker is killed here
    work(run)
    assert run.is_unfinished, "the batch is still leased"
    assert len(endpoint.asked) == 3 * SUMMARIES - (SUMMARIES - 10)
    Batch.objects.unfinished().update(leased_until=timezone.now() - timedelta(seconds=1))
    work(run)
    assert run.status == Run.Status.DONE
    assert run.recheck_scores.count() == len(endpoint.asked) == 3 * SUMMARIES


def test_outage_is_not_a_change_of_the_model(setup, endpoint, monkeypatch):
    monkeypatch.setattr("scoring.llm.client.PATIENCE_S", 0.0)
    # More summaries than a drift recheck leaves out, so that every draw has a failing one.
    endpoint.answer = answering(lambda number: Answer(status=503) if number <= 20 else as_before(number))
    run = start_recheck(setup, DRIFT)
    while work(run).is_unfinished:
        run.batches.update(not_before=None)
    assert (run.status, run.has_changed) == (Run.Status.FAILED, None)
    assert "503" in run.failure
    assert not run.recheck_scores.filter(repetition__gt=0, value=None).exists()
    endpoint.answer = answering(as_before)
    resume_run(run, make_member(setup.project, "manager"))
    assert work(run).has_changed is False


def test_recheck_is_cancelled_resumed_and_deleted_like_any_run(setup):
    manager = make_member(setup.project, "manager")
    run = start_recheck(setup, DRIFT)
    cancel_run(run, manager)
    assert work(run).status == Run.Status.CANCELLED
    assert not model_names(run)
    resume_run(run, manager)
    assert work(run).has_changed is False
    delete_run(run, manager)
    assert list(setup.runs.values_list("kind", flat=True)) == [Run.Kind.SCORES]
    assert not RecheckScore.objects.exists()


def test_setup_without_scores_is_deleted_despite_its_rechecks(setup):
    scored = setup.runs.get()
    rechecked(setup, DRIFT)
    delete_run(scored, make_member(setup.project, "manager"))
    assert not Setup.objects.exists()


def test_scores_and_both_kinds_of_rechecks_may_run_side_by_side(setup):
    start_recheck(setup, DRIFT)
    with pytest.raises(RunBusy, match="is in progress"):
        start_recheck(setup, DRIFT)
    start_recheck(setup, CONSISTENCY)
    Score.objects.filter(setup=setup).first().delete()
    plan_run(setup.project, "ice", setup.params)


def test_sweep_adds_the_verdict_that_a_killed_worker_left_out(setup):
    run = start_recheck(setup, DRIFT)
    worker.work_on_run(run.pk)
    run.refresh_from_db()
    assert run.awaits_verdict
    tasks.sweep()
    run.refresh_from_db()
    assert run.has_changed is False


def test_wrong_key_fails_the_recheck_at_once(setup, endpoint):
    endpoint.answer = answering(lambda _: Answer(status=401))
    run = rechecked(setup, DRIFT)
    assert run.status == Run.Status.FAILED
    assert "401" in run.failure


def test_schedule_starts_a_recheck_when_its_days_are_over(setup):
    manager = make_member(setup.project, "manager")
    set_schedule(setup, 7, manager)
    start_due()
    assert not Run.objects.rechecks().exists()
    type(setup).objects.filter(pk=setup.pk).update(created_at=timezone.now() - timedelta(days=8))
    start_due()
    start_due()
    run = Run.objects.rechecks().get()
    assert (run.kind, run.created_by) == (DRIFT, None)
    work(run)
    start_due()
    assert Run.objects.rechecks().count() == 1
    set_schedule(setup, None, manager)
    assert not RecheckSchedule.objects.exists()


def test_schedule_that_cannot_start_records_one_failure(setup):
    set_schedule(setup, 1, make_member(setup.project, "manager"))
    type(setup).objects.filter(pk=setup.pk).update(
        created_at=timezone.now() - timedelta(days=2), fingerprint="0" * 64
    )
    start_due()
    start_due()
    [run] = Run.objects.rechecks()
    assert "different on this worker" in run.failure


@pytest.mark.parametrize("days", [0, 366])
def test_days_out_of_range_are_refused(setup, days):
    with pytest.raises(InvalidRun, match=rf"days: found {days}, expected a whole number from 1 to 365"):
        set_schedule(setup, days, make_member(setup.project, "manager"))


def test_users_without_access_cannot_start_or_schedule_rechecks(setup):
    stranger = make_member(make_project(), "manager")
    with pytest.raises((NotAllowed, NotFound)):
        start_recheck(setup, DRIFT, stranger)
    with pytest.raises((NotAllowed, NotFound)):
        set_schedule(setup, 7, stranger)


def test_address_that_is_not_allowed_is_refused(setup, settings):
    settings.LLM_ENDPOINTS = ["https://api.openai.com/v1"]
    with pytest.raises(InvalidRun, match="'base_url'"):
        start_recheck(setup, DRIFT, make_member(setup.project, "manager"))


def test_schedule_does_not_use_an_address_that_is_not_allowed(setup, settings):
    manager = make_member(setup.project, "manager")
    set_schedule(setup, 1, manager)
    Setup.objects.filter(pk=setup.pk).update(created_at=timezone.now() - timedelta(days=2))
    settings.LLM_ENDPOINTS = ["https://api.openai.com/v1"]
    start_due()
    assert "LLM_ENDPOINTS" in Run.objects.rechecks().get().failure
    with pytest.raises(InvalidRun, match="LLM_ENDPOINTS"):
        set_schedule(setup, 7, manager)
    set_schedule(setup, None, manager)  # but the schedule can be deleted
    assert not RecheckSchedule.objects.exists()


def test_only_scored_evaluators_with_a_language_model_are_rechecked(setup, endpoint):
    project = setup.project
    length = plan_run(project, "length", {})
    worker.work_on_run(length.pk)
    assert list(asking_setups(project)) == [setup]
    with pytest.raises(InvalidRun, match="asks no language model"):
        start_recheck(length.setup, DRIFT)
    with pytest.raises(NotFound):
        asking_setup(project, length.setup.pk)
    Score.objects.filter(setup=setup).delete()
    assert not asking_setups(project)
    with pytest.raises(InvalidRun, match="has no scores to recheck"):
        start_recheck(setup, DRIFT)
