"""What the domain refuses, in words for the person who asked. Views and API turn these into responses."""


class DomainError(Exception):
    """Something that cannot be done; the message says why and what to do instead."""

    status = 400


class NotAllowed(DomainError):
    """The person's role does not permit it."""

    status = 403


class NotFound(DomainError):
    """There is no such thing, or it is in a project the person has no part in."""

    status = 404


class NotSignedIn(NotFound):
    """`NotFound`, for somebody who may find it once they have signed in."""


class StageClosed(DomainError):
    """The stage is locked, or not open yet."""

    status = 409


class AssignmentGone(DomainError):
    """The lease was released and the summary may be with another rater."""

    status = 409


class InvalidImport(DomainError):
    """The file or an option cannot be what it was said to be; `fields` maps form fields to what is wrong."""

    def __init__(self, fields: dict[str, str]) -> None:
        self.fields = fields
        super().__init__("; ".join(f"{key}: {message}" for key, message in fields.items()))


class InvalidAnswers(DomainError):
    """The answers break the protocol; `fields` maps question keys to what is wrong."""

    def __init__(self, fields: dict[str, str]) -> None:
        self.fields = fields
        super().__init__("; ".join(f"{key}: {message}" for key, message in fields.items()))
