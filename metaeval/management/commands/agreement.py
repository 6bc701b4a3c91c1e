"""manage.py agreement: the agreement page's figures, of a project or of a file of ratings."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.errors import DomainError
from annotation.importers.options import OptionsRefused
from annotation.importers.proposal import CannotPropose
from annotation.importers.records import FileRefused
from annotation.management.named_project import BAD_ARGUMENTS, named_project
from metaeval.agreement_report import OWN_SCALE, agreement_report, agreement_rows
from metaeval.files import read_ratings
from metaeval.formats import FORMATS, written
from metaeval.stats.krippendorff import SCALES


class Command(BaseCommand):
    help = (
        "How well raters agree on each question: Krippendorff's alpha, pairwise agreement and the share of "
        "summaries on which all agree, for all languages together and for each. Of a project, or of a file "
        "of ratings (--input) without any database. Exit code 0: done; 2: bad arguments."
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
        parser.add_argument("--scale", choices=[*SCALES], help="for alpha; each question's own if not given")
        parser.add_argument("--language", default="", metavar="CODE", help="only this language, or 'all'")
        parser.add_argument("--group", default="", help="only raters of this group")
        parser.add_argument("--format", choices=FORMATS, default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["project"] and options["map"]:
            raise CommandError("--map goes with --input only", returncode=BAD_ARGUMENTS)
        chosen = {
            "language": options["language"],
            "group": options["group"],
            "scale": options["scale"] or OWN_SCALE,
        }
        try:
            if options["project"]:
                rows = agreement_rows(named_project(options["project"]), **chosen)
            else:
                report = agreement_report(*read_ratings(options["input"], options["map"]), **chosen)
                rows = [figure.as_json() for figure in report]
        except (DomainError, FileRefused, OptionsRefused, CannotPropose) as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
        self.stdout.write(
            written(rows, options["format"], down="question", across=("language", "statistic"), n="units")
        )
