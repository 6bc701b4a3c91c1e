"""Messages between a rater and the managers of the project: writing, reading, and who may.

A rater writes to all managers together, and reads only the correspondence of their own.
"""

from collections.abc import Iterable

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from annotation.audit.actions import Action
from annotation.audit.log import record
from annotation.errors import InvalidFields, NotAllowed, NotFound
from annotation.models import Project, Rater, RaterMessage
from annotation.permissions import Permission, require

LONGEST_MESSAGE = 2000  # characters
MESSAGES_A_DAY = 20


def own_correspondence(user: User, rater: Rater) -> QuerySet[RaterMessage]:
    """Return the messages of the user's own correspondence as a rater, newest first.

    Raises NotFound for another person's rater, and NotFound or NotAllowed unless the rater may rate.
    """
    _require_own(user, rater)
    return rater.messages.all()


def correspondence_with(user: User, rater: Rater) -> QuerySet[RaterMessage]:
    """Return the messages of a rater's correspondence with their authors, newest first.

    Raises NotAllowed or NotFound unless `user` manages the project's people.
    """
    require(user, rater.project, Permission.MANAGE_PEOPLE)
    return rater.messages.select_related("author")


def write_to_managers(user: User, rater: Rater, text: str) -> RaterMessage:
    """Store a rater's message to the managers of the project.

    Raises as `own_correspondence`, and InvalidFields for an empty text, one that is too long, and after
    `MESSAGES_A_DAY` messages since midnight in the server's time zone.
    """
    _require_own(user, rater)
    text = read_text(text)
    now = timezone.localtime()
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    with transaction.atomic():
        Rater.objects.select_for_update().get(pk=rater.pk)  # two requests would both be the last of the day
        if rater.messages.filter(from_manager=False, written_at__gte=midnight).count() >= MESSAGES_A_DAY:
            limit = ngettext(
                "You have written %(n)s message today, which is the limit. Write tomorrow.",
                "You have written %(n)s messages today, which is the limit. Write tomorrow.",
                MESSAGES_A_DAY,
            )
            raise InvalidFields({"text": limit % {"n": MESSAGES_A_DAY}})
        return rater.messages.create(from_manager=False, author=user, text=text, written_at=now)


def write_to_rater(user: User, rater: Rater, text: str) -> RaterMessage:
    """Store a manager's message to one rater.

    Raises as `correspondence_with`, NotAllowed for a rater who cannot read it, and InvalidFields for an empty
    text and one that is too long.
    """
    require(user, rater.project, Permission.MANAGE_PEOPLE)
    if reason := reason_unreachable(rater):
        raise NotAllowed(reason)
    return rater.messages.create(
        from_manager=True, author=user, text=read_text(text), written_at=timezone.now()
    )


def write_to_raters(user: User, project: Project, text: str, language: str = "") -> int:
    """Store a manager's message once for each of `active_raters`, and return their number.

    Raises as `write_to_rater`, and InvalidFields if there are no such raters.
    """
    require(user, project, Permission.MANAGE_PEOPLE)
    text, now, raters = read_text(text), timezone.now(), active_raters(project, language)
    if not raters:
        raise InvalidFields({"language": "Found no active raters with a login."})
    with transaction.atomic():
        RaterMessage.objects.bulk_create(
            RaterMessage(rater=rater, from_manager=True, author=user, text=text, written_at=now)
            for rater in raters
        )
        details = {"raters": len(raters), "language": language}
        record(Action.RATERS_WRITTEN_TO, project, language or "all raters", details=details)
    return len(raters)


def read_text(text: str) -> str:
    """Return a message as it is stored. Raises InvalidFields for an empty text and one that is too long."""
    text = "\n".join(text.strip().splitlines())  # browsers send two characters for a line's end
    if not text:
        raise InvalidFields({"text": gettext("Write a message first.")})
    if len(text) > LONGEST_MESSAGE:
        found = ngettext(
            "Found %(n)s character. The limit is %(limit)s.",
            "Found %(n)s characters. The limit is %(limit)s.",
            len(text),
        )
        raise InvalidFields({"text": found % {"n": f"{len(text):,}", "limit": f"{LONGEST_MESSAGE:,}"}})
    return text


def active_raters(project: Project, language: str = "") -> list[Rater]:
    """Return raters with a login who are neither suspended nor removed, or those of one language."""
    raters = project.raters.active().filter(user__isnull=False)
    return [rater for rater in raters if not language or language in rater.languages]


def reason_unreachable(rater: Rater) -> str:
    """Return the reason why a rater cannot read messages; empty if they can."""
    if rater.user_id is None:
        return f"{rater} was imported and has no login, so nobody can read messages to them."
    if rater.status == Rater.Status.REMOVED:
        return f"{rater} is removed, so they cannot read messages. Reinstate them first."
    return ""


def mark_read(shown: Iterable[RaterMessage], *, from_manager: bool) -> None:
    """Note that messages from one side were shown to the other. The objects stay as they are."""
    unread = [each.pk for each in shown if each.from_manager == from_manager and each.read_at is None]
    if unread:
        RaterMessage.objects.unread(from_manager=from_manager).filter(pk__in=unread).update(
            read_at=timezone.now()
        )


def _require_own(user: User, rater: Rater) -> None:
    if rater.user_id != user.pk:
        raise NotFound(gettext("There is no such correspondence of yours."))
    require(user, rater.project, Permission.RATE)
