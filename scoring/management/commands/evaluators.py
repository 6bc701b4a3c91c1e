"""manage.py evaluators: describe evaluators; without arguments, the text of docs/evaluators.md."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.management.own_command import OwnCommand
from scoring.evaluators import UnknownEvaluator
from scoring.evaluators.catalogue import as_markdown, describe

BAD_ARGUMENTS = 2


class Command(OwnCommand):
    help = "Describe evaluators: what they need, what they score, their parameters and defaults."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", nargs="?", help="an evaluator; default: all")
        parser.add_argument("--json", action="store_true", help="print JSON for programs")

    def handle(self, *args: Any, **options: Any) -> str:
        names = [options["name"]] if options["name"] else None
        try:
            if options["json"]:
                return json.dumps(describe(names), indent=2, ensure_ascii=False)
            return as_markdown(names)
        except UnknownEvaluator as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
