"""Django's SQLite backend, whose write transactions take turns instead of polling for the lock.

SQLite lets one transaction write at a time. Others sleep up to a tenth of a second before they try again, so
with eight raters at once the unlucky wait a second. Here a transaction first waits for its turn, on a lock
among threads and on a locked file among processes, and begins as soon as the one before it ends. The death
of a process ends its turn.

`flush` also empties tables whose triggers refuse deletions, as TRUNCATE does on PostgreSQL.
"""

import fcntl
import os
import threading
import time
from collections.abc import Sequence
from typing import Any

from django.core.management.color import Style
from django.db.backends.sqlite3 import base, operations
from django.db.utils import OperationalError

POLL_S = 0.001
DEFAULT_TIMEOUT_S = 5.0  # as sqlite3.connect has it

_turns: dict[str, threading.Lock] = {}


class DatabaseOperations(operations.DatabaseOperations):
    def sql_flush(
        self,
        style: Style,
        tables: Sequence[str],
        *,
        reset_sequences: bool = False,
        allow_cascade: bool = False,
    ) -> list[str]:
        statements = super().sql_flush(
            style, tables, reset_sequences=reset_sequences, allow_cascade=allow_cascade
        )
        with self.connection.cursor() as cursor:
            cursor.execute(
                "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND sql LIKE '%BEFORE DELETE ON%'"
            )
            guards = cursor.fetchall()
        return [*(f"DROP TRIGGER {name}" for name, _ in guards), *statements, *(sql for _, sql in guards)]


class DatabaseWrapper(base.DatabaseWrapper):
    transaction_mode: str | None
    ops_class = DatabaseOperations

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._turn: tuple[threading.Lock, int] | None = None

    def _start_transaction_under_autocommit(self) -> None:
        self._take_turn()
        try:
            super()._start_transaction_under_autocommit()  # type: ignore[misc] # unknown to the stubs
        except BaseException:
            self._end_turn()
            raise

    def _commit(self) -> None:
        try:
            super()._commit()  # type: ignore[misc] # unknown to the stubs
        finally:
            self._end_turn()

    def _rollback(self) -> None:
        try:
            super()._rollback()  # type: ignore[misc] # unknown to the stubs
        finally:
            self._end_turn()

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc] # unknown to the stubs
        finally:
            self._end_turn()

    def _take_turn(self) -> None:
        if self._turn is not None or self.transaction_mode != "IMMEDIATE" or self.is_in_memory_db():
            return  # readers need no turn
        deadline = time.monotonic() + self.settings_dict["OPTIONS"].get("timeout", DEFAULT_TIMEOUT_S)
        path = f"{self.settings_dict['NAME']}-turn"
        among_threads = _turns.setdefault(path, threading.Lock())
        if not among_threads.acquire(timeout=max(0, deadline - time.monotonic())):
            raise OperationalError("database is locked")
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < deadline:
                    time.sleep(POLL_S)
                    continue
                os.close(file)
                among_threads.release()
                raise OperationalError("database is locked") from None
            self._turn = among_threads, file
            return

    def _end_turn(self) -> None:
        if self._turn is not None:
            among_threads, file = self._turn
            self._turn = None
            os.close(file)  # and with it the lock on it
            among_threads.release()
