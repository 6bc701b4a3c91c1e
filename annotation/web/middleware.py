"""Middleware that shows errors as pages, and keeps pages out of caches."""

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers
from django.utils.deprecation import MiddlewareMixin

from annotation.errors import DomainError, NotSignedIn, TryAgainLater
from annotation.web.error_pages import wrong_method


class KeptInBrowserMiddleware(MiddlewareMixin):
    """Sets the cookies of `annotation.sessions.keep_in_browser`. Scripts cannot read them."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        for name, (value, age, is_signed) in request.__dict__.get("kept_in_browser", {}).items():
            options = {"max_age": age, "httponly": True, "samesite": "Lax"}
            options["secure"] = settings.SESSION_COOKIE_SECURE
            if is_signed:
                response.set_signed_cookie(name, value, salt=name, **options)
            else:
                response.set_cookie(name, value, **options)
        return response


class DomainErrorMiddleware(MiddlewareMixin):
    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, DomainError):
            return None
        if isinstance(exception, NotSignedIn):
            return redirect_to_login(request.get_full_path())
        refusal = render(request, "refused.html", {"message": str(exception)}, status=exception.status)
        if isinstance(exception, TryAgainLater):
            refusal["Retry-After"] = str(exception.after_s)
        return refusal


class WrongMethodMiddleware(MiddlewareMixin):
    """Shows a page with a link back where an address is opened that only receives forms."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if not isinstance(response, HttpResponseNotAllowed):
            return response
        page = wrong_method(request)
        page["Allow"] = response["Allow"]
        return page


class PrivateResponseMiddleware(MiddlewareMixin):
    """Keeps browsers and proxies from caching pages, which may hold texts, ratings or names.

    Static files are served before this middleware, and are cached.
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:  # noqa: ARG002
        if not response.has_header("Cache-Control"):
            add_never_cache_headers(response)
        return response
