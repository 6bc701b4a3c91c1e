"""Being written."""

from django.http import HttpRequest, HttpResponse


def history(request: HttpRequest, slug: str, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def history_rating(request: HttpRequest, slug: str, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def history_correct(request: HttpRequest, slug: str, **names: int | str) -> HttpResponse:
    raise NotImplementedError
