"""Error responses: a page with a link back, or JSON below /api/."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string


def _page(status: int, title: str, message: str) -> Callable[..., HttpResponse]:
    def page(request: HttpRequest, exception: object = None, reason: str = "") -> HttpResponse:  # noqa: ARG001
        return _answer(request, status, title, message)

    return page


def _answer(request: HttpRequest, status: int, title: str, message: str) -> HttpResponse:
    if _is_api(request):
        return JsonResponse({"detail": message}, status=status)
    return render(request, "refused.html", {"title": title, "message": message}, status=status)


def not_understood(request: HttpRequest, message: str) -> HttpResponse:
    """Respond with 400 to a request that no page sends. `message` says what is wrong with it."""
    return _answer(request, 400, "Request not understood", message)


bad_request = _page(400, "Request not understood", "Go back, reload the page and try again.")
not_allowed = _page(403, "Access denied", "You may not open this page.")
not_found = _page(404, "Page not found", "Nothing is at this address. Check it for typing errors.")
wrong_method = _page(
    405, "Nothing to show here", "This address only receives a form. Go back and use the button on the page."
)
too_large = _page(413, "Too much was sent", "Go back and send less: a shorter text, or a smaller file.")
form_refused = _page(
    403,
    "Form not accepted",
    "The page was open too long, or the browser blocks cookies. Go back, reload the page and try again.",
)


def server_error(request: HttpRequest) -> HttpResponse:
    """Render the page without the request's context, which may fail again."""
    message = (
        "Something went wrong on our side. Try again later; if it happens again, tell your administrator."
    )
    if _is_api(request):
        return JsonResponse({"detail": message}, status=500)
    return HttpResponse(
        render_to_string("refused.html", {"title": "Server error", "message": message}), status=500
    )


def _is_api(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")
