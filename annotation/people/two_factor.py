"""Two-factor authentication: codes from an app, recovery codes, and who has to use them.

django-otp makes and checks the codes, accepts each once, and lets attempts wait longer after each wrong one.
"""

import secrets
from base64 import b32encode
from datetime import timedelta
from math import ceil

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.translation import gettext, gettext_noop
from django_otp import verify_token
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from annotation.audit.actions import Action
from annotation.audit.log import acting_as, record
from annotation.errors import DomainError, InvalidFields, NotAllowed
from annotation.models import Membership, Role, token_hash
from annotation.templatetags.figures import wait

RECOVERY_CODES = 10
TIME_FOR_CODE = timedelta(minutes=5)
"""The time between the right password and the code."""
WAITING = "waiting_for_code"  # key of a session's data
WRONG_CODE = gettext_noop(
    "Wrong code. Wait for the next one in your app, or enter a recovery code that you have not used."
)


def has_two_factor(user: User) -> bool:
    return TOTPDevice.objects.filter(user=user).exists()


def must_set_up(user: User) -> bool:
    """Return whether the operator demands two-factor authentication of `user`, who has not set it up."""
    if settings.TWO_FACTOR != "managers":
        return False
    theirs = {"user": OuterRef("pk")}
    demanded = Q(is_staff=True) | Exists(Membership.objects.filter(role=Role.MANAGER, **theirs))
    return (
        User.objects.filter(demanded, pk=user.pk)
        .exclude(Exists(TOTPDevice.objects.filter(**theirs)))
        .exists()
    )


def new_app(user: User, key: str) -> TOTPDevice:
    """Return the app that `turn_on` stores. Its `config_url` is what a QR code shows.

    Raises NotAllowed for accounts without a password.
    """
    if not user.has_usable_password():
        raise NotAllowed(gettext("Two-factor authentication protects passwords, and your account has none."))
    return TOTPDevice(user=user, name="app", key=key)


def key_in_words(app: TOTPDevice) -> str:
    """Return the key as people type it into an app, in groups of four."""
    return _in_groups(b32encode(app.bin_key).decode())


def turn_on(user: User, key: str, code: str) -> list[str]:
    """Demand codes of the app that has the key, and return the recovery codes, which are not stored.

    Raises NotAllowed for accounts without a password or with an app, and InvalidFields for a wrong code.
    """
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)  # two requests would leave two apps
        if has_two_factor(user):
            raise NotAllowed(gettext("Two-factor authentication is on. Turn it off to use another app."))
        app = new_app(user, key)
        app.save()
        if not app.verify_token(_typed(code)):
            message = gettext(
                "Wrong code. Check the clock of your device, and enter the code that your app shows."
            )
            raise InvalidFields({"code": message})
        record(Action.TWO_FACTOR_TURNED_ON, None, user.get_username())
        return _new_recovery_codes(user)


def turn_off(user: User) -> None:
    """Let `user` sign in with the password alone, and forget their app and recovery codes."""
    with transaction.atomic():
        _, deleted = TOTPDevice.objects.filter(user=user).delete()
        StaticDevice.objects.filter(user=user).delete()
        if deleted:
            record(Action.TWO_FACTOR_TURNED_OFF, None, user.get_username())


def renew_recovery_codes(user: User) -> list[str]:
    """Return new recovery codes, which replace the old ones. Raises NotAllowed for users without an app."""
    with transaction.atomic():
        if not has_two_factor(user):
            raise NotAllowed(gettext("Two-factor authentication is off. Set it up first."))
        record(Action.RECOVERY_CODES_CREATED, None, user.get_username())
        return _new_recovery_codes(user)


def recovery_codes_left(user: User) -> int:
    return StaticDevice.objects.filter(user=user, token_set__isnull=False).count()


def use_code(user: User, code: str) -> None:
    """Accept a code of the user's app or a recovery code, once. Raises DomainError for all others."""
    typed = _typed(code)
    is_of_app = typed.isdigit()
    # Only the one that is meant is asked, since a wrong code makes it wait.
    device = (TOTPDevice if is_of_app else StaticDevice).objects.filter(user=user).first()
    if device is None:
        raise DomainError(gettext(WRONG_CODE))
    allowed, extra = device.verify_is_allowed()
    if not allowed:
        seconds = ceil((extra["locked_until"] - timezone.now()).total_seconds())
        message = gettext("Too many wrong codes. Wait %(time)s, then enter a new one.")
        raise DomainError(message % {"time": wait(seconds)})
    with acting_as(lambda: user), transaction.atomic():
        accepted = verify_token(user, device.persistent_id, typed if is_of_app else _stored(typed))
        if accepted and not is_of_app:
            record(Action.RECOVERY_CODE_USED, None, user.get_username())
    if not accepted:
        raise DomainError(gettext(WRONG_CODE))


def await_code(session: SessionBase, user: User) -> None:
    """Remember in a session, which opens nothing yet, who has given the right password."""
    session[WAITING] = {
        "user": user.pk,
        "password": user.get_session_auth_hash(),
        "until": (timezone.now() + TIME_FOR_CODE).timestamp(),
    }


def awaited_user(session: SessionBase) -> User | None:
    """Return whose code the session waits for: None after TIME_FOR_CODE or a new password."""
    waiting = session.get(WAITING)
    if waiting is None or timezone.now().timestamp() > waiting["until"]:
        return None
    user = User.objects.filter(pk=waiting["user"], is_active=True).first()
    if user is None or not constant_time_compare(waiting["password"], user.get_session_auth_hash()):
        return None
    return user


def stop_awaiting(session: SessionBase) -> None:
    del session[WAITING]


def _new_recovery_codes(user: User) -> list[str]:
    codes = [b32encode(secrets.token_bytes(10)).decode().lower() for _ in range(RECOVERY_CODES)]
    StaticDevice.objects.filter(user=user).delete()
    device = StaticDevice.objects.create(user=user, name="recovery codes")
    for code in codes:
        device.token_set.create(token=_stored(code))
    return [_in_groups(code) for code in codes]


def _stored(recovery_code: str) -> str:
    """Return the hash of a code, which has 80 random bits, so that a copy of the database holds no codes."""
    return token_hash(recovery_code)[:16]


def _typed(code: str) -> str:
    return "".join(code.split()).replace("-", "").lower()


def _in_groups(code: str) -> str:
    return " ".join(code[start : start + 4] for start in range(0, len(code), 4))
