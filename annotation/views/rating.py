"""Being written."""

from django.http import HttpRequest, HttpResponse


def rate(request: HttpRequest, slug: str, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def rate_item(request: HttpRequest, slug: str, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def rate_draft(request: HttpRequest, slug: str, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def rate_flag(request: HttpRequest, slug: str, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def rate_skip(request: HttpRequest, slug: str, **names: int | str) -> HttpResponse:
    raise NotImplementedError
