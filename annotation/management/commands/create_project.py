"""manage.py create_project: create an empty project."""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import CommandError, CommandParser

from annotation import protocol
from annotation.errors import DomainError
from annotation.management.named_project import BAD_ARGUMENTS
from annotation.management.own_command import OwnCommand
from annotation.projects.settings import create_project, known_questionnaires


class Command(OwnCommand):
    help = "Create an empty project."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument(
            "--questionnaire",
            required=True,
            metavar="KEY",
            help="seahorse, summeval, frank-errors, yes-no, or the key of a stored questionnaire",
        )
        parser.add_argument("--slug", default="", help="address of the project (default: made from the name)")
        parser.add_argument("--manager", metavar="USER", help="username of the first manager")

    def handle(self, *args: Any, **given: Any) -> str:
        manager = None
        if given["manager"]:
            manager = get_user_model().objects.filter(username=given["manager"]).first()
            if manager is None:
                raise CommandError(
                    f"there is no account {given['manager']!r}; create one with manage.py createsuperuser, "
                    "or omit --manager",
                    returncode=BAD_ARGUMENTS,
                )
        try:
            project = create_project(
                given["name"], _questionnaire(given["questionnaire"]), manager, slug=given["slug"]
            )
        except DomainError as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
        return f"Created project {project.name} with the address {project.slug}."


def _questionnaire(key: str) -> protocol.Questionnaire:
    known = known_questionnaires()
    if key not in known:
        raise CommandError(
            f"unknown questionnaire {key!r}; expected one of {', '.join(sorted(known))}",
            returncode=BAD_ARGUMENTS,
        )
    return known[key]
