"""Celery's way in to what scoring does alone; each task is one call."""

from typing import Any

from celery import Task, shared_task

from scoring.batch_api import batch_api_worker
from scoring.endpoints import known_models
from scoring.runs import imported_scores, probing
from scoring.training import registration_worker
from scoring.webhooks import sending
from scoring.webhooks import wake_ups as webhook_wake_ups
from scoring.workers import llm_places

NO_PLACE_PAUSE_S = 1.0
"""Seconds until a task looks again for a place in its worker."""


class InItsPlace(Task):
    """A task that waits for a place if it comes from the queue of hosted models."""

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        if (self.request.delivery_info or {}).get("routing_key") != llm_places.QUEUE:
            self.run(*args, **kwargs)
            return
        with llm_places.place() as has_place:
            if has_place:
                self.run(*args, **kwargs)
                return
        raise self.retry(countdown=NO_PLACE_PAUSE_S, max_retries=None)


@shared_task
def work_on_probe(probe_id: int) -> None:
    probing.work_on_probe(probe_id)


@shared_task(base=InItsPlace)
def check_endpoint_model(model_id: int) -> None:
    known_models.check(model_id)


@shared_task(base=InItsPlace)
def work_on_api_batch(api_batch_id: int) -> None:
    batch_api_worker.work_on_api_batch(api_batch_id)


@shared_task
def work_on_registration(registration_id: int) -> None:
    registration_worker.work_on_registration(registration_id)


@shared_task
def run_import(job_id: int) -> None:
    imported_scores.work_on_import(job_id)


@shared_task
def hand_out_events(project_id: int) -> None:
    webhook_wake_ups.hand_out_events(project_id)


@shared_task(base=InItsPlace)
def send_deliveries(webhook_id: int) -> None:
    sending.send_deliveries(webhook_id)
