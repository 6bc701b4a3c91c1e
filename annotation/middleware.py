"""Turns what the domain refuses into a page that says why."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin

from annotation.errors import DomainError


class DomainErrorMiddleware(MiddlewareMixin):
    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, DomainError):
            return None
        return render(request, "refused.html", {"message": str(exception)}, status=exception.status)
