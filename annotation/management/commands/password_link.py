"""manage.py password_link: print a link on which a user chooses a new password."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from annotation.management.named_project import BAD_ARGUMENTS
from annotation.management.own_command import OwnCommand
from annotation.people.passwords import password_link


class Command(OwnCommand):
    help = "Print a link on which a user chooses a new password. It works once, for 24 hours."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the username")
        parser.add_argument(
            "--site", default="http://localhost:8000", help="address of the platform (default: %(default)s)"
        )

    def handle(self, *args: Any, **given: Any) -> str:
        user = User.objects.filter(username=given["name"], is_active=True).first()
        if user is None:
            raise CommandError(f"there is no open account {given['name']!r}", returncode=BAD_ARGUMENTS)
        return given["site"].rstrip("/") + password_link(user)
