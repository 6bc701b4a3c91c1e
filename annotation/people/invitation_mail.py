"""Mails that bring invitations."""

from collections.abc import Sequence

from django.core.mail import EmailMessage

from annotation.models import Invitation
from annotation.people.mail import send, sends_mail

INVITATION_MAIL = """You are invited to join “{project}” as {role}.

Open this link to join. It works once, until {until:%d %B %Y}:

{link}
"""


def mail_invitations(links: Sequence[tuple[Invitation, str]]) -> list[tuple[Invitation, str]]:
    """Mail each link to its invitation's address. Return those that were not mailed, to be copied."""
    if not sends_mail():
        return list(links)
    mails = {invitation.pk: _mail(invitation, link) for invitation, link in links if invitation.email}
    unsent = set(map(id, send(list(mails.values()))))
    return [(each, link) for each, link in links if each.pk not in mails or id(mails[each.pk]) in unsent]


def _mail(invitation: Invitation, link: str) -> EmailMessage:
    text = INVITATION_MAIL.format(
        project=invitation.project.name, role=invitation.role, until=invitation.expires_at, link=link
    )
    # A subject is one line, whatever the project's name has.
    subject = " ".join(f"Invitation to {invitation.project.name}".split())
    return EmailMessage(subject=subject, body=text, to=[invitation.email])
