"""Claiming batches, recording scores, and people's actions on runs."""

import math
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.errors import NotAllowed, NotFound
from annotation.models import Project
from scoring.contract.evaluator import GENERAL
from scoring.errors import RunBusy
from scoring.models import Batch, Run, Score, Setup
from scoring.runs.claims import claim_batch, postpone_batch, renew_claim
from scoring.runs.lifecycle import cancel_run, delete_run, fail_run, resume_run, run_of
from scoring.runs.planning import plan_run
from tests.factories import make_member, make_project, make_rater, make_user
from tests.scoring.claims import LEASE, claimed, make_run, record, status_of


@pytest.mark.django_db
class TestClaims:
    def test_each_batch_is_claimed_once(self, monkeypatch):
        run = make_run(monkeypatch)
        claims = [claimed(run) for _ in range(3)]
        assert claim_batch(run.pk) is None
        assert len({claim.pk for claim in claims}) == 3
        assert len({claim.token for claim in claims}) == 3

    def test_first_claim_starts_the_run(self, monkeypatch):
        run = make_run(monkeypatch)
        assert status_of(run) == Run.Status.QUEUED
        claimed(run)
        run.refresh_from_db()
        assert run.status == Run.Status.RUNNING
        assert run.started_at is not None

    def test_expired_claim_can_be_taken_over_with_a_new_token(self, monkeypatch):
        run = make_run(monkeypatch, batches=1)
        lost = claimed(run, now=timezone.now() - LEASE - timedelta(seconds=1))
        again = claimed(run)
        assert again.pk == lost.pk
        assert again.token != lost.token
        assert (lost.attempts, again.attempts) == (1, 2)

    def test_renewed_claim_does_not_expire(self, monkeypatch):
        run = make_run(monkeypatch, batches=1)
        claim = claimed(run, now=timezone.now() - LEASE - timedelta(seconds=1))
        assert renew_claim(claim)
        assert claim_batch(run.pk) is None

    def test_lost_claim_cannot_be_renewed(self, monkeypatch):
        run = make_run(monkeypatch, batches=1)
        lost = claimed(run, now=timezone.now() - LEASE - timedelta(seconds=1))
        claimed(run)
        assert not renew_claim(lost)

    @pytest.mark.parametrize("status", [Run.Status.CANCELLED, Run.Status.FAILED, Run.Status.DONE])
    def test_ended_run_has_no_batch_to_claim(self, monkeypatch, status):
        run = make_run(monkeypatch)
        Run.objects.update(status=status)
        assert claim_batch(run.pk) is None

    def test_postponed_batch_waits_longer_each_time(self, monkeypatch):
        run = make_run(monkeypatch, batches=1)
        waits, due = [], timezone.now()
        for _ in range(6):
            assert postpone_batch(claimed(run, now=due))
            before, due = timezone.now(), Batch.objects.get().not_before
            assert claim_batch(run.pk, now=due - timedelta(seconds=1)) is None
            waits.append(round((due - before).total_seconds()))
        assert waits == [5, 20, 80, 300, 300, 300]

    def test_released_batch_has_no_holder(self, monkeypatch):
        run = make_run(monkeypatch, batches=1)
        claim = claimed(run)
        assert claim.release()
        waiting = Batch.objects.get()
        assert not any(each.renew() or each.release() or each.finish() for each in (claim, waiting))
        assert waiting.is_unfinished

    def test_lost_claim_cannot_postpone_its_batch(self, monkeypatch):
        run = make_run(monkeypatch, batches=1)
        lost = claimed(run, now=timezone.now() - LEASE - timedelta(seconds=1))
        claimed(run)
        assert not postpone_batch(lost)


