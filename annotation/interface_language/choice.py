"""The language of the interface: what a person chose, or what their browser asks for.

The choice is kept with the account, and in a cookie, so that no request looks it up in the database.
"""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import get_language_from_request, gettext

from annotation.errors import DomainError
from annotation.models import InterfaceLanguage

COOKIE_AGE = timedelta(days=365)


def is_translated(view: Callable[..., Any]) -> bool:
    """Return whether the pages of a view are in the reader's language. All others are in English."""
    return getattr(view, "is_translated", False)


def translated(view: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a view whose pages are in the reader's language."""
    view.is_translated = True  # type: ignore[attr-defined]
    return view


def language_of(request: HttpRequest) -> str:
    """Return the code that the browser's cookie has, or else the one of `Accept-Language` that fits best."""
    return get_language_from_request(request)


def choose_language(request: HttpRequest, code: str) -> None:
    """Keep the language for the person, or for the browser before sign-in. Raises DomainError."""
    if code not in dict(settings.LANGUAGES):
        raise DomainError(gettext("Choose one of the languages on the page."))
    if isinstance(request.user, User):
        InterfaceLanguage.objects.update_or_create(user=request.user, defaults={"code": code})
    _remember(request, code)


@receiver(user_logged_in, dispatch_uid="restore_language")
def restore_language(request: HttpRequest, user: User, **_signal: Any) -> None:
    """Give this browser the language of the account. An account without one takes what the browser has."""
    kept = InterfaceLanguage.objects.filter(user=user).first()
    if kept is None and settings.LANGUAGE_COOKIE_NAME in request.COOKIES:
        kept, _ = InterfaceLanguage.objects.get_or_create(user=user, defaults={"code": language_of(request)})
    if kept is not None:
        _remember(request, kept.code)


def _remember(request: HttpRequest, code: str) -> None:
    setattr(request, "remembered_language", code)  # noqa: B010 - HttpRequest declares no such attribute


def set_cookie(request: HttpRequest, response: HttpResponseBase) -> None:
    """Let the browser keep the language that this request has chosen, if any."""
    code = getattr(request, "remembered_language", "")
    if code:
        response.set_cookie(
            settings.LANGUAGE_COOKIE_NAME,
            code,
            max_age=COOKIE_AGE,
            httponly=True,
            samesite="Lax",
            secure=settings.SESSION_COOKIE_SECURE,
        )
