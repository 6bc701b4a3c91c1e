"""Being written."""

from django.http import HttpRequest, HttpResponse


def home(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError
