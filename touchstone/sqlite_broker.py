"""Celery's broker in an SQLite file, for one machine without a server (`sqlite:////path`).

Kombu's own transport for databases keeps every message. This one deletes a message when it is delivered or
has expired. A message only wakes a worker, so nothing is lost if a worker is killed with one in hand.
"""

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from queue import Empty
from typing import Any

from kombu.transport import virtual

LONGEST_LIFE_S = 3600.0
"""Seconds for which a message without an expiry is kept. By then the sweep has sent others."""
LOCK_TIMEOUT_S = 30.0
POLL_S = 0.25
CHANGE_COUNTER = 24, 4
"""Place and size, in bytes, of the number that SQLite raises in the file's header at each commit."""
CREATE = """
CREATE TABLE IF NOT EXISTS message (
    id INTEGER PRIMARY KEY, queue TEXT NOT NULL, expires_at REAL NOT NULL, payload TEXT NOT NULL
)
"""


class Channel(virtual.Channel):
    """A channel that opens the file for each operation, so no connection crosses a fork or a thread.

    Polling a queue without messages only reads the file's change counter.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._empty_at: dict[str, bytes] = {}  # by queue

    def _new_queue(self, *_: Any, **__: Any) -> None:
        with self._store():  # raises where the file cannot be opened
            pass

    def _put(self, queue: str, message: dict[str, Any], **_: Any) -> None:
        now = time.time()
        milliseconds = message["properties"].get("expiration")
        life_s = int(milliseconds) / 1000 if milliseconds else LONGEST_LIFE_S
        with self._store() as store:
            store.execute("BEGIN IMMEDIATE")
            store.execute("DELETE FROM message WHERE expires_at <= ?", [now])
            store.execute(
                "INSERT INTO message (queue, expires_at, payload) VALUES (?, ?, ?)",
                [queue, now + life_s, json.dumps(message)],
            )
            store.execute("COMMIT")

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:  # noqa: ARG002 - kombu's
        # Before the query: whoever sends a message after it raises the counter.
        counter = self._change_counter()
        if counter and self._empty_at.get(queue) == counter:
            raise Empty
        with self._store() as store:
            rows = store.execute(
                "DELETE FROM message WHERE id ="
                " (SELECT min(id) FROM message WHERE queue = ? AND expires_at > ?) RETURNING payload",
                [queue, time.time()],
            ).fetchall()
        if not rows:
            self._empty_at[queue] = counter
            raise Empty
        message: dict[str, Any] = json.loads(rows[0][0])
        return message

    def _size(self, queue: str) -> int:
        with self._store() as store:
            count: int = store.execute("SELECT count(*) FROM message WHERE queue = ?", [queue]).fetchone()[0]
        return count

    def _purge(self, queue: str) -> int:
        with self._store() as store:
            return store.execute("DELETE FROM message WHERE queue = ?", [queue]).rowcount

    def _change_counter(self) -> bytes:
        """Return the counter; empty if the file cannot be read or has no tables yet."""
        start, size = CHANGE_COUNTER
        try:
            with open(self._path, "rb", buffering=0) as file:
                file.seek(start)
                return file.read(size)
        except OSError:  # opening the database says what is wrong
            return b""

    @property
    def _path(self) -> str:
        path: str = self.connection.client.hostname.removeprefix("sqlite:///")
        return path

    @contextmanager
    def _store(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=LOCK_TIMEOUT_S, isolation_level=None)) as store:
            store.execute(CREATE)
            yield store


class Transport(virtual.Transport):
    """The transport that `touchstone.celery` registers for addresses that begin with `sqlite://`.

    It works in Celery's event loop, where each process of a worker gets its tasks by a pipe of its own.
    Otherwise they share a queue, whose lock a process that is killed while it waits would hold for ever.
    """

    Channel = Channel
    implements = virtual.Transport.implements.extend(asynchronous=True)
    polling_interval = POLL_S

    can_parse_url = True
    driver_type = driver_name = "sqlite"
    connection_errors = (sqlite3.OperationalError,)

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:  # noqa: ARG002 - kombu's
        loop.call_repeatedly(POLL_S, self._deliver_waiting)

    def _deliver_waiting(self) -> None:
        """Deliver messages until none waits, or the worker takes no more."""
        with suppress(Empty):
            while self.cycle:
                self.cycle.get(self._deliver)

    def driver_version(self) -> str:
        return sqlite3.sqlite_version
