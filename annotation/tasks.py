"""Celery tasks.

The task that imports a file is `scoring.tasks.run_import`, because files may hold scores and this app does
not import `scoring`.
"""

from celery import shared_task

from annotation.imports import jobs


@shared_task
def sweep() -> None:
    jobs.wake_waiting_imports()
