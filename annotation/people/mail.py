"""Sending links by e-mail, where the operator has set a mail server."""

import logging
from collections.abc import Sequence
from smtplib import SMTPRecipientsRefused

from django.conf import settings
from django.core.mail import EmailMessage, get_connection

logger = logging.getLogger(__name__)


def sends_mail() -> bool:
    """Return whether a mail server is set. Without one, managers copy links."""
    return bool(settings.EMAIL_URL)


def send(mails: Sequence[EmailMessage]) -> list[EmailMessage]:
    """Send mails over one connection. Return those that could not be sent; the log says why.

    An address that the server refuses does not stop the others. A server that fails stops all.
    """
    unsent: list[EmailMessage] = []
    connection = get_connection()
    for number, mail in enumerate(mails):
        try:
            connection.open()  # does nothing while it is open
            connection.send_messages([mail])
        except SMTPRecipientsRefused as refusal:
            logger.warning("The mail server refuses an address: %s", refusal)
            unsent.append(mail)
        except OSError:
            logger.warning("%s mails could not be sent.", len(mails) - number, exc_info=True)
            return [*unsent, *mails[number:]]
    connection.close()
    return unsent
