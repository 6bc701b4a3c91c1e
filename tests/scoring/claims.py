"""Runs and claims for tests."""

from datetime import timedelta

from django.conf import settings

from annotation.models import Project
from scoring.contract.evaluator import GENERAL
from scoring.contract.scores import Scored
from scoring.inputs.items import inputs_digest, items_of
from scoring.models import Batch, Run
from scoring.runs.claims import claim_batch
from scoring.runs.planning import plan_run
from scoring.runs.worker import record_scores
from tests.factories import make_project, make_summary

LEASE = timedelta(seconds=settings.CLAIM_LEASE_S)


def make_run(monkeypatch, batches: int = 3, size: int = 2, project: Project | None = None) -> Run:
    """Queue a run of `length` over batches * size new summaries."""
    monkeypatch.setattr("scoring.evaluators.length.Length.batch_size", size)
    project = project or make_project()
    for _ in range(batches * size):
        make_summary(project)
    return plan_run(project, "length", {})


def claimed(run: Run, **fields: object) -> Batch:
    claim = claim_batch(run.pk, **fields)
    assert claim is not None
    return claim


def record(claim: Batch, value: float = 1.0, reason: str = "", inputs: str = "") -> bool:
    scored = Scored({GENERAL: value}, {GENERAL: reason} if reason else {})
    items = items_of(claim.summary_ids, ())
    return record_scores(
        claim,
        dict.fromkeys(claim.summary_ids, scored),
        {pk: inputs or inputs_digest(item) for pk, item in items.items()},
    )


def status_of(run: Run) -> str:
    return Run.objects.get(pk=run.pk).status
