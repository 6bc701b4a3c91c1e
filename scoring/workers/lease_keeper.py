"""Keeping a lease while a worker works."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.conf import settings
from django.db import OperationalError, connection

logger = logging.getLogger(__name__)


@contextmanager
def keep_leased(renew: Callable[[], object], name: str) -> Iterator[None]:
    """Call `renew` several times per lease, from another thread, while the block runs."""
    done = threading.Event()

    def keep() -> None:
        try:
            while not done.wait(settings.CLAIM_LEASE_S / 3):
                try:
                    renew()
                except OperationalError:
                    logger.warning("The claim on %s could not be renewed.", name, exc_info=True)
        finally:
            connection.close()

    thread = threading.Thread(target=keep, name=f"claim on {name}", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
