"""The demo's accounts, which everybody at this machine may enter without a password."""

from dataclasses import dataclass
from ipaddress import ip_address

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.translation import gettext, gettext_noop

from annotation.errors import NotAllowed

OPEN = "!demo"
"""The stored password of an account that is entered without one.

Because of its first character, Django accepts no password for it. Once a password is set, it is needed.
"""


@dataclass(frozen=True)
class DemoAccount:
    username: str
    enter: str
    does: str


ACCOUNTS = (
    DemoAccount(
        "demo-manager",
        gettext_noop("Enter as manager"),
        gettext_noop("Import texts, invite raters, watch progress and agreement."),
    ),
    DemoAccount(
        "demo-researcher",
        gettext_noop("Enter as researcher"),
        gettext_noop("Run metrics and compare them with the human ratings."),
    ),
    DemoAccount(
        "demo-annotator",
        gettext_noop("Enter as annotator"),
        gettext_noop("Rate summaries in the languages you have qualified for."),
    ),
    DemoAccount(
        "demo-newcomer",
        gettext_noop("Enter as new annotator"),
        gettext_noop("Qualify with a gold round before you rate."),
    ),
)


def make_demo_user(username: str) -> User:
    """Return the user of that name, made open if it is new."""
    return User.objects.get_or_create(username=username, defaults={"password": OPEN})[0]


def demo_accounts(request: HttpRequest) -> list[DemoAccount]:
    """Return the accounts that the reader may enter; none in production or from another machine."""
    if not settings.LOCAL or not _is_from_here(request):
        return []
    there = User.objects.filter(password=OPEN, is_active=True, is_superuser=False, is_staff=False)
    names = set(there.values_list("username", flat=True))
    return [account for account in ACCOUNTS if account.username in names]


def demo_user(request: HttpRequest, username: str) -> User:
    """Return the user of an account that the reader may enter. Raises NotAllowed for any other."""
    if username not in {account.username for account in demo_accounts(request)}:
        raise NotAllowed(gettext("This account cannot be entered without a password. Sign in instead."))
    return User.objects.get(username=username)


def _is_from_here(request: HttpRequest) -> bool:
    """Return whether the request comes from this machine and not through a proxy."""
    if any(f"HTTP_{name}" in request.META for name in ("FORWARDED", "X_FORWARDED_FOR", "X_REAL_IP", "VIA")):
        return False
    try:
        return ip_address(request.META.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False
