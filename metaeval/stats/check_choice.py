"""A name that does not exist is refused, with those that do."""

from collections.abc import Sequence

from annotation.errors import DomainError


def check_choice(name: str, value: str, allowed: Sequence[str]) -> None:
    """Raise DomainError unless `value` is among `allowed`; an empty one means no choice."""
    if value not in allowed:
        choices = ", ".join(choice for choice in allowed if choice)
        raise DomainError(f"{name}: found {value!r}, expected one of {choices or '(none yet)'}")
