"""Celery's way in; each task is one call."""

from celery import shared_task

from scoring import imported, probing, waking, working
from scoring.endpoints import remembered


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
def sweep() -> None:
    waking.wake_waiting_runs()


@shared_task
def run_import(job_id: int) -> None:
    imported.work_on_import(job_id)
