"""The project. It imports the Celery app, so that `shared_task.delay` finds its broker in every process."""

from touchstone.celery import app as celery_app

__all__ = ["celery_app"]
