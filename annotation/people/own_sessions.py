"""The sessions in which a person is signed in: listing them and ending them."""

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.db import transaction
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import NotAllowed, NotFound
from annotation.models import Session
from annotation.sessions import SessionStore

BROWSER, SIGNED_IN_AT = "browser", "signed_in_at"  # keys of a session's data
BROWSERS = {
    "Edge": r"Edg(e|A|iOS)?/",
    "Opera": r"OPR/",
    "Firefox": r"Firefox/|FxiOS/",
    "Chrome": r"Chrome/|CriOS/",
    "Safari": r"Safari/",
}
"""Browsers by what they send. Later ones are also in what earlier ones send."""
SYSTEMS = {
    "Android": r"Android",
    "iPhone": r"iPhone",
    "iPad": r"iPad",
    "Windows": r"Windows",
    "macOS": r"Macintosh",
    "ChromeOS": r"CrOS",
    "Linux": r"Linux",
}


@dataclass(frozen=True)
class OwnSession:
    """A session as its owner sees it. `id` is safe to show, unlike the key, which would sign anybody in."""

    id: str
    browser: str
    signed_in_at: datetime | None
    """The sign-in; None for a session from before this was recorded."""
    seen_at: datetime
    is_this: bool
    """True for the session of the request."""
    key: str


def browser_in_words(user_agent: str) -> str:
    """Return, for example, "Firefox on Windows"."""
    browser = _first_in(BROWSERS, user_agent) or "Unknown browser"
    system = _first_in(SYSTEMS, user_agent)
    return f"{browser} on {system}" if system else browser


def _first_in(patterns: dict[str, str], text: str) -> str:
    return next((name for name, pattern in patterns.items() if re.search(pattern, text)), "")


def sessions_of(user: User, this_key: str | None) -> list[OwnSession]:
    """Return the sessions that sign the user in, the last used first. `this_key` is the request's."""
    found = []
    for stored in Session.objects.filter(user=user, expire_date__gt=timezone.now()).order_by("-seen_at"):
        store = SessionStore(stored.pk)
        store.take(stored)
        if not store.vouches_for(user):  # it began before the password changed
            continue
        signed_in_at = store.get(SIGNED_IN_AT)
        found.append(
            OwnSession(
                id=session_id(stored.pk),
                browser=store.get(BROWSER, "Unknown browser"),
                signed_in_at=datetime.fromisoformat(signed_in_at) if signed_in_at else None,
                seen_at=stored.seen_at,
                is_this=stored.pk == this_key,
                key=stored.pk,
            )
        )
    return found


def session_id(key: str) -> str:
    """Return the id by which pages name a session. It does not reveal the key."""
    return hashlib.sha256(key.encode()).hexdigest()[:16]


def end_session(user: User, this_key: str | None, wanted: str) -> OwnSession:
    """End one of the user's sessions and return it.

    Raises NotFound, and NotAllowed for the session of the request, which signing out ends.
    """
    found = next((each for each in sessions_of(user, this_key) if each.id == wanted), None)
    if found is None:
        raise NotFound(gettext("You have no such session. It may have ended already."))
    if found.is_this:
        raise NotAllowed(gettext("This is the session that you use. Choose Sign out to end it."))
    _end(found)
    return found


def end_other_sessions(user: User, this_key: str | None) -> int:
    """End all of the user's sessions but the request's, and return their number."""
    others = [each for each in sessions_of(user, this_key) if not each.is_this]
    with transaction.atomic():
        for each in others:
            _end(each)
    return len(others)


def _end(session: OwnSession) -> None:
    with transaction.atomic():
        record(Action.SESSION_ENDED, None, session.browser)
        Session.objects.filter(pk=session.key).delete()


@receiver(user_logged_in, dispatch_uid="describe_session")
def _describe_session(request: HttpRequest, **_: object) -> None:
    """Note browser and time in a new session, for its owner to recognise it by."""
    request.session[BROWSER] = browser_in_words(request.headers.get("User-Agent", ""))
    request.session[SIGNED_IN_AT] = timezone.now().isoformat()
