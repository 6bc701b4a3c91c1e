"""Middleware that keeps from every view what no person types and no database stores, and the log of it."""

import codecs
import logging
from collections.abc import Callable
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext

from annotation.lookups import LARGEST_ID
from annotation.web.error_pages import not_understood

NUL = "\0"


class HostileInputMiddleware(MiddlewareMixin):
    """Must come after the check of forgeries, which reads forms first, and before all others that read them.

    A NUL in a form is dropped, so that pasted text is not lost. One in an address was not typed by anybody,
    so the address is refused; so is text that is not UTF-8. A number too large for an id leads nowhere.
    """

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if not _is_utf8(request.encoding):
            request.encoding = "utf-8"
            return not_understood(
                request, gettext("The request names another encoding than UTF-8. Send it as UTF-8.")
            )
        wrong = [name for name, values in request.GET.lists() if NUL in "".join([name, *values])]
        if wrong or NUL in request.path_info:
            where = ", ".join(wrong).replace(NUL, "") or gettext("address")
            message = gettext("%(where)s: found a NUL character. Correct the address, or go back.")
            return not_understood(request, message % {"where": where})
        return None

    def process_view(
        self,
        request: HttpRequest,
        view: Callable[..., Any],  # noqa: ARG002
        args: tuple[object, ...],  # noqa: ARG002
        kwargs: dict[str, Any],
    ) -> None:
        if any(isinstance(value, int) and value > LARGEST_ID for value in kwargs.values()):
            raise Http404
        if request.POST:
            request.POST = _without_nul(request.POST)  # type: ignore[assignment]


def _is_utf8(encoding: str | None) -> bool:
    return encoding is None or codecs.lookup(encoding).name == "utf-8"


def _without_nul(given: QueryDict) -> QueryDict:
    cleaned = QueryDict(mutable=True, encoding=given.encoding)
    for name, values in given.lists():
        cleaned.setlist(name.replace(NUL, ""), [value.replace(NUL, "") for value in values])
    cleaned._mutable = False
    return cleaned


class ShortLog(logging.Filter):
    """Logs a refused request, such as one for an unknown host, in one line instead of a traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name.startswith("django.security"):
            record.exc_info = None
        return True
