"""The health checks: whether this process reaches what it needs, and whether it can answer requests.

They answer in time whatever hangs: each part is asked in a thread of its own, which is given up.
"""

import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from celery import current_app
from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.cache import add_never_cache_headers
from django.utils.deprecation import MiddlewareMixin

PATIENCE_S = 2.0
KEPT_S = 1.0
"""Seconds for which an answer is given again, so that asking often costs nothing."""
SPARE_BYTES = 64 * 1024 * 1024
"""Free space below which a disk counts as full, since some of what is written next needs as much."""
PROBE_BYTES = 4096
OK = "ok"
NO_ANSWER = f"no answer in {PATIENCE_S:g} s"


class Part:
    """A part that this process needs. `ask` returns its state: `OK`, or what is wrong."""

    def __init__(self, ask: Callable[[], str]) -> None:
        self._ask = ask
        self._thread: threading.Thread | None = None
        self._state = ""

    def begin(self) -> None:
        """Ask, unless an earlier question has not been answered yet, or was answered too late to be told."""
        if self._thread is None:
            self._state = ""
            self._thread = threading.Thread(target=self._run, daemon=True)
            self._thread.start()

    def state_by(self, deadline: float) -> str:
        """Return the state as soon as it is known, or that there is no answer by the deadline."""
        if self._thread is not None:
            self._thread.join(max(0.0, deadline - time.monotonic()))
            if self._thread.is_alive():
                return NO_ANSWER
            self._thread = None
        return self._state or NO_ANSWER

    def _run(self) -> None:
        self._state = self._ask()


class HealthCheck:
    """An address that answers 200 if all its parts are fine, else 503 naming what is wrong."""

    def __init__(self, parts: Mapping[str, Callable[[], str]]) -> None:
        self._parts = {name: Part(ask) for name, ask in parts.items()}
        self._lock = threading.Lock()
        self._report: dict[str, str] = {}
        self._reported_at = float("-inf")

    def response(self) -> HttpResponse:
        with self._lock:
            if time.monotonic() > self._reported_at + KEPT_S:
                self._report = self._look()
                self._reported_at = time.monotonic()
            report = self._report
        response = JsonResponse(report, status=200 if set(report.values()) == {OK} else 503)
        add_never_cache_headers(response)
        return response

    def _look(self) -> dict[str, str]:
        deadline = time.monotonic() + PATIENCE_S
        for part in self._parts.values():
            part.begin()
        return {name: part.state_by(deadline) for name, part in self._parts.items()}


def database_state() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, InterfaceError):
        return "unreachable"
    finally:
        connection.close()
    return OK


def schema_state() -> str:
    """Return whether the database has at least the tables that this version needs."""
    try:
        executor = MigrationExecutor(connection)
        missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except (DatabaseError, InterfaceError):
        return "unreachable"
    finally:
        connection.close()
    return f"{len(missing)} migrations to apply: manage.py migrate" if missing else OK


def broker_state() -> str:
    try:
        with current_app.connection_for_write(connect_timeout=PATIENCE_S) as broker:
            # Some transports only touch the broker when a queue is declared.
            current_app.amqp.queues[current_app.conf.task_default_queue](broker.channel()).declare()
    except Exception:  # brokers raise errors of many libraries
        return "unreachable"
    return OK


def disk_state() -> str:
    """Return whether the folders of data and of uploads can be written and have space."""
    folders = {"VAR_DIR": settings.VAR_DIR, "UPLOAD_DIR": settings.MEDIA_ROOT}
    if connection.vendor == "sqlite":
        folders["DATABASE_URL"] = Path(connection.settings_dict["NAME"]).parent
    for name, folder in folders.items():
        existing = next(each for each in (folder, *folder.parents) if each.exists())
        try:
            with tempfile.TemporaryFile(dir=existing) as probe:
                probe.write(b"0" * PROBE_BYTES)
            free = shutil.disk_usage(existing).free
        except OSError as error:
            return f"{name}: {error.strerror}"
        if free < SPARE_BYTES:
            return f"{name}: {free // 1024**2} MiB free"
    return OK


CHECKS = {
    "/healthz": HealthCheck({"database": database_state, "broker": broker_state, "disk": disk_state}),
    "/readyz": HealthCheck({"database": schema_state}),
}


class HealthMiddleware(MiddlewareMixin):
    """Must come first: load balancers ask by IP address and without TLS, which later middleware refuses."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        check = CHECKS.get(request.path_info)
        return check.response() if check else None
