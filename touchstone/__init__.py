"""Importing the Celery app here lets `shared_task.delay` find its broker in every process."""

from touchstone.celery import app as celery_app

__all__ = ["celery_app"]
