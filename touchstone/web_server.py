"""The worker of gunicorn that reads a request completely before a thread takes it.

gunicorn keeps the processes, and waitress the connections of each. A client that never finishes what it sends
costs a connection and no thread, and can send no more than the address may receive. So the server needs no
proxy in front that buffers requests.
"""

import ctypes
import logging
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from types import FrameType
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections
from django.http.cookie import parse_cookie
from django.urls import Resolver404, resolve
from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError, TransferEncodingNotImplemented
from waitress.server import BaseWSGIServer, create_server

from annotation.web.body_limits import STRANGERS_BYTES, body_limit
from annotation.web.health import CHECKS
from touchstone.server_folders import make_server_folder

logger = logging.getLogger(__name__)

PATIENCE_S = 60.0
"""A request without files has to arrive completely within this time."""
HEADER_BYTES = 32 * 1024
UNSENT_BYTES = 64 * 1024 * 1024
"""A thread waits for its client while so much of the answer is still unsent."""
UNREAD_S = 300.0
"""An answer is given up if nothing of it could be sent for so long. Buffers make slow clients seem idle."""
TRIM_EVERY_S = 30.0
"""Seconds after which freed memory goes back to the system; glibc keeps what lies between used pieces."""
LONG_S = 0.05
"""Seconds after which another thread takes the next request."""


COUNTS_DIR = "PROMETHEUS_MULTIPROC_DIR"
"""prometheus_client finds the folder of counts under this name."""


class ArrivingRequest(HTTPRequestParser):
    """A request as it arrives. One that may not send its body is answered without reading it."""

    def __init__(self, adj: Any, connection: "Connection") -> None:
        super().__init__(adj)
        self.connection = connection
        self.due = time.monotonic() + PATIENCE_S

    def parse_header(self, header_plus: bytes) -> None:
        try:
            super().parse_header(header_plus)
        except ValueError as error:  # a length of thousands of digits
            raise ParsingError("Content-Length is invalid") from error
        if self.chunked:
            self.connection.lingers = True
            raise TransferEncodingNotImplemented("Send the body with a Content-Length.")
        if self.content_length <= STRANGERS_BYTES:
            return
        if self.content_length > self._limit():
            # The application sees the length, and refuses it in its own words.
            self.connection.lingers = True
            self.body_rcv = None
            self.expect_continue = False
            self.headers["CONNECTION"] = "close"
        elif self.content_length > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            self.due = float("inf")

    def _limit(self) -> int:
        # gunicorn imports this module before Django has its models.
        from annotation.sessions import bears_token, is_signed_in

        try:
            view = resolve(self.path.encode("latin-1").decode("utf-8", "replace")).func
        except Resolver404:
            return 0
        session = parse_cookie(self.headers.get("COOKIE", "")).get(settings.SESSION_COOKIE_NAME, "")
        authorization = self.headers.get("AUTHORIZATION", "")
        close_old_connections()
        try:
            return body_limit(view, lambda: is_signed_in(session) or bears_token(authorization))
        except (DatabaseError, InterfaceError):
            return 0  # the application asks again, and says so
        finally:
            close_old_connections()


class Connection(HTTPChannel):
    """A client's connection, which ends when it is overdue."""

    lingers = False
    """True if a body was refused. Closing before it is read resets the connection and loses the answer."""
    due = float("inf")

    def parser_class(self, adj: Any) -> ArrivingRequest:
        return ArrivingRequest(adj, self)

    @property
    def is_overdue(self) -> bool:
        if self.total_outbufs_len:
            return time.time() > self.last_activity + UNREAD_S
        return time.monotonic() > (self.due if self.request is None else self.request.due)

    def received(self, data: bytes) -> bool:
        is_refused = self.due < float("inf")
        return False if is_refused else bool(super().received(data))

    def handle_close(self) -> None:
        """Close; after a refusal, only once the client has sent all or PATIENCE_S is over."""
        if self.lingers:
            self.lingers = self.will_close = False
            self.due = time.monotonic() + PATIENCE_S
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)
                return
        super().handle_close()


