"""Django's PostgreSQL backend, whose statements end where nothing is heard from the server for long.

A server that has stopped, or whose network loses what is sent, would otherwise hold each thread that asks it
until somebody restarts the process.
"""

import time
from collections.abc import Generator
from contextlib import suppress
from typing import Any, TypeVar

from django.db.backends.postgresql import base
from django.db.utils import OperationalError
from psycopg import Connection

T = TypeVar("T")

CANCEL_TIMEOUT_S = 1.0


class PatientConnection(Connection[Any]):
    """A connection that is closed after `patience_s` seconds without a byte from the server."""

    patience_s: float

    def wait(self, gen: Generator[Any, Any, T], *args: Any, **kwargs: Any) -> T:
        return super().wait(self._while_heard(gen), *args, **kwargs)

    def _while_heard(self, gen: Generator[Any, Any, T]) -> Generator[Any, Any, T]:
        heard_at = time.monotonic()
        ready = None
        while True:
            try:
                wanted = gen.send(ready)
            except StopIteration as end:
                result: T = end.value
                return result
            ready = yield wanted
            if ready:
                heard_at = time.monotonic()
            elif time.monotonic() > heard_at + self.patience_s:
                with suppress(Exception):  # a server that is only slow stops the statement
                    self.cancel_safe(timeout=CANCEL_TIMEOUT_S)
                self.pgconn.finish()
                raise OperationalError(f"nothing was heard from the database for {self.patience_s:g} s")


class DatabaseWrapper(base.DatabaseWrapper):
    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Return a patient connection if the settings of the database have a `PATIENCE_S`."""
        connection = super().get_new_connection(conn_params)
        patience_s = self.settings_dict.get("PATIENCE_S")
        if patience_s:
            # Django has no setting for the class of a connection.
            connection.__class__ = PatientConnection
            connection.patience_s = patience_s
        return connection
