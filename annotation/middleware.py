"""Turns what the domain refuses into a page that says why, and keeps pages out of caches."""

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers
from django.utils.deprecation import MiddlewareMixin

from annotation.errors import DomainError, NotSignedIn


class DomainErrorMiddleware(MiddlewareMixin):
    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, DomainError):
            return None
        if isinstance(exception, NotSignedIn):
            return redirect_to_login(request.get_full_path())
        return render(request, "refused.html", {"message": str(exception)}, status=exception.status)


class PrivateResponseMiddleware(MiddlewareMixin):
    """No browser or proxy keeps what it was sent: a page may hold texts, ratings or names, or show more than
    the same address does after the next stage. Static files are answered before this, and are kept."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:  # noqa: ARG002
        if not response.has_header("Cache-Control"):
            add_never_cache_headers(response)
        return response
