"""Celery's way in; each task is one call.

The task that imports a file is `scoring.tasks.run_import`: files may hold scores, and imports between the
apps run from scoring to annotation, never back.
"""

from celery import shared_task

from annotation.actions import import_jobs


@shared_task
def sweep() -> None:
    import_jobs.wake_waiting_imports()
