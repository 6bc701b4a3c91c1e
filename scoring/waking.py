"""Telling workers that there is something to do. The database knows what; a message only wakes them."""

import logging
from datetime import timedelta

from celery import current_app
from django.db import transaction
from django.db.models import Max, Q
from django.utils import timezone

from scoring.evaluators import UnknownEvaluator, load_evaluator
from scoring.models import Batch, EndpointModel, HandIn, Probe, Reasking, Run, SetUp
from scoring.params import read_params
from scoring.presence import is_served

RECRUIT_S = 2.0
"""Seconds for which a message of the sweep waits for an idle worker, while others work on the run."""
FORGOTTEN_S = 60.0
"""Seconds without a finished batch after which a run's own message counts as lost."""

logger = logging.getLogger(__name__)


def wake(run: Run, expires_s: float | None = None) -> None:
    """Ask a worker of the evaluator's queue to work on `run`, once the transaction is committed.

    A broker that cannot be reached is no error: the sweep asks again.
    """
    _send("scoring.tasks.work_on_run", run.pk, queue_of(run.setup), expires_s)


def wake_for_probe(probe: Probe, expires_s: float) -> None:
    """Ask a worker of the evaluator's queue to try it, once the transaction is committed."""
    _send("scoring.tasks.work_on_probe", probe.pk, queue_of(probe), expires_s)


def wake_for_check(model: EndpointModel, expires_s: float) -> None:
    """Ask a worker to find out what a model can do, once the transaction is committed."""
    _send("scoring.tasks.check_endpoint_model", model.pk, "llm", expires_s)


def wake_for_reasking(reasking: Reasking, expires_s: float | None = None) -> None:
    """Ask a worker of the evaluator's queue to ask its model again, once the transaction is committed."""
    queue = queue_of(reasking.setup)
    _send("scoring.tasks.work_on_reasking", reasking.pk, queue, expires_s)


def wake_for_hand_in(hand_in: HandIn, expires_s: float | None = None) -> None:
    """Ask a worker to hand requests in, or to look whether they are answered, once the transaction is
    committed.
    """
    queue = queue_of(hand_in.run.setup)
    _send("scoring.tasks.work_on_hand_in", hand_in.pk, queue, expires_s)


def _send(task: str, pk: int, queue: str, expires_s: float | None) -> None:
    def send() -> None:
        try:
            current_app.send_task(task, args=[pk], queue=queue, expires=expires_s, retry=False)
        except Exception:  # brokers raise errors of many libraries
            logger.warning("The broker cannot be reached for %s %s.", task, pk, exc_info=True)

    transaction.on_commit(send)


def wake_waiting_runs() -> None:
    """The sweep: a message for every run in which a batch can be claimed.

    Where workers are at it, the message finds an idle one within moments or expires, so that it adds workers
    as long as some are idle and never a queue of messages. Where nothing has happened for long, a worker was
    killed or a message lost, and the message stays until the next one is due.
    """
    now = timezone.now()
    runs = (
        Run.objects.filter(status__in=Run.UNFINISHED, pk__in=Batch.objects.claimable(now).values("run"))
        .exclude(pk__in=HandIn.objects.open().values("run"))
        .select_related("setup")
        .annotate(
            last_finish=Max("batches__finished_at"),
            last_claim=Max("batches__claimed_until", filter=Q(batches__state=Batch.State.CLAIMED)),
        )
    )
    for run in runs:
        last_sign = max(filter(None, (run.created_at, run.last_finish, run.last_claim)))
        forgotten = last_sign < now - timedelta(seconds=FORGOTTEN_S)
        wake(run, expires_s=FORGOTTEN_S if forgotten else RECRUIT_S)


def wake_waiting_hand_ins() -> None:
    """The sweep: a message for whatever is to be handed in or looked at, and is claimed by nobody.

    What is not handed in yet waits while its run is paused or has failed.
    """
    now = timezone.now()
    idle = Q(input_file="", run__status__in=[Run.Status.PAUSED, Run.Status.FAILED])
    due = HandIn.objects.claimable(now).exclude(idle).select_related("run__setup")
    for hand_in in due.defer("requests", "summary_ids"):
        forgotten = (hand_in.not_before or hand_in.created_at) < now - timedelta(seconds=FORGOTTEN_S)
        wake_for_hand_in(hand_in, expires_s=FORGOTTEN_S if forgotten else RECRUIT_S)


def wake_waiting_reaskings() -> None:
    """The sweep: a message for whatever is to be asked again and is claimed by nobody."""
    for reasking in Reasking.objects.claimable(timezone.now()).select_related("setup"):
        wake_for_reasking(reasking, expires_s=RECRUIT_S)


def queue_of(setup: SetUp) -> str:
    """The worker queue of a setup's evaluator: gpu only while a worker serves it, else cpu takes its place.

    An evaluator that is no more, or takes other parameters now, goes to any worker, which will say so.
    """
    try:
        evaluator_class = load_evaluator(setup.evaluator)
        queue = evaluator_class.queue_for(read_params(evaluator_class, setup.params))
    except (UnknownEvaluator, ValueError):
        return "cpu"
    return "cpu" if queue == "gpu" and not is_served("gpu") else queue
