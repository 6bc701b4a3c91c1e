"""Personal API tokens: creating and deleting them, and what ends them."""

import secrets
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.db.models.signals import post_save
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import DomainError, NotAllowed, NotFound
from annotation.models import ApiToken, Project, token_hash
from annotation.permissions import Permission, projects_for

LIFETIMES = (30, 90, 365)
"""Days until a token expires, as its owner chooses."""
USUAL_LIFETIME = 90


SCOPES = {
    ApiToken.Scope.READ: Permission.SEE_PROGRESS,
    ApiToken.Scope.RATE: Permission.RATE,
    ApiToken.Scope.MANAGE: Permission.MANAGE_PROJECT,
}
"""Scope of a token -> what its owner must be permitted in a project."""


def projects_of_tokens(user: User, scope: str) -> QuerySet[Project]:
    """Return the projects that a token of this scope opens to the user."""
    return projects_for(user, SCOPES[ApiToken.Scope(scope)]).order_by("name")


def issue_api_token(
    user: User,
    label: str,
    days: int = USUAL_LIFETIME,
    project: Project | None = None,
    scope: str = ApiToken.Scope.READ,
) -> tuple[ApiToken, str]:
    """Return a new API token and its text, which is not stored.

    It opens all of the user's projects, or one. Raises DomainError for another lifetime than LIFETIMES, and
    NotAllowed for a project in which the user may not do what the token is for.
    """
    if days not in LIFETIMES:
        raise DomainError(f"A token works for {', '.join(map(str, LIFETIMES))} days, not {days}.")
    if project is not None and project not in projects_of_tokens(user, scope):
        raise NotAllowed(f"You may not {scope} in {project.name} through the API. Choose another project.")
    text = secrets.token_urlsafe(32)
    with transaction.atomic():
        token = ApiToken.objects.create(
            user=user,
            label=label,
            token_hash=token_hash(text),
            project=project,
            scope=scope,
            expires_at=timezone.now() + timedelta(days=days),
        )
        record(Action.TOKEN_CREATED, None, token)
    return token, text


def delete_api_token(user: User, token_id: int) -> ApiToken:
    """Delete one of the user's tokens and return it. Raises NotFound."""
    token = user.api_tokens.filter(pk=token_id).first()
    if token is None:
        raise NotFound(gettext("You have no such token. It may have been deleted already."))
    with transaction.atomic():
        record(Action.TOKEN_DELETED, None, token)
        token.delete()
    return token


@receiver(post_save, sender=User, dispatch_uid="end_api_tokens")
def _end_api_tokens(instance: User, created: bool, **_: object) -> None:
    """Delete the tokens of an account that is closed or has a new password.

    Called for each saved account, so that pages, links, /admin/ and commands cannot forget it. Django
    remembers a new password until it is saved, but not a new hash of the old one.
    """
    has_new_password = instance._password is not None  # type: ignore[attr-defined]
    if created or not (has_new_password or not instance.is_active):
        return
    reason = "The account was closed." if not instance.is_active else "The password was changed."
    with transaction.atomic():
        for token in instance.api_tokens.all():
            record(Action.TOKEN_DELETED, None, f"{token} of {instance.get_username()}", reason=reason)
            token.delete()
