"""An id for each request: in its answer, on error pages, and in every line that it writes to the log."""

import json
import logging
import re
import secrets
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

HEADER = "X-Request-Id"
SANE = re.compile(r"[A-Za-z0-9._-]{1,64}")


@dataclass(frozen=True)
class CurrentRequest:
    request_id: str
    method: str
    path: str


_current: ContextVar[CurrentRequest | None] = ContextVar("current_request", default=None)


def request_id() -> str:
    """Return the id of the request that this thread is answering, or an empty text."""
    current = _current.get()
    return current.request_id if current else ""


class RequestIdMiddleware(MiddlewareMixin):
    """Takes the id that a trusted proxy has sent, or makes one."""

    def process_request(self, request: HttpRequest) -> None:
        given = request.headers.get(HEADER, "") if settings.BEHIND_HTTPS_PROXY else ""
        known = given if SANE.fullmatch(given) else secrets.token_hex(8)
        # It stays until the thread's next request, since downloads are written after their middleware.
        _current.set(CurrentRequest(known, request.method or "", request.path))

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:  # noqa: ARG002
        response[HEADER] = request_id()
        return response


class JsonLines(logging.Formatter):
    """Writes each record as one line of JSON, with its traceback as one field."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        if current := _current.get():
            line |= asdict(current)
        if status := getattr(record, "status_code", None):
            line["status"] = status
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line)
