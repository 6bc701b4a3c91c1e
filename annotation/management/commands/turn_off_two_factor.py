"""manage.py turn_off_two_factor: let somebody who lost their phone sign in with the password alone."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from annotation.management.named_project import BAD_ARGUMENTS
from annotation.management.own_command import OwnCommand
from annotation.people.two_factor import has_two_factor, turn_off


class Command(OwnCommand):
    help = "Turn off a user's two-factor authentication, so that the password alone signs them in."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="the username")

    def handle(self, *args: Any, **given: Any) -> str:
        user = User.objects.filter(username=given["name"]).first()
        if user is None or not has_two_factor(user):
            message = f"there is no account {given['name']!r} with two-factor authentication"
            raise CommandError(message, returncode=BAD_ARGUMENTS)
        turn_off(user)
        return f"Two-factor authentication of {user.get_username()} is off."