@pytest.mark.django_db
class TestRecording:
    def test_last_batch_finishes_the_run(self, monkeypatch):
        run = make_run(monkeypatch, batches=2)
        assert record(claimed(run))
        assert status_of(run) == Run.Status.RUNNING
        assert record(claimed(run))
        run.refresh_from_db()
        assert run.status == Run.Status.DONE
        assert run.finished_at is not None
        assert Score.objects.computed().filter(run=run).count() == 4

    def test_each_batch_increases_the_projects_revision_by_one(self, monkeypatch):
        run = make_run(monkeypatch, batches=2)
        before = Project.objects.get().revision
        record(claimed(run))
        record(claimed(run))
        assert Project.objects.get().revision == before + 2

    def test_worker_with_a_lost_claim_writes_nothing(self, monkeypatch):
        run = make_run(monkeypatch, batches=1)
        late = claimed(run, now=timezone.now() - LEASE - timedelta(seconds=1))
        revision = Project.objects.get().revision
        holder = claimed(run)
        assert not record(late, value=9.0)
        assert not Score.objects.exists()
        assert Project.objects.get().revision == revision
        assert record(holder, value=1.0)
        assert not record(late, value=9.0)
        assert set(Score.objects.values_list("value", flat=True)) == {1.0}

    def test_expired_claim_that_nobody_took_over_may_still_write(self, monkeypatch):
        run = make_run(monkeypatch, batches=1)
        assert record(claimed(run, now=timezone.now() - LEASE - timedelta(seconds=1)))

    def test_recording_twice_writes_once(self, monkeypatch):
        run = make_run(monkeypatch, batches=1)
        claim = claimed(run)
        assert record(claim)
        assert not record(claim)
        assert Score.objects.count() == 2

    def test_missing_score_is_stored_with_its_reason(self, monkeypatch):
        run = make_run(monkeypatch, batches=1)
        record(claimed(run), value=math.nan, reason="no reference")
        assert set(Score.objects.values_list("value", "reason")) == {(None, "no reference")}
        assert status_of(run) == Run.Status.DONE

    def test_score_replaces_a_reason_but_a_reason_never_replaces_a_score(self, monkeypatch):
        project = make_project()
        first = make_run(monkeypatch, batches=1, project=project)
        record(claimed(first), value=math.nan, reason="no reference")
        second = plan_run(project, "length", {})
        claim = claimed(second)
        record(claim, value=2.0)
        assert set(Score.objects.values_list("value", "reason", "run")) == {(2.0, "", second.pk)}
        reopen(claim)
        record(claim, value=math.nan, reason="out of memory")
        assert set(Score.objects.values_list("value", "reason")) == {(2.0, "")}

    def test_value_is_replaced_only_if_the_texts_have_changed(self, monkeypatch):
        run = make_run(monkeypatch, batches=1)
        claim = claimed(run)
        record(claim, value=1.0, inputs="today")
        reopen(claim)
        record(claim, value=2.0, inputs="today")
        assert set(Score.objects.values_list("value", flat=True)) == {1.0}
        reopen(claim)
        record(claim, value=3.0, inputs="tomorrow")
        assert set(Score.objects.values_list("value", flat=True)) == {3.0}

    def test_no_score_is_stored_for_a_deleted_summary(self, monkeypatch):
        run = make_run(monkeypatch, batches=1)
        claim = claimed(run)
        run.setup.project.summaries.filter(pk=claim.summary_ids[0]).delete()
        assert record(claim)
        assert list(Score.objects.values_list("summary", flat=True)) == [claim.summary_ids[1]]

    def test_scores_computed_while_the_run_was_cancelled_are_kept(self, monkeypatch):
        run = make_run(monkeypatch, batches=1)
        claim = claimed(run)
        cancel_run(run, make_member(run.setup.project, "manager"))
        assert record(claim)
        assert Score.objects.computed().count() == 2
        assert status_of(run) == Run.Status.CANCELLED

    def test_results_of_a_deleted_run_are_discarded(self, monkeypatch):
        run = make_run(monkeypatch, batches=1)
        manager = make_member(run.setup.project, "manager")
        claim = claimed(run)
        cancel_run(run, manager)
        delete_run(run, manager)
        assert not record(claim)
        assert not Score.objects.exists()

    def test_database_refuses_a_missing_score_without_a_reason(self, monkeypatch):
        run = make_run(monkeypatch, batches=1)
        summary_id = run.batches.get().summary_ids[0]
        with pytest.raises(IntegrityError), transaction.atomic():
            Score.objects.create(setup=run.setup, run=run, summary_id=summary_id, dimension=GENERAL)


def reopen(claim: Batch) -> None:
    """Make the batch claimable again, as if none of its scores were stored."""
    Batch.objects.filter(pk=claim.pk).update(
        finished_at=None, token=claim.token, leased_until=claim.leased_until
    )


