"""Messages that wake workers. The work is in the database; a message only tells a worker to look."""

import logging
import time

from celery import current_app
from django.db import transaction

SILENT_S = 10.0
"""Seconds without messages after one could not be sent. By then the sweep has found the work."""

logger = logging.getLogger(__name__)

_failed_at = float("-inf")


def send_task(task: str, pk: int, queue: str, expires_s: float | None) -> None:
    """Call the task `scoring.tasks.{task}` with a primary key on a worker once the transaction is committed.

    An unreachable broker is no error, because the sweep calls again. One that hangs is waited for once, and
    not for every message.
    """

    def send() -> None:
        global _failed_at
        if time.monotonic() < _failed_at + SILENT_S:
            return
        try:
            name = f"scoring.tasks.{task}"
            current_app.send_task(name, args=[pk], queue=queue, expires=expires_s, retry=False)
        except Exception as error:  # brokers raise errors of many libraries
            _failed_at = time.monotonic()
            logger.warning("The broker cannot be reached for %s %s: %s", task, pk, error)

    transaction.on_commit(send)
