"""New passwords by link: who may have a link made, and what a new password ends.

A link works once and for PASSWORD_RESET_TIMEOUT, as Django's tokens do: they depend on the old password.
"""

from datetime import timedelta

from axes.utils import reset as unblock
from django.contrib.auth.models import User
from django.contrib.auth.tokens import default_token_generator
from django.core.mail import EmailMessage
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.encoding import force_bytes
from django.utils.http import urlsafe_base64_encode
from django.utils.translation import gettext, gettext_noop

from annotation.audit.actions import Action
from annotation.audit.log import acting_as, record
from annotation.errors import NotAllowed, NotFound
from annotation.models import AuditEntry, Membership, Project, Rater, Role

PAUSE_BETWEEN_MAILS = timedelta(minutes=10)
MOST_ACCOUNTS = 5
"""Accounts with the same e-mail address that get a mail each."""
TEXT = gettext_noop(
    """Somebody, probably you, asked for a new password for the account “%(name)s”.

Open this link to choose one. It works once, for 24 hours:

%(link)s

If you did not ask for it, ignore this mail. Your password stays as it is.
"""
)


def password_link(user: User) -> str:
    """Return the path of a page on which `user` chooses a new password, and record it as an account event."""
    with transaction.atomic():
        record(Action.PASSWORD_LINK_CREATED, None, user.get_username())
    return _path(user)


def password_link_for(manager: User, project: Project, user_id: int) -> tuple[User, str]:
    """Return a person of the project and what `password_link` does, for their manager to pass on.

    Raises NotAllowed for the people of `link_refusals`, and NotFound for people of other projects.
    """
    user = _people_of(project).filter(pk=user_id).first()
    if user is None:
        raise NotFound("There is no such person in this project.")
    refusal = link_refusals(manager, project).get(user.pk)
    if refusal is not None:
        raise NotAllowed(refusal)
    with transaction.atomic():
        record(Action.PASSWORD_LINK_CREATED, project, user.get_username())
    return user, _path(user)


def link_refusals(manager: User, project: Project) -> dict[int, str]:
    """Return the people of the project for whom `manager` gets no password link: user id -> the reason.

    Whoever has the link can take the account over. So a manager gets links only for people who belong to
    no project but their own, and neither manage one nor administrate. A superuser gets one for every open
    account.
    """
    managed = Membership.objects.filter(user=manager, role=Role.MANAGER).values("project")
    theirs = {"user": OuterRef("pk")}
    people = _people_of(project).annotate(
        manages=Exists(Membership.objects.filter(role=Role.MANAGER, **theirs)),
        is_elsewhere=Exists(Membership.objects.filter(**theirs).exclude(project__in=managed))
        | Exists(Rater.objects.filter(**theirs).exclude(project__in=managed)),
    )
    ask = "Ask an administrator for a password link."
    refusals = {}
    for user in people:
        name = user.get_username()
        if not user.is_active:
            refusals[user.pk] = f"The account of {name} is closed. Ask an administrator to open it."
        elif manager.is_superuser:
            continue
        elif user.is_staff or user.is_superuser:
            refusals[user.pk] = f"Only another administrator can set the password of {name}."
        elif user.manages:
            refusals[user.pk] = f"{name} manages a project, so no other manager can set their password. {ask}"
        elif user.is_elsewhere:
            refusals[user.pk] = f"{name} also belongs to projects that you do not manage. {ask}"
    return refusals


def _people_of(project: Project) -> QuerySet[User]:
    return User.objects.filter(
        Q(pk__in=project.raters.values("user")) | Q(pk__in=project.memberships.values("user"))
    )


def password_mails(name_or_email: str, site: str) -> list[EmailMessage]:
    """Return mails with links for the accounts of this name or address. `site` comes before their paths.

    An account has at most one mail in PAUSE_BETWEEN_MAILS, so that nobody can flood a mailbox.
    """
    named = User.objects.filter(
        Q(username=name_or_email) | Q(email__iexact=name_or_email), is_active=True
    ).exclude(email="")
    recently = AuditEntry.objects.filter(
        action=Action.PASSWORD_LINK_MAILED, at__gt=timezone.now() - PAUSE_BETWEEN_MAILS
    )
    mails = []
    for user in named.exclude(username__in=recently.values("object")).order_by("pk")[:MOST_ACCOUNTS]:
        with transaction.atomic():
            record(Action.PASSWORD_LINK_MAILED, None, user.get_username())
        text = gettext(TEXT) % {"name": user.get_username(), "link": f"{site}{_path(user)}"}
        subject = gettext("New password for Touchstone")
        mails.append(EmailMessage(subject=subject, body=text, to=[user.email]))
    return mails


def finish_reset(user: User) -> None:
    """Record that `user` has chosen a new password by link, and end the block after wrong ones.

    The user's sessions and API tokens have ended with the old password.
    """
    with acting_as(lambda: user), transaction.atomic():
        record(Action.PASSWORD_RESET, None)
    unblock(username=user.get_username())


def _path(user: User) -> str:
    uid = urlsafe_base64_encode(force_bytes(user.pk))
    return reverse("password_reset", args=[uid, default_token_generator.make_token(user)])
