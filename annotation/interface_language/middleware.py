"""Middleware that answers in the reader's language where the page is translated."""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import translation

from annotation.interface_language.choice import is_translated, language_of, set_cookie


class InterfaceLanguageMiddleware:
    """Must come before the middleware that shows errors as pages. The API speaks English."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        is_api = request.path.startswith("/api/")
        with translation.override(settings.LANGUAGE_CODE if is_api else language_of(request)):
            response = self.get_response(request)
        set_cookie(request, response)
        return response

    def process_view(
        self,
        request: HttpRequest,  # noqa: ARG002
        view: Callable[..., Any],
        args: tuple[object, ...],  # noqa: ARG002
        kwargs: dict[str, Any],  # noqa: ARG002
    ) -> None:
        if not is_translated(view):
            translation.activate(settings.LANGUAGE_CODE)