@pytest.mark.django_db
class TestPeople:
    def test_failed_run_resumes_with_its_missing_batches(self, monkeypatch):
        run = make_run(monkeypatch, batches=3)
        record(claimed(run))
        lost = claimed(run)
        fail_run(run.pk, "wrong key", lost)
        run.refresh_from_db()
        assert (run.status, run.failure) == (Run.Status.FAILED, "wrong key")
        resume_run(run, make_member(run.setup.project, "researcher"))
        run.refresh_from_db()
        assert (run.status, run.failure, run.finished_at) == (Run.Status.QUEUED, "", None)
        again = [claimed(run), claimed(run)]
        assert claim_batch(run.pk) is None
        assert lost.pk in {claim.pk for claim in again}
        assert {claim.attempts for claim in again} == {1}

    def test_resumed_run_without_missing_batches_is_done(self, monkeypatch):
        run = make_run(monkeypatch, batches=1)
        claim = claimed(run)
        manager = make_member(run.setup.project, "manager")
        cancel_run(run, manager)
        record(claim)
        resume_run(run, manager)
        assert status_of(run) == Run.Status.DONE

    def test_resumed_run_leaves_a_claimed_batch_to_its_worker(self, monkeypatch):
        run = make_run(monkeypatch, batches=1)
        claim = claimed(run)
        manager = make_member(run.setup.project, "manager")
        cancel_run(run, manager)
        resume_run(run, manager)
        assert claim_batch(run.pk) is None
        assert record(claim)
        assert status_of(run) == Run.Status.DONE

    @pytest.mark.parametrize("status", [Run.Status.DONE, Run.Status.FAILED, Run.Status.CANCELLED])
    def test_only_unfinished_runs_can_be_cancelled(self, monkeypatch, status):
        run = make_run(monkeypatch)
        Run.objects.update(status=status)
        with pytest.raises(RunBusy, match="cannot be cancelled"):
            cancel_run(run, make_member(run.setup.project, "manager"))

    @pytest.mark.parametrize("status", [Run.Status.DONE, Run.Status.QUEUED, Run.Status.RUNNING])
    def test_only_stopped_runs_can_be_resumed(self, monkeypatch, status):
        run = make_run(monkeypatch)
        Run.objects.update(status=status)
        with pytest.raises(RunBusy, match="cannot be resumed"):
            resume_run(run, make_member(run.setup.project, "manager"))

    def test_run_cannot_resume_beside_another_run_of_its_setup(self, monkeypatch):
        run = make_run(monkeypatch)
        manager = make_member(run.setup.project, "manager")
        cancel_run(run, manager)
        other = plan_run(run.setup.project, "length", {})
        with pytest.raises(RunBusy, match=f"Run {other.pk} of Length is in progress"):
            resume_run(run, manager)

    def test_database_refuses_two_unfinished_runs_of_one_setup(self, monkeypatch):
        run = make_run(monkeypatch)
        with pytest.raises(IntegrityError), transaction.atomic():
            Run.objects.create(setup=run.setup)

    def test_unfinished_run_cannot_be_deleted(self, monkeypatch):
        run = make_run(monkeypatch)
        with pytest.raises(RunBusy, match="Cancel it first"):
            delete_run(run, make_member(run.setup.project, "manager"))

    def test_deleting_a_run_deletes_only_its_own_scores(self, monkeypatch):
        project = make_project()
        manager = make_member(project, "manager")
        first = make_run(monkeypatch, batches=1, project=project)
        record(claimed(first))
        second = make_run(monkeypatch, batches=1, project=project)
        claim = claimed(second)
        record(claim)
        revision = Project.objects.get(pk=project.pk).revision
        delete_run(second, manager)
        assert set(Score.objects.values_list("run", flat=True)) == {first.pk}
        assert Project.objects.get(pk=project.pk).revision == revision + 1
        assert Setup.objects.count() == 1
        delete_run(first, manager)
        assert not Setup.objects.exists()

    @pytest.mark.parametrize("act", [cancel_run, resume_run, delete_run])
    def test_only_managers_and_researchers_of_the_project_act_on_runs(
        self, monkeypatch, act: Callable[..., None]
    ):
        run = make_run(monkeypatch)
        if act is not cancel_run:
            Run.objects.update(status=Run.Status.CANCELLED)
        with pytest.raises(NotAllowed):
            act(run, make_rater(run.setup.project).user)
        with pytest.raises(NotFound):
            act(run, make_user())
        with pytest.raises(NotFound):
            act(run, make_member(make_project(), "manager"))
        act(run, make_member(run.setup.project, "researcher"))

    def test_run_is_not_found_through_another_project(self, monkeypatch):
        run = make_run(monkeypatch)
        assert run_of(run.setup.project, run.pk) == run
        with pytest.raises(NotFound):
            run_of(make_project(), run.pk)
