"""Runs whose requests are handed in, and what workers do with them."""

from annotation.models import Project
from scoring.asking.abilities import Abilities
from scoring.delivery.delivering import work_on_hand_in
from scoring.models import HandIn, Run
from scoring.planning import start
from scoring.working import work_on_run
from tests.scoring.asking_projects import asking_plan, price
from tests.scoring.scripted_endpoint import ScriptedEndpoint

KNOWN = Abilities(temperature=True, token_limit="max_tokens", n=False, logprobs=0, usage=True, batches=True)


def batch_run(project: Project, endpoint: ScriptedEndpoint, budget=None, prices="1", **params) -> Run:
    """Of a model that is known to take batches."""
    model = price(project, endpoint, prices, prices)
    model.abilities = KNOWN.as_json()
    model.save()
    return start(asking_plan(project, endpoint, **params), None, budget, Run.Delivery.BATCH)


def turn(run: Run) -> Run:
    """All that workers would do for the run next, however long they would have waited."""
    run.hand_ins.open().update(not_before=None)
    for hand_in in HandIn.objects.open().filter(run=run):
        work_on_hand_in(hand_in.pk)
    work_on_run(run.pk, slice_s=600)
    run.refresh_from_db()
    return run


def turns(run: Run, most: int = 12) -> Run:
    """Until nothing more is to be done."""
    for _ in range(most):
        turn(run)
        if not run.is_unfinished and not run.hand_ins.open().exists():
            return run
    raise AssertionError(f"still {run.status}, {list(run.hand_ins.values())}")
