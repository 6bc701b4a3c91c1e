"""manage.py metaeval: the meta-evaluation page's figures, of a project or of files."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.errors import DomainError
from annotation.importers.records import FileRefused
from annotation.management.named_project import BAD_ARGUMENTS, named_project
from metaeval.files import read_scored_examples
from metaeval.formats import FORMATS, written
from metaeval.judgements import ALL
from metaeval.metaeval_report import compare, metaeval_rows
from metaeval.stats.coefficients import COEFFICIENTS
from metaeval.stats.levels import LEVELS
from scoring.examples import FaultyFile


class Command(BaseCommand):
    help = (
        "How well evaluators agree with human labels on each dimension. Of a project, or of an examples file "
        "with labels and files of scores (--input, --scores) without any database. Exit code 0: done; "
        "2: bad arguments."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument("--project", metavar="SLUG")
        where.add_argument("--input", type=Path, metavar="EXAMPLES", help="examples with labels, JSONL")
        parser.add_argument(
            "--scores",
            action="append",
            type=Path,
            default=[],
            metavar="SCORES",
            help="with --input: one evaluator's scores, JSONL; repeated, the evaluators are compared",
        )
        parser.add_argument("--level", choices=LEVELS, default="pooled")
        parser.add_argument("--coefficient", choices=COEFFICIENTS, default="spearman")
        parser.add_argument("--language", default=ALL, metavar="CODE", help="only this language")
        parser.add_argument("--group", default="", help="with --project: labels of raters of this group only")
        parser.add_argument("--format", choices=FORMATS, default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            rows = self._of_project(options) if options["project"] else self._of_files(options)
        except (DomainError, FileRefused, FaultyFile, OSError) as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
        self.stdout.write(written(rows, options["format"], down="evaluator", across=("dimension",), n="n"))

    def _of_project(self, options: dict[str, Any]) -> list[dict[str, object]]:
        if options["scores"]:
            raise CommandError("--scores goes with --input only", returncode=BAD_ARGUMENTS)
        return metaeval_rows(
            named_project(options["project"]),
            level=options["level"],
            coefficient=options["coefficient"],
            language=options["language"],
            group=options["group"],
        )

    def _of_files(self, options: dict[str, Any]) -> list[dict[str, object]]:
        if not options["scores"]:
            raise CommandError("--input needs --scores, a file of scores", returncode=BAD_ARGUMENTS)
        if options["group"]:
            raise CommandError("--group goes with --project only", returncode=BAD_ARGUMENTS)
        summaries, labels, evaluators = read_scored_examples(options["input"], options["scores"])
        comparison = compare(summaries, evaluators, language=options["language"])
        figures = comparison.figures(labels, options["level"], options["coefficient"])
        return [figure.as_json() for figure in figures]
