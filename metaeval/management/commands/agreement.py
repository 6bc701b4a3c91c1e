"""manage.py agreement: the agreement page's figures, of a project or of a file of ratings."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.errors import DomainError
from annotation.importers.options import OptionsRefused
from annotation.importers.proposal import CannotPropose
from annotation.importers.records import FileRefused
from annotation.management.named_project import BAD_ARGUMENTS, named_project
from metaeval.agreement.method import INTERVALS, OWN_SCALE, AgreementMethod
from metaeval.agreement.report import agreement_report, agreement_rows
from metaeval.export.formats import FORMATS, written
from metaeval.files import read_ratings
from metaeval.method import NONE
from metaeval.stats.agreement.krippendorff import SCALES


class Command(BaseCommand):
    help = (
        "How well raters agree on each question: Krippendorff's alpha, Gwet's AC1 or AC2, pairwise agreement "
        "and others, with intervals, for all languages together and for each. Of a project, or of a file of "
        "ratings (--input) without any database. Exit code 0: done; 2: bad arguments."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--project", metavar="SLUG")
        where.add_argument("--input", type=Path, metavar="RATINGS", help="ratings, CSV, TSV or JSONL")
        parser.add_argument(
            "--map",
            action="append",
            default=[],
            metavar="OURS=THEIRS",
            help="with --input: what the file calls a column; ours==value where it is the same on all rows",
        )
        parser.add_argument(
            "--missing",
            metavar="A,B,...",
            help="with --input: values that mean 'not answered', besides an empty one; NULL if not given",
        )
        parser.add_argument(
            "--scale", choices=[*SCALES], help="for alpha, AC and kappa; each question's own if not given"
        )
        parser.add_argument(
            "--interval", choices=[*INTERVALS, NONE], default=AgreementMethod.interval, help="95%%"
        )
        parser.add_argument("--resamples", type=int, default=AgreementMethod.resamples, metavar="N")
        parser.add_argument("--seed", type=int, default=AgreementMethod.seed, metavar="N")
        parser.add_argument("--language", default="", metavar="CODE", help="only this language, or 'all'")
        parser.add_argument("--group", default="", help="only raters of this group")
        parser.add_argument("--format", choices=FORMATS, default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        for_files = {name: options[name] for name in ("map", "missing") if options[name] not in (None, [])}
        if options["project"] and for_files:
            raise CommandError(f"--{next(iter(for_files))} goes with --input only", returncode=BAD_ARGUMENTS)
        try:
            chosen = {
                "language": options["language"],
                "group": options["group"],
                "method": AgreementMethod(
                    options["scale"] or OWN_SCALE, options["interval"], options["resamples"], options["seed"]
                ),
            }
            if options["project"]:
                rows = agreement_rows(named_project(options["project"]), **chosen)
            else:
                report = agreement_report(*read_ratings(options["input"], for_files), **chosen)
                rows = [figure.as_json() for figure in report]
        except CannotPropose as error:
            raise CommandError(f"{options['input'].name}, {error}", returncode=BAD_ARGUMENTS) from error
        except (DomainError, FileRefused, OptionsRefused) as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
        self.stdout.write(
            written(rows, options["format"], down="question", across=("language", "statistic"), n="units")
        )
