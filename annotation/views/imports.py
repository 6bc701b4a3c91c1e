"""Being written."""

from django.http import HttpRequest, HttpResponse


def imports(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def import_job(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def import_errors(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def import_load(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError
