"""Celery's way in; each task is one call."""

from celery import shared_task

from scoring import waking, working


@shared_task
def work_on_run(run_id: int) -> None:
    working.work_on_run(run_id)


@shared_task
def sweep() -> None:
    waking.wake_waiting_runs()