class OneAtATime:
    """Gives requests to one thread, and to the next one only while a request takes longer than LONG_S.

    Threads that compute at once wait for each other, even while one holds SQLite's only write lock, and each
    has a connection to the database that reads anew what another has changed. So short requests, such as
    raters send, are answered sooner one by one.
    """

    def __init__(self, threads: int) -> None:
        self._lock = threading.Lock()
        self._requests: deque[HTTPChannel] = deque()
        self._idle: list[threading.Condition] = []
        """Threads that wait. The last one, which has worked most recently, is woken first."""
        self._latest: tuple[float, threading.Condition] | None = None
        """Time at which the latest request began, and its thread; None after it has ended."""
        self._is_watched = False
        """True while an idle thread waits for the latest request to become long."""
        self._stops = False
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    def add_task(self, request: HTTPChannel) -> None:
        with self._lock:
            self._requests.append(request)
            self._wake_one()

    def shutdown(self, timeout_s: float = 5) -> None:
        """Drop the requests that wait, and let the threads end those that they have begun."""
        with self._lock:
            self._stops = True
            dropped = list(self._requests)
            self._requests.clear()
            for idle in self._idle:
                idle.notify()
        until = time.monotonic() + timeout_s
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        for request in dropped:
            request.cancel()

    def _work(self) -> None:
        awake = threading.Condition(self._lock)
        with self._lock:
            while not self._stops:
                pause_s = self._pause_s()
                if pause_s is None or pause_s > 0:
                    self._wait(awake, pause_s)
                    continue
                request = self._requests.popleft()
                self._latest = begun = (time.monotonic(), awake)
                self._wake_one()
                self._lock.release()
                try:
                    request.service()
                except Exception:
                    logger.exception("The connection failed.")
                finally:
                    self._lock.acquire()
                if self._latest is begun:
                    self._latest = None

    def _pause_s(self) -> float | None:
        """Return the seconds until the next request may be taken; None if there is none."""
        if not self._requests:
            return None
        return 0 if self._latest is None else self._latest[0] + LONG_S - time.monotonic()

    def _wait(self, awake: threading.Condition, pause_s: float | None) -> None:
        watches = pause_s is not None and not self._is_watched
        self._is_watched |= watches
        self._idle.append(awake)
        awake.wait(pause_s if watches else None)
        if awake in self._idle:
            self._idle.remove(awake)
        if watches:
            self._is_watched = False

    def _wake_one(self) -> None:
        """Wake a thread if there is a request to take, now or once the latest is long."""
        if self._requests and self._idle and (self._latest is None or not self._is_watched):
            self._idle.pop().notify()


class Dispatcher:
    """Keeps a thread for the health checks, which have to answer while all others wait for something."""

    def __init__(self, threads: int) -> None:
        self._requests = OneAtATime(threads)
        self._checks = OneAtATime(1)

    def add_task(self, request: HTTPChannel) -> None:
        is_check = getattr(request.requests[0], "path", "") in CHECKS
        (self._checks if is_check else self._requests).add_task(request)

    def shutdown(self) -> None:
        self._requests.shutdown()
        self._checks.shutdown()


class BufferingWorker(Worker):
    """Takes gunicorn's --threads, --keep-alive (seconds) and --worker-connections."""

    @classmethod
    def setup(cls) -> None:
        """Make the folder of the counts that processes share; gunicorn calls it before they start."""
        if COUNTS_DIR not in os.environ:
            os.environ[COUNTS_DIR] = make_server_folder("metrics")

    def run(self) -> None:
        # A connection has a socket, and a file for a long body or a long answer.
        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 4 * self.cfg.worker_connections), most))
        self.dispatchers: dict[int, wasyncore.dispatcher] = {}
        self.server = create_server(
            self.wsgi,
            map=self.dispatchers,
            _dispatcher=Dispatcher(self.cfg.threads),
            sockets=[each.sock for each in self.sockets],
            connection_limit=self.cfg.worker_connections,
            channel_timeout=self.cfg.keepalive,
            max_request_header_size=HEADER_BYTES,
            max_request_body_size=sys.maxsize,  # `ArrivingRequest` has the limits
            outbuf_high_watermark=UNSENT_BYTES,
            clear_untrusted_proxy_headers=False,  # the application knows whether there is a proxy
            asyncore_use_poll=True,
            ident="",
        )
        self.listeners = [each for each in self.dispatchers.values() if isinstance(each, BaseWSGIServer)]
        for listener in self.listeners:
            listener.channel_class = Connection
        self.next_look = self.next_trim = 0.0
        while self.alive:
            self._turn()
        self._finish()

    def _turn(self) -> None:
        self.notify()
        wasyncore.loop(timeout=1, map=self.dispatchers, use_poll=True, count=1)
        now = time.monotonic()
        if now < self.next_look:
            return
        self.next_look = now + 1
        if now >= self.next_trim:
            self.next_trim = now + TRIM_EVERY_S
            return_free_memory()
        for connection in self._connections():
            if connection.is_overdue:
                connection.handle_close()

    def _finish(self) -> None:
        """Answer what has arrived, for as long as gunicorn's --graceful-timeout."""
        until = time.monotonic() + self.cfg.graceful_timeout
        for listener in self.listeners:
            listener.accepting = False
        while time.monotonic() < until and any(
            connection.requests or connection.total_outbufs_len for connection in self._connections()
        ):
            self._turn()
        self.server.close()

    def _connections(self) -> list[Connection]:
        return [each for each in self.dispatchers.values() if isinstance(each, Connection)]

    def handle_exit(self, sig: signal.Signals, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self.listeners[0].pull_trigger()


def return_free_memory() -> None:
    """Give the system back what the process has freed."""
    with suppress(AttributeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)
