"""The base of Touchstone's commands."""

from django.core.management.base import BaseCommand


class OwnCommand(BaseCommand):
    """A command without Django's checks, which import every page and take a second. `check` makes them."""

    requires_system_checks = ()
