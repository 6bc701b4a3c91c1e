"""manage.py agreement: agreement between raters, of a project or a file of ratings."""

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.declared.settings import SettingsRefused
from annotation.errors import DomainError
from annotation.imports.reading.proposal import CannotPropose
from annotation.imports.reading.rating_sheets import REPEATED
from annotation.imports.reading.records import FileRefused
from annotation.management.named_project import BAD_ARGUMENTS, named_project
from annotation.management.own_command import OwnCommand
from metaeval.agreement.method import (
    ALWAYS_VALID,
    ARTICLES,
    BY_LANGUAGE,
    BY_STATE,
    INTERVALS,
    OWN_SCALE,
    PARTS,
    AgreementMethod,
)
from metaeval.agreement.report import agreement_report, agreement_rows
from metaeval.export.formats import FORMATS, written
from metaeval.snapshot.from_files import read_ratings
from metaeval.stats.agreement.krippendorff import SCALES
from metaeval.stats.method import NONE
from metaeval.stats.result import each_once

OF_FILES = ("map", "missing", "repeated")
"""Options for `--input` only."""


class Command(OwnCommand):
    help = (
        "Print agreement between raters on each question, for each language and for all together: "
        "Krippendorff's alpha, Gwet's AC1 or AC2, pairwise agreement and others, with intervals. The ratings "
        "come from a project, or from a file (--input) without a database. Exit code 2: bad arguments."
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
            help="with --input: the name of a column in the file; OURS==VALUE for a constant",
        )
        parser.add_argument(
            "--missing",
            metavar="A,B,...",
            help="with --input: values that mean 'not answered', besides empty ones (default: NULL)",
        )
        parser.add_argument(
            "--repeated",
            choices=[*REPEATED],
            help="with --input: answers that count if a rater gave several to one question on one summary "
            "(default: refuse)",
        )
        parser.add_argument(
            "--scale", choices=[*SCALES], help="scale for alpha, AC and kappa (default: each question's own)"
        )
        parser.add_argument(
            "--interval",
            choices=[BY_STATE, *INTERVALS, NONE],
            default=BY_STATE,
            help=f"95%% interval (default: {BY_STATE}, which is {ALWAYS_VALID} until the project's campaign "
            f"is closed, then {ARTICLES}; for a file {ARTICLES})",
        )
        parser.add_argument("--resamples", type=int, default=AgreementMethod.resamples, metavar="N")
        parser.add_argument("--seed", type=int, default=AgreementMethod.seed, metavar="N")
        parser.add_argument(
            "--by",
            choices=[*PARTS],
            help=f"with --project: parts in which agreement is told apart (default: {BY_LANGUAGE})",
        )
        parser.add_argument("--language", default="", metavar="CODE", help="only this language, or 'all'")
        parser.add_argument("--group", default="", help="only raters of this group; all: all of them")
        parser.add_argument("--format", choices=FORMATS, default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        for_files = {name: options[name] for name in OF_FILES if options[name] not in (None, [])}
        notes: list[str] = []
        by = options["by"] or BY_LANGUAGE
        if options["project"] and for_files:
            raise CommandError(f"--{next(iter(for_files))} needs --input", returncode=BAD_ARGUMENTS)
        if options["input"] and options["by"]:
            raise CommandError("--by needs --project", returncode=BAD_ARGUMENTS)
        try:
            chosen = {
                "language": options["language"],
                "group": options["group"],
                "method": AgreementMethod(
                    options["scale"] or OWN_SCALE, options["interval"], options["resamples"], options["seed"]
                ),
            }
            if options["project"]:
                rows = agreement_rows(named_project(options["project"]), by=by, **chosen)
            else:
                report = agreement_report(*read_ratings(options["input"], for_files, notes), **chosen)
                rows = [figure.as_json() for figure in report]
        except CannotPropose as error:
            raise CommandError(f"{options['input'].name}, {error}", returncode=BAD_ARGUMENTS) from error
        except (DomainError, FileRefused, SettingsRefused) as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
        for note in notes:
            self.stderr.write(note)
        for warning in each_once(f"{row['question']}: {row['warning']}" for row in rows if "warning" in row):
            self.stderr.write(warning)
        self.stdout.write(
            written(rows, options["format"], down="question", across=(by, "statistic"), n="units")
        )
