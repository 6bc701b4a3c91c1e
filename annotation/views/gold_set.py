"""Being written."""

from django.http import HttpRequest, HttpResponse


def gold_answers(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def gold_remove(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def gold_restore(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError
