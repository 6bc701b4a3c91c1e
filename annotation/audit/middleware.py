"""Middleware that tells the audit log who acts in a request."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from annotation.audit.log import acting_as


class ActorMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        # Asked when something is recorded: the API and the sign-in set the user on the way.
        with acting_as(lambda: request.user):
            return self.get_response(request)
