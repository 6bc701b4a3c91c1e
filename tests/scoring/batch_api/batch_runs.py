"""Runs that use an endpoint's batch API, and the work that workers do for them."""

from dataclasses import asdict

from annotation.models import Project
from scoring.batch_api.batch_api_worker import work_on_api_batch
from scoring.llm.capabilities import Abilities
from scoring.models import ApiBatch, Run
from scoring.runs.planning import start
from scoring.runs.worker import work_on_run
from tests.scoring.asking_projects import asking_plan, price
from tests.scoring.scripted_endpoint import ScriptedEndpoint

KNOWN = Abilities(temperature=True, token_limit="max_tokens", n=False, logprobs=0, usage=True, batches=True)


def batch_run(project: Project, endpoint: ScriptedEndpoint, budget=None, prices="1", **params) -> Run:
    """Start a batch API run with a model that is known to support batches."""
    model = price(project, endpoint, prices, prices)
    model.abilities = asdict(KNOWN)
    model.save()
    return start(asking_plan(project, endpoint, **params), None, budget, Run.Delivery.BATCH)


def work_once(run: Run) -> Run:
    """Do all the work that is due for the run, ignoring waiting times."""
    run.api_batches.unfinished().update(not_before=None)
    for api_batch in ApiBatch.objects.unfinished().filter(run=run):
        work_on_api_batch(api_batch.pk)
    work_on_run(run.pk, slice_s=600)
    run.refresh_from_db()
    return run


def work_until_done(run: Run, most: int = 12) -> Run:
    """Work on the run until nothing is left to do."""
    for _ in range(most):
        work_once(run)
        if not run.is_unfinished and not run.api_batches.unfinished().exists():
            return run
    raise AssertionError(f"still {run.status}, {list(run.api_batches.values())}")
