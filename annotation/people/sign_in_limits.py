"""Limits on wrong passwords: by name and address together, by address, and by name.

django-axes counts failures and asks here how long an attempt has to wait. A stranger can slow new browsers
down for a name, but lock nobody out: browsers that have signed in to the account have a count of their own.
"""

import secrets
from datetime import datetime, timedelta
from typing import Any

from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.db.models import Max, QuerySet, Sum
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from annotation.sessions import keep_in_browser

WINDOW = timedelta(hours=settings.AXES_COOLOFF_TIME)
"""The time for which a failure counts, and the longest wait."""
ADDRESS_LIMIT = 50
"""Failures of one address with any names; many raters may share an address."""
NAME_LIMIT = 20
"""Failures with one name from anywhere, after which attempts of new browsers are spaced."""
NAME_WAIT = timedelta(seconds=10)
"""The time between two attempts with such a name."""

COOKIE = "known_browser"
COOKIE_AGE = timedelta(days=180)
MOST_NAMES = 8  # in one browser


class SignInLimits(AxesDatabaseHandler):
    def is_locked(self, request: HttpRequest, credentials: dict[str, Any] | None = None) -> bool:
        """Return whether this attempt has to wait, and leave the wait in the request."""
        name = (credentials or {}).get("username") or ""
        browser = known_browser(request, name)
        if browser:
            # The count of a known browser is kept where its user agent would be.
            request.axes_user_agent = browser  # type: ignore[attr-defined]
        now: datetime = request.axes_attempt_time  # type: ignore[attr-defined]
        recent = AccessAttempt.objects.filter(attempt_time__gte=now - WINDOW)
        own = recent.filter(**{field: _value(request, name, field) for field in _counted_by(browser)})
        waits = [_wait(own, settings.AXES_FAILURE_LIMIT, WINDOW, now)]
        if not browser:
            from_here = recent.filter(ip_address=_value(request, name, "ip_address"))
            waits += [
                _wait(from_here, ADDRESS_LIMIT, WINDOW, now),
                _wait(recent.filter(username=name), NAME_LIMIT, NAME_WAIT, now),
            ]
        wait = max(waits)
        setattr(request, "sign_in_wait", wait)  # noqa: B010 - HttpRequest declares no such attribute
        return wait > timedelta(0)


def lockout_parameters(request: HttpRequest, credentials: dict[str, Any] | None) -> list[list[str]]:
    """Return the columns by which django-axes counts and forgets the failures of this attempt."""
    return [_counted_by(known_browser(request, (credentials or {}).get("username") or ""))]


def wait_of(request: HttpRequest) -> timedelta:
    """Return how long a refused attempt has to wait; after the failure that reached a limit, all of it."""
    return getattr(request, "sign_in_wait", None) or WINDOW


def known_browser(request: HttpRequest, name: str) -> str:
    """Return the id of a browser that has signed in with this name before; empty for a new browser."""
    browser, names = _cookie(request)
    return f"known browser {browser}" if _hashed(name) in names else ""


def remember_browser(request: HttpRequest, user: User) -> None:
    """Let the response to this request make its browser a known one of the user."""
    browser, names = _cookie(request)
    name = _hashed(user.get_username())
    names = [name, *(each for each in names if each != name)][:MOST_NAMES]
    value = ":".join([browser or secrets.token_urlsafe(16), *names])
    keep_in_browser(request, COOKIE, value, COOKIE_AGE, is_signed=True)


@receiver(user_logged_in, dispatch_uid="remember_browser")
def _remember_browser(request: HttpRequest, user: User, **_: object) -> None:
    remember_browser(request, user)


def _cookie(request: HttpRequest) -> tuple[str, list[str]]:
    """Return the browser's id and its hashed names; both empty without a valid cookie."""
    value = request.get_signed_cookie(COOKIE, default=None, salt=COOKIE, max_age=COOKIE_AGE)
    browser, *names = (value or "").split(":")
    return browser, names


def _hashed(name: str) -> str:
    """Return a name as the cookie holds it, so that whoever reads the cookie learns no names."""
    return salted_hmac(COOKIE, name).hexdigest()[:16]


def _counted_by(browser: str) -> list[str]:
    return ["username", "user_agent" if browser else "ip_address"]


def _value(request: HttpRequest, name: str, field: str) -> str:
    return name if field == "username" else getattr(request, f"axes_{field}")


def _wait(attempts: "QuerySet[Any]", limit: int, wait: timedelta, now: datetime) -> timedelta:
    """Return the time left of `wait` since the last attempt, if there were `limit` failures or more."""
    found = attempts.aggregate(failures=Sum("failures_since_start"), last=Max("attempt_time"))
    return found["last"] + wait - now if (found["failures"] or 0) >= limit else timedelta(0)
