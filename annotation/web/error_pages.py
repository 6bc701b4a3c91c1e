"""Error responses: a page with a link back, or problem details below /api/."""

import errno
import logging
import sys
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext, gettext_noop

from annotation.database.availability import is_unavailable
from annotation.web.problems import problem_response
from annotation.web.request_ids import request_id

RETRY_AFTER_S = 5
UNAVAILABLE = gettext_noop("Touchstone cannot reach its database at the moment.")
DISK_FULL = gettext_noop("A disk of the server is full. Its operator has to make room.")

logger = logging.getLogger(__name__)


def _page(status: int, title: str, message: str) -> Callable[..., HttpResponse]:
    def page(request: HttpRequest, exception: object = None, reason: str = "") -> HttpResponse:  # noqa: ARG001
        return _answer(request, status, gettext(title), gettext(message))

    return page


def _answer(request: HttpRequest, status: int, title: str, message: str) -> HttpResponse:
    if _is_api(request):
        return problem_response(status, message)
    return render(request, "refused.html", {"title": title, "message": message}, status=status)


def not_understood(request: HttpRequest, message: str) -> HttpResponse:
    """Respond with 400 to a request that no page sends. `message` says what is wrong with it."""
    return _answer(request, 400, gettext("Request not understood"), message)


bad_request = _page(
    400, gettext_noop("Request not understood"), gettext_noop("Go back, reload the page and try again.")
)
not_allowed = _page(403, gettext_noop("Access denied"), gettext_noop("You may not open this page."))
not_found = _page(
    404,
    gettext_noop("Page not found"),
    gettext_noop("Nothing is at this address. Check it for typing errors."),
)
wrong_method = _page(
    405,
    gettext_noop("Nothing to show here"),
    gettext_noop("This address only receives a form. Go back and use the button on the page."),
)
too_large = _page(
    413,
    gettext_noop("Too much was sent"),
    gettext_noop("Go back and send less: a shorter text, or a smaller file."),
)
form_refused = _page(
    403,
    gettext_noop("Form not accepted"),
    gettext_noop(
        "The page was open too long, or the browser blocks cookies. Go back, reload the page and try again."
    ),
)


def server_error(request: HttpRequest) -> HttpResponse:
    """Respond with 500, or with 503 to what may work again soon, such as while the database restarts."""
    error = sys.exc_info()[1]
    if is_unavailable(error):
        return _try_again(request, f"The database cannot be used: {error}", gettext(UNAVAILABLE))
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return _try_again(request, f"A disk is full: {error}", gettext(DISK_FULL))
    message = gettext(
        "Something went wrong on our side. Try again later; if it happens again, tell your administrator."
    )
    return _without_context(request, 500, {"title": gettext("Server error"), "message": message})


def _try_again(request: HttpRequest, logged: str, message: str) -> HttpResponse:
    """Respond with 503. Where nothing was sent, the page opens itself again."""
    logger.error("%s: %s", request.path, " ".join(logged.split()))  # on one line
    told: dict[str, object] = {"title": gettext("Not available at the moment")}
    if request.method in ("GET", "HEAD"):
        further = gettext("This page tries again by itself.")
        told["again_after_s"] = RETRY_AFTER_S
    else:
        further = gettext("Nothing was saved. Reload this page to send it again.")
    told["message"] = f"{message} {further}"
    response = _without_context(request, 503, told)
    response["Retry-After"] = str(RETRY_AFTER_S)
    add_never_cache_headers(response)
    response._has_been_logged = True  # type: ignore[attr-defined] # by Django, with a traceback that helps nobody
    return response


def _without_context(request: HttpRequest, status: int, told: dict[str, object]) -> HttpResponse:
    """Respond without the request's context, which may fail again."""
    if _is_api(request):
        return problem_response(status, str(told["message"]))
    page = render_to_string("refused.html", {**told, "request_id": request_id()})
    return HttpResponse(page, status=status)


def _is_api(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")
