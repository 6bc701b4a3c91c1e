"""Being written."""

from django.http import HttpRequest, HttpResponse


def people(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def invitation_revoke(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def member_remove(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def rater_qualify(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def rater_suspend(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def rater_remove(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError


def rater_reinstate(request: HttpRequest, **names: int | str) -> HttpResponse:
    raise NotImplementedError
