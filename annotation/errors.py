"""Errors with messages for users. Views and the API turn them into responses."""

import difflib
from collections.abc import Collection


def suggestion(name: str, known: Collection[str], there_are: str = "there are") -> str:
    """Return what a message about an unknown name suggests: similar names, or else all known ones."""
    near = difflib.get_close_matches(name, known)
    return f"did you mean {' or '.join(near)}?" if near else f"{there_are} {', '.join(known) or 'none'}"


class DomainError(Exception):
    """An action is not possible. The message says why and what to do."""

    status = 400


class TryAgainLater(DomainError):
    """The server does this later. `after_s` says in how many seconds."""

    def __init__(self, message: str, after_s: int) -> None:
        from django.utils.translation import ngettext  # evaluators import this module, and load no Django

        self.after_s = after_s
        again = ngettext("Try again in %(seconds)s second.", "Try again in %(seconds)s seconds.", after_s)
        super().__init__(f"{message} {again % {'seconds': after_s}}")


class TooManyRequests(TryAgainLater):
    """One client asked too often."""

    status = 429


class Busy(TryAgainLater):
    """Other clients' requests take all that the server spares for this."""

    status = 503


class StillComputing(TryAgainLater):
    """The result takes longer than a request, and is kept for the same request later."""

    status = 503


class KeyInUse(TryAgainLater):
    """The first request with this idempotency key is in progress."""

    status = 409

    def __init__(self, after_s: int) -> None:
        super().__init__("Idempotency-Key: the first request with this key is still in progress.", after_s)


class KeyReused(DomainError):
    """Another request has this idempotency key."""

    status = 422

    def __init__(self) -> None:
        super().__init__("Idempotency-Key: another request had this key. Give each request its own.")


class NotAllowed(DomainError):
    """The user's role does not permit the action."""

    status = 403


class NotFound(DomainError):
    """There is no such object, or the user is no member of its project."""

    status = 404


class NotSignedIn(NotFound):
    """`NotFound` for a user who may find the object after signing in."""


class CampaignClosed(NotAllowed):
    """The campaign is closed, so nobody rates in it or changes a rating."""

    def __init__(self) -> None:
        from django.utils.translation import gettext  # as above

        super().__init__(
            gettext(
                "This campaign is closed. Its ratings are final, so nobody can rate or correct them. "
                "Only its manager can reopen it."
            )
        )


class StageClosed(DomainError):
    """The stage is locked, or not open yet."""

    status = 409


class AssignmentGone(DomainError):
    """The lease has ended, and another rater may have the summary."""

    status = 409


class GuidelinesUnconfirmed(DomainError):
    """The rater has to read and confirm the guidelines first."""

    status = 409


class DraftChanged(DomainError):
    """Somebody else has saved or published the draft in the meantime."""

    status = 409


class ImportEnded(DomainError):
    """The import is no longer waiting or running."""

    status = 409


class InvalidFields(DomainError):
    """Submitted values are invalid. `fields` maps their names to messages."""

    def __init__(self, fields: dict[str, str]) -> None:
        self.fields = fields
        super().__init__("; ".join(f"{key}: {message}" for key, message in fields.items()))


class InvalidImport(InvalidFields):
    """The file or an option of an import is invalid."""


class InvalidAnswers(InvalidFields):
    """The answers violate the protocol. The fields are question keys."""


class ContradictoryAnswers(InvalidFields):
    """The answers are valid, but the rater is asked once whether they mean them.

    The fields are question keys with the reason.
    """

    status = 409
