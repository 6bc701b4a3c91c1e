"""Middleware that answers in the reader's language where the page is translated.

It is the language that the browser's cookie has, or else the one of `Accept-Language` that fits best.
"""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation


def translated(view: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a view whose pages are in the reader's language. All others are in English."""
    view.is_translated = True  # type: ignore[attr-defined]
    return view


def is_translated(view: Callable[..., Any]) -> bool:
    """Return whether the view is marked by `translated`."""
    return getattr(view, "is_translated", False)


class InterfaceLanguageMiddleware:
    """Must come before the middleware that shows errors as pages. The API speaks English."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        is_api = request.path.startswith("/api/")
        spoken = settings.LANGUAGE_CODE if is_api else translation.get_language_from_request(request)
        with translation.override(spoken):
            return self.get_response(request)

    def process_view(
        self,
        request: HttpRequest,  # noqa: ARG002
        view: Callable[..., Any],
        args: tuple[object, ...],  # noqa: ARG002
        kwargs: dict[str, Any],  # noqa: ARG002
    ) -> None:
        if not is_translated(view):
            translation.activate(settings.LANGUAGE_CODE)
