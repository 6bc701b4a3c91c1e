"""Being written."""

from django.http import HttpRequest, HttpResponse


def round_start(request: HttpRequest, slug: str, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def round_review(request: HttpRequest, slug: str, **names: int | str) -> HttpResponse:
    raise NotImplementedError
