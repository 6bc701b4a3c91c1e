"""The language that a person chose for the interface.

It is kept with the account, and in a cookie, so that no request looks it up in the database.
"""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils.translation import get_language_from_request, gettext

from annotation.errors import DomainError
from annotation.models import InterfaceLanguage
from annotation.sessions import keep_in_browser

COOKIE_AGE = timedelta(days=365)


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
        kept, _ = InterfaceLanguage.objects.get_or_create(
            user=user, defaults={"code": get_language_from_request(request)}
        )
    if kept is not None:
        _remember(request, kept.code)


def _remember(request: HttpRequest, code: str) -> None:
    keep_in_browser(request, settings.LANGUAGE_COOKIE_NAME, code, COOKIE_AGE)
