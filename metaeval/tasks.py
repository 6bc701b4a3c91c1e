"""Celery's way in to runs, trainings and the sweep, which go on with rechecks and learning curves.

Messages name all tasks `scoring.tasks.…`, as `scoring/workers/wake_ups.py` and the clock send them.
"""

from celery import shared_task

from annotation.database.backup import back_up_daily
from annotation.imports.jobs import wake_waiting_imports
from metaeval.learning_curves import model_scores
from metaeval.rechecks import results, starting
from scoring.runs import worker
from scoring.tasks import InItsPlace
from scoring.training import worker as training_worker
from scoring.training.wake_ups import wake_waiting_trainings
from scoring.webhooks.wake_ups import delete_old_events, wake_waiting_webhooks
from scoring.workers import wake_ups


@shared_task(base=InItsPlace, name="scoring.tasks.work_on_run")
def work_on_run(run_id: int) -> None:
    worker.work_on_run(run_id)
    results.conclude_drift_checks()


@shared_task(name="scoring.tasks.work_on_training")
def work_on_training(training_id: int) -> None:
    training_worker.work_on_training(training_id)
    model_scores.go_on_after(training_id)


@shared_task(name="scoring.tasks.sweep")
def sweep() -> None:
    wake_waiting_imports()
    wake_ups.wake_waiting_runs()
    wake_ups.wake_waiting_api_batches()
    wake_waiting_trainings()
    model_scores.score_waiting_models()
    starting.start_due()
    results.conclude_drift_checks()
    wake_waiting_webhooks()
    delete_old_events()
    back_up_daily()
