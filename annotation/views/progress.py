"""Being written."""

from django.http import HttpRequest, HttpResponse


def progress(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError
