"""Being written."""

from django.http import HttpRequest, HttpResponse


def summaries(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def summary(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError
