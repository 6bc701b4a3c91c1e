"""A name that does not exist is refused, with those that do."""

from collections.abc import Sequence

from annotation.errors import DomainError


def refuse_unknown(name: str, value: str, allowed: Sequence[str]) -> None:
    """Raise DomainError unless `value` is among `allowed`, of which the empty one stands for no choice."""
    if value not in allowed:
        choices = ", ".join(choice for choice in allowed if choice)
        raise DomainError(f"{name}: found {value!r}, expected one of {choices or '(none yet)'}")
