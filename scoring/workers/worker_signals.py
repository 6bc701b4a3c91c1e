"""Celery's signals of a worker: its places for hosted models, and its presence from start to end."""

import logging
from typing import Any

from celery.signals import celeryd_after_setup, worker_ready, worker_shutdown
from django.db import DatabaseError, connection

from scoring.workers import llm_places
from scoring.workers.presence import SIGN_EVERY_S, sign, sign_off

logger = logging.getLogger(__name__)


@celeryd_after_setup.connect
def set_up_places(instance: Any, **_: Any) -> None:
    llm_places.set_up(instance.app.amqp.queues.consume_from, instance.concurrency)


@worker_ready.connect
def sign_from_now_on(sender: Any, **_: Any) -> None:
    _sign(sender)
    sender.timer.call_repeatedly(SIGN_EVERY_S, _sign, (sender,))


@worker_shutdown.connect
def leave(sender: Any, **_: Any) -> None:
    try:
        sign_off(sender.hostname)
    except DatabaseError:
        logger.warning("Worker %s left without signing off.", sender.hostname, exc_info=True)
    finally:
        connection.close()


def _sign(consumer: Any) -> None:
    try:
        sign(consumer.hostname, [queue.name for queue in consumer.task_consumer.queues])
    except DatabaseError:
        logger.warning("Worker %s could not sign.", consumer.hostname, exc_info=True)
    finally:
        connection.close()
