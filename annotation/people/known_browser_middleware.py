"""Middleware that sets the cookie of a browser that has signed in."""

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.deprecation import MiddlewareMixin

from annotation.people.sign_in_limits import COOKIE, COOKIE_AGE


class KnownBrowserMiddleware(MiddlewareMixin):
    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        value = getattr(request, "known_browser", "")
        if value:
            response.set_signed_cookie(
                COOKIE,
                value,
                salt=COOKIE,
                max_age=COOKIE_AGE,
                httponly=True,
                samesite="Lax",
                secure=settings.SESSION_COOKIE_SECURE,
            )
        return response
