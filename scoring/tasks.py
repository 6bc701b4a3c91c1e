"""Celery's way in; each task is one call."""

from celery import shared_task

from scoring import imported, probing, waking, working
from scoring.delivery import delivering
from scoring.endpoints import remembered
from scoring.steadiness import asking_again, starting


@shared_task
def work_on_run(run_id: int) -> None:
    working.work_on_run(run_id)


@shared_task
def work_on_probe(probe_id: int) -> None:
    probing.work_on_probe(probe_id)


@shared_task
def check_endpoint_model(model_id: int) -> None:
    remembered.check(model_id)


@shared_task
def work_on_reasking(reasking_id: int) -> None:
    asking_again.work_on_reasking(reasking_id)


@shared_task
def work_on_hand_in(hand_in_id: int) -> None:
    delivering.work_on_hand_in(hand_in_id)


@shared_task
def sweep() -> None:
    waking.wake_waiting_runs()
    waking.wake_waiting_hand_ins()
    starting.start_due()
    waking.wake_waiting_reaskings()


@shared_task
def run_import(job_id: int) -> None:
    imported.work_on_import(job_id)
