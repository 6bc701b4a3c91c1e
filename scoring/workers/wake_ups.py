"""Waking workers for runs and API batches."""

from datetime import datetime, timedelta

from django.db.models import Exists, Max, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.database.wake_ups import send_task
from scoring.contract.params import read_params
from scoring.evaluators import UnknownEvaluator, load_evaluator
from scoring.models import ApiBatch, Batch, Run, SetupBase
from scoring.workers.presence import is_served

RECRUIT_S = 2.0
"""Seconds that a message of the sweep waits for an idle worker while others work on the run."""
FORGOTTEN_S = 60.0
"""Seconds without a finished batch after which a run's message counts as lost."""


def wake(run: Run, expires_s: float | None = None) -> None:
    """Wake a worker for `run` once the transaction is committed."""
    send_task("work_on_run", run.pk, queue_of(run.setup), expires_s)


def wake_for_api_batch(api_batch: ApiBatch, expires_s: float | None = None) -> None:
    """Wake a worker to submit or check `api_batch` once the transaction is committed."""
    send_task("work_on_api_batch", api_batch.pk, queue_of(api_batch.run.setup), expires_s)


def wake_waiting_runs() -> None:
    """Wake a worker for every run with a claimable batch; called by the sweep.

    While workers are active the message soon finds an idle one or expires, so messages never pile up. If
    nothing has happened for long, a worker was killed or a message lost, and the message stays until the
    next one is due.
    """
    now = timezone.now()
    runs = (
        Run.objects.filter(
            Exists(Batch.objects.claimable(now).filter(run=OuterRef("pk"))), status__in=Run.UNFINISHED
        )
        .exclude(pk__in=ApiBatch.objects.unfinished().values("run"))
        .select_related("setup")
        .annotate(
            last_finish=Max("batches__finished_at"),
            last_claim=Max("batches__leased_until"),
        )
    )
    for run in runs:
        last_sign = max(filter(None, (run.created_at, run.last_finish, run.last_claim)))
        forgotten = last_sign < now - timedelta(seconds=FORGOTTEN_S)
        wake(run, expires_s=FORGOTTEN_S if forgotten else RECRUIT_S)


def wake_waiting_api_batches() -> None:
    """Wake a worker for every API batch that is due and unclaimed; called by the sweep."""
    now = timezone.now()
    for api_batch in due_api_batches(now).select_related("run__setup").defer("requests", "summary_ids"):
        forgotten = (api_batch.not_before or api_batch.created_at) < now - timedelta(seconds=FORGOTTEN_S)
        wake_for_api_batch(api_batch, expires_s=FORGOTTEN_S if forgotten else RECRUIT_S)


def due_api_batches(now: datetime) -> QuerySet[ApiBatch]:
    """Return the API batches that are due and unclaimed.

    Batches not yet submitted wait while their run is paused or failed.
    """
    idle = Q(input_file="", run__status__in=[Run.Status.PAUSED, Run.Status.FAILED])
    return ApiBatch.objects.claimable(now).exclude(idle)


def queue_of(setup: SetupBase) -> str:
    """Return the queue of a setup's evaluator; cpu replaces gpu while no worker serves gpu.

    An evaluator that this version cannot build goes to cpu, whose worker reports the error.
    """
    try:
        evaluator_class = load_evaluator(setup.evaluator)
        queue = evaluator_class.queue_for(read_params(evaluator_class, setup.params))
    except (UnknownEvaluator, ValueError):
        return "cpu"
    return "cpu" if queue == "gpu" and not is_served("gpu") else queue
