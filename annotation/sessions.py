"""The session engine: Django's, with the session's user and last request in columns."""

from datetime import timedelta
from typing import Any, cast

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import User
from django.contrib.sessions.backends import db
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from annotation.models import ApiToken, Session, token_hash

SEEN_GRAIN = timedelta(minutes=10)
"""Precision of a session's last request, so that not every request writes."""


class SessionStore(db.SessionStore):
    @classmethod
    def get_model_class(cls) -> type[Session]:
        return Session

    def _validate_session_key(self, key: str | None) -> bool:
        """Refuse a cookie with a NUL, which PostgreSQL cannot look up, as Django refuses short ones."""
        return bool(super()._validate_session_key(key)) and "\0" not in str(key)  # type: ignore[misc]

    def create_model_instance(self, data: dict[str, Any]) -> Session:
        stored = cast(Session, super().create_model_instance(data))
        stored.user_id = data.get(SESSION_KEY)
        return stored

    def _get_session_from_db(self) -> Session | None:
        stored: Session | None = super()._get_session_from_db()  # type: ignore[misc] # unknown to the stubs
        if stored is not None:
            mark_seen(stored)
        return stored

    def take(self, stored: Session) -> None:
        """Take the session that another statement has read."""
        self._session_cache = self.decode(stored.session_data)

    def vouches_for(self, user: User) -> bool:
        """Return whether this session signs the user in, by all that Django asks of a session.

        A session that a retired secret has signed is left to Django.
        """
        return (
            self.get(SESSION_KEY) == str(user.pk)
            and self.get(BACKEND_SESSION_KEY) in settings.AUTHENTICATION_BACKENDS
            and user.is_active
            and constant_time_compare(self.get(HASH_SESSION_KEY, ""), user.get_session_auth_hash())
        )


def mark_seen(stored: Session) -> None:
    """Record that the session is in use now, to SEEN_GRAIN."""
    now = timezone.now()
    if now - stored.seen_at > SEEN_GRAIN:
        Session.objects.filter(pk=stored.pk).update(seen_at=now)


def bears_token(authorization: str) -> bool:
    """Return whether a request's header of this name has an API token of somebody who may use Touchstone."""
    keyword, _, token = authorization.partition(" ")
    stored = ApiToken.objects.filter(
        token_hash=token_hash(token.strip()), expires_at__gt=timezone.now(), user__is_active=True
    )
    return keyword.lower() == "bearer" and stored.exists()


def is_signed_in(session_key: str) -> bool:
    """Return whether somebody who may use Touchstone is signed in by the session of this key."""
    return Session.objects.filter(
        session_key=session_key, expire_date__gt=timezone.now(), user__is_active=True
    ).exists()


def keep_in_browser(
    request: HttpRequest, name: str, value: str, age: timedelta, *, is_signed: bool = False
) -> None:
    """Let the response to this request set a cookie, which outlives the session."""
    kept = request.__dict__.setdefault("kept_in_browser", {})
    kept[name] = (value, age, is_signed)
