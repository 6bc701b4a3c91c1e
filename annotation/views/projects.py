"""Being written."""

from django.http import HttpRequest, HttpResponse


def project_new(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def project_settings(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError
