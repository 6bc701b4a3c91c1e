"""Invitations: links by which people join a project, each for one person."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotation.audit.actions import Action
from annotation.audit.log import acting_as, record
from annotation.errors import DomainError, NotAllowed, NotFound
from annotation.models import Invitation, Membership, Project, Rater, Role, token_hash
from annotation.people.members import add_rater

INVITATION_LIFE = timedelta(days=14)


@dataclass(frozen=True)
class Invitee:
    """One person to invite. `email` may be empty if the manager passes the link on."""

    role: str
    languages: Sequence[str] = ()
    email: str = ""
    note: str = ""


def invite(
    project: Project, role: str, languages: Sequence[str] = (), note: str = "", email: str = ""
) -> tuple[Invitation, str]:
    """Create an invitation; return it with its token.

    The token is not stored, so it cannot be shown again. Raises DomainError for an annotator without
    languages.
    """
    if role == Role.ANNOTATOR and not languages:
        raise DomainError("An annotator needs at least one language.")
    token = secrets.token_urlsafe(32)
    with transaction.atomic():
        invitation = Invitation.objects.create(
            project=project,
            role=role,
            languages=list(languages),
            note=note,
            email=email,
            token_hash=token_hash(token),
            expires_at=timezone.now() + INVITATION_LIFE,
        )
        details = {"languages": invitation.languages}
        record(Action.INVITATION_CREATED, project, invitation.described, details=details)
    return invitation, token


def invite_all(project: Project, invitees: Sequence[Invitee]) -> list[tuple[Invitation, str]]:
    """Create all of these invitations or none; return them with their tokens. Raises as `invite`."""
    with transaction.atomic():
        return [invite(project, each.role, each.languages, each.note, each.email) for each in invitees]


def find_invitation(token: str) -> Invitation:
    """Return the invitation of this token. Raises NotFound if it is unknown, used, revoked or expired."""
    invitation = (
        Invitation.objects.open().select_related("project").filter(token_hash=token_hash(token)).first()
    )
    if invitation is None:
        raise NotFound(
            gettext(
                "This invitation is invalid, used, revoked or expired. "
                "Ask the project's manager for a new one."
            )
        )
    return invitation


def accept_invitation(token: str, user: User) -> Project:
    """Give `user` the invitation's role.

    Raises NotFound as `find_invitation` does, and NotAllowed for a removed rater of the project, whose
    invitation stays open.
    """
    with acting_as(lambda: user), transaction.atomic():
        invitation = find_invitation(token)
        project = invitation.project
        if Rater.objects.filter(project=project, user=user, status=Rater.Status.REMOVED).exists():
            message = gettext(
                "You were removed from %(project)s, so this invitation does not let you join again. "
                "Ask its manager to reinstate you."
            )
            raise NotAllowed(message % {"project": project.name})
        taken = Invitation.objects.open().filter(pk=invitation.pk)
        if not taken.update(accepted_at=timezone.now(), accepted_by=user):
            raise NotFound(
                gettext("This invitation has already been used. Ask the project's manager for a new one.")
            )
        if invitation.role == Role.ANNOTATOR:
            add_rater(project, user, invitation.languages)
        else:
            Membership.objects.get_or_create(project=project, user=user, role=invitation.role)
        record(Action.INVITATION_ACCEPTED, project, invitation.described)
        return project


def revoke_invitation(invitation: Invitation) -> None:
    """Make the invitation's link invalid at once. Raises NotAllowed unless it is open."""
    with transaction.atomic():
        open_still = Invitation.objects.open().filter(pk=invitation.pk)
        if not open_still.update(revoked_at=timezone.now()):
            invitation.refresh_from_db()
            raise NotAllowed(f"This invitation is {invitation.status}, so there is nothing to revoke.")
        record(Action.INVITATION_REVOKED, invitation.project, invitation.described)
