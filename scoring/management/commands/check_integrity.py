"""manage.py check_integrity: verify rules that the stored data always keep."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import connection

from annotation.management.named_project import named_project
from annotation.management.own_command import OwnCommand
from scoring.integrity.checks import CHECKS, CheckResult, check_results

FOUND = 1


class Command(OwnCommand):
    help = (
        "Verify the stored data: ratings, places, leases, runs, scores and the database itself. Safe while "
        "people rate and workers score. Exit code 0: sound; 1: rows that break a rule; 2: unknown project."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--project", metavar="SLUG", help="only this project; default: the whole database"
        )
        parser.add_argument("--json", action="store_true", help="print JSON for programs")

    def handle(self, *args: Any, **options: Any) -> None:
        project = named_project(options["project"]) if options["project"] else None
        found = []
        for result in check_results(project):
            found.append(result)
            progress = self.stderr if options["json"] else self.stdout
            progress.write(_line(result), lambda text: text)
            progress.flush()
        if options["json"]:
            self.stdout.write(json.dumps([_as_json(each) for each in found], indent=2, ensure_ascii=False))
        elif project is None and connection.vendor != "sqlite":
            names = " and ".join(check.name for check in CHECKS if check.only_sqlite)
            self.stdout.write(f"not checked: {names}, which PostgreSQL has no command for")
        broken = [each.check.name for each in found if each.broken]
        if broken:
            raise CommandError(
                f"Rules are broken ({len(broken)} of {len(found)}): {', '.join(broken)}.",
                returncode=FOUND,
            )
        if not options["json"]:
            self.stdout.write(f"Sound: {len(found)} checks found nothing.")


def _line(result: CheckResult) -> str:
    start = f"{result.check.name} ({result.seconds:.1f} s)"
    if not result.broken:
        return f"{start}: sound"
    more = ", ..." if result.broken > len(result.examples) else ""
    rows = f"{', '.join(result.examples)}{more}"
    return f"{start}: FOUND {result.broken:,}: {rows}\n  Rule: {result.check.rule}"


def _as_json(result: CheckResult) -> dict[str, Any]:
    return {
        "check": result.check.name,
        "rule": result.check.rule,
        "broken": result.broken,
        "examples": result.examples,
        "seconds": round(result.seconds, 3),
    }
