"""Several workers on one run, in threads with their own connections."""

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotation.models import Project
from scoring.errors import RunBusy
from scoring.models import Batch, Run, Score
from scoring.runs.claims import claim_batch
from scoring.runs.planning import plan_run
from tests.factories import make_project, make_summary
from tests.scoring.claims import LEASE, claimed, make_run, record, status_of


def in_threads(work: Callable[[], None], number: int) -> None:
    errors: list[BaseException] = []
    start = threading.Barrier(number)

    def run() -> None:
        try:
            start.wait()
            work()
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(number)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors


@pytest.mark.django_db(transaction=True)
class TestConcurrentWorkers:
    def test_no_batch_is_claimed_twice(self, monkeypatch):
        run = make_run(monkeypatch, batches=40, size=1)
        claims: list[Batch] = []

        def claim_all() -> None:
            while claim := claim_batch(run.pk):
                claims.append(claim)

        in_threads(claim_all, 6)
        assert len(claims) == 40
        assert len({claim.pk for claim in claims}) == 40
        assert {claim.attempts for claim in claims} == {1}

    def test_expired_claim_is_taken_over_by_one_worker(self, monkeypatch):
        run = make_run(monkeypatch, batches=10, size=1)
        while claim_batch(run.pk, now=timezone.now() - LEASE - timedelta(seconds=1)):
            if not Batch.objects.filter(attempts=0).exists():
                break
        claims: list[Batch] = []

        def claim_all() -> None:
            while claim := claim_batch(run.pk):
                claims.append(claim)

        in_threads(claim_all, 6)
        assert sorted(claim.attempts for claim in claims) == [2] * 10

    def test_concurrent_workers_finish_the_run_exactly_once(self, monkeypatch):
        run = make_run(monkeypatch, batches=12, size=2)
        before = Project.objects.get().revision

        def work() -> None:
            while claim := claim_batch(run.pk):
                assert record(claim)

        in_threads(work, 6)
        assert status_of(run) == Run.Status.DONE
        assert Score.objects.computed().count() == 24
        assert Project.objects.get().revision == before + 12

    def test_only_one_of_two_workers_with_the_same_batch_writes(self, monkeypatch):
        run = make_run(monkeypatch, batches=1, size=5)
        claim = claimed(run)
        written: list[bool] = []
        in_threads(lambda: written.append(record(claim)), 4)
        assert sorted(written) == [False, False, False, True]
        assert Score.objects.count() == 5

    def test_only_one_of_several_starts_of_a_setup_succeeds(self):
        project = make_project()
        make_summary(project)
        outcomes: list[str] = []

        def start() -> None:
            try:
                plan_run(project, "length", {})
                outcomes.append("started")
            except RunBusy:
                outcomes.append("busy")

        in_threads(start, 4)
        assert sorted(outcomes) == ["busy", "busy", "busy", "started"]
        assert Run.objects.count() == 1
