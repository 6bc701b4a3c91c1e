"""manage.py create_project: an empty project, for those who work from the command line."""

from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation import protocol
from annotation.actions.projects import create_project
from annotation.errors import DomainError
from annotation.models import Questionnaire
from annotation.protocol import BUILT_IN

BAD_ARGUMENTS = 2


class Command(BaseCommand):
    help = "Make an empty project."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name")
        parser.add_argument(
            "--questionnaire",
            required=True,
            metavar="KEY",
            help="seahorse, summeval, or the key of one that was defined here",
        )
        parser.add_argument("--slug", default="", help="its address; made of the name if not given")
        parser.add_argument("--manager", metavar="USER", help="name of the account that manages it")

    def handle(self, *args: Any, **given: Any) -> str:
        manager = None
        if given["manager"]:
            manager = get_user_model().objects.filter(username=given["manager"]).first()
            if manager is None:
                raise CommandError(
                    f"there is no account {given['manager']!r}; make one with manage.py createsuperuser, or "
                    "leave out --manager",
                    returncode=BAD_ARGUMENTS,
                )
        try:
            project = create_project(
                given["name"], _questionnaire(given["questionnaire"]), manager, slug=given["slug"]
            )
        except DomainError as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
        return f"Made the project {project.name}, address {project.slug}."


def _questionnaire(key: str) -> protocol.Questionnaire:
    if key in BUILT_IN:
        return BUILT_IN[key]
    stored = Questionnaire.objects.filter(key=key).first()
    if stored is None:
        keys = sorted({*BUILT_IN, *Questionnaire.objects.values_list("key", flat=True)})
        raise CommandError(
            f"there is no questionnaire {key!r}; there are {', '.join(keys)}", returncode=BAD_ARGUMENTS
        )
    return stored.protocol
