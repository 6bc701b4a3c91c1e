"""manage.py reparse: read a run's stored replies again and report which scores change."""

import json
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.errors import DomainError
from annotation.management.own_command import OwnCommand
from scoring.errors import RunBusy
from scoring.models import Run
from scoring.runs.reparsing import Reparsing, reparse, store_reparsed

FAILED_IN_PART, BAD_ARGUMENTS = 1, 2


class Command(OwnCommand):
    help = (
        "Read a run's stored replies again with the present reader, without asking the model. The scores "
        "become a new run; the old ones stay. "
        "Exit code 0: done; 1: some replies give no score, with the reasons listed; 2: bad arguments."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", type=int, metavar="RUN", help="the run's number")
        parser.add_argument("--dry-run", action="store_true", help="report what would change, store nothing")
        parser.add_argument("--json", action="store_true", help="print JSON for programs")

    def handle(self, *args: Any, **options: Any) -> None:
        run = Run.objects.select_related("setup__project").filter(pk=options["run"]).first()
        if run is None:
            raise CommandError(f"there is no run {options['run']}", returncode=BAD_ARGUMENTS)
        try:
            found = reparse(run.setup)
            writes = found.is_by_another_reader and not options["dry_run"]
            stored = store_reparsed(found) if writes else None
        except RunBusy as error:
            raise CommandError(str(error), returncode=FAILED_IN_PART) from error
        except DomainError as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
        if options["json"]:
            self.stdout.write(json.dumps(_described(found, stored), indent=2))
        else:
            self._tell(found, stored, dry_run=options["dry_run"])
        if found.reasons:
            raise CommandError(
                f"{sum(found.reasons.values()):,} replies give no score.", returncode=FAILED_IN_PART
            )

    def _tell(self, found: Reparsing, stored: Run | None, *, dry_run: bool) -> None:
        self.stdout.write(f"{found.setup.label}: {found.replies:,} replies")
        self.stdout.write(
            f"Values: {found.changed:,} changed, {found.appeared:,} appeared, {found.vanished:,} vanished"
        )
        for reason, count in sorted(found.reasons.items()):
            self.stdout.write(f"{count:>9,}  {reason}")
        if stored is not None:
            self.stdout.write(f"Run {stored.pk}: {stored.setup.label}\n{stored.setup.signature}")
        elif not found.is_by_another_reader:
            self.stdout.write("The run already used the present reader. Nothing was stored.")
        elif dry_run:
            self.stdout.write("This was a dry run: nothing was stored.")


def _described(found: Reparsing, stored: Run | None) -> dict[str, Any]:
    return {
        "replies": found.replies,
        "changed": found.changed,
        "appeared": found.appeared,
        "vanished": found.vanished,
        "reasons": found.reasons,
        "run": stored.pk if stored else None,
    }
