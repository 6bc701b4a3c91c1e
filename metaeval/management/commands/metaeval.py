"""manage.py metaeval: the meta-evaluation page's figures, of a project or of files."""

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.errors import DomainError
from annotation.importers.records import FileRefused
from annotation.management.named_project import BAD_ARGUMENTS, named_project
from metaeval.choices import MetaevalChoices
from metaeval.comparison import compare, table_of
from metaeval.export.formats import FORMATS, written
from metaeval.files import read_scored_examples
from metaeval.judgements import ALL, Evaluator
from metaeval.label_rules import LABEL_RULES
from metaeval.metaeval_report import metaeval_rows
from metaeval.method import ITEMS, NONE, Method
from metaeval.refuse_unknown import refuse_unknown
from metaeval.snapshot import snapshot_of
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.significance.compare_pairs import TESTS
from metaeval.stats.significance.corrections import CORRECTIONS
from metaeval.stats.uncertainty.intervals import INTERVALS
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
        parser.add_argument("--interval", choices=[NONE, *INTERVALS], default=Method.interval)
        parser.add_argument(
            "--test", choices=[NONE, *TESTS], default=Method.test, help="tells evaluators apart, by letters"
        )
        parser.add_argument("--correction", choices=[NONE, *CORRECTIONS], default=Method.correction)
        parser.add_argument("--resamples", type=int, default=Method.resamples, metavar="N")
        parser.add_argument("--seed", type=int, default=Method.seed, metavar="N")
        parser.add_argument(
            "--items",
            choices=ITEMS,
            default=Method.items,
            help="own: each evaluator on all that it has scored; common: all on what every one has scored",
        )
        parser.add_argument("--language", default=ALL, metavar="CODE", help="only this language")
        parser.add_argument("--dataset", default=ALL, metavar="NAME", help="only articles of this dataset")
        parser.add_argument(
            "--system", action="append", default=[], metavar="NAME", help="only these systems; repeated"
        )
        parser.add_argument(
            "--evaluator",
            action="append",
            default=[],
            metavar="NAME",
            help="compare only these, repeated; what others have seen is then not left out",
        )
        parser.add_argument(
            "--question", action="append", default=[], metavar="KEY", help="only these dimensions; repeated"
        )
        parser.add_argument("--group", default="", help="with --project: labels of raters of this group only")
        parser.add_argument(
            "--labels",
            choices=LABEL_RULES,
            default="mean",
            help="with --project: how several raters' answers become one label",
        )
        parser.add_argument("--format", choices=FORMATS, default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            method = Method(**{field.name: options[field.name] for field in fields(Method)})
            rows = (
                self._of_project(options, method) if options["project"] else self._of_files(options, method)
            )
        except (DomainError, FileRefused, FaultyFile, OSError) as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
        self.stdout.write(written(rows, options["format"], down="evaluator", across=("dimension",), n="n"))

    def _of_project(self, options: dict[str, Any], method: Method) -> list[dict[str, object]]:
        if options["scores"]:
            raise CommandError("--scores goes with --input only", returncode=BAD_ARGUMENTS)
        project = named_project(options["project"])
        choices = MetaevalChoices(
            language=options["language"],
            dataset=options["dataset"],
            systems=tuple(options["system"]),
            questions=tuple(options["question"]),
            group=options["group"],
            labels=options["labels"],
            only=tuple(_keys(snapshot_of(project).evaluators, options["evaluator"])),
        )
        return metaeval_rows(project, choices, method)

    def _of_files(self, options: dict[str, Any], method: Method) -> list[dict[str, object]]:
        if not options["scores"]:
            raise CommandError("--input needs --scores, a file of scores", returncode=BAD_ARGUMENTS)
        if options["group"] or options["labels"] != "mean":
            raise CommandError("--group and --labels go with --project only", returncode=BAD_ARGUMENTS)
        summaries, labels, evaluators = read_scored_examples(options["input"], options["scores"])
        comparison = compare(
            summaries,
            evaluators,
            language=options["language"],
            dataset=options["dataset"],
            systems=options["system"],
            only=_keys(evaluators, options["evaluator"]),
        )
        for key in options["question"]:
            refuse_unknown("question", key, [each.key for each in labels])
        shown = [each for each in labels if not options["question"] or each.key in options["question"]]
        return table_of(comparison, shown, method).rows()


def _keys(evaluators: Sequence[Evaluator], names: Sequence[str]) -> list[str]:
    """Keys of the evaluators that bear these names. Raises DomainError for a name that nobody bears."""
    for name in names:
        refuse_unknown("evaluator", name, [each.label for each in evaluators])
    return [each.key for each in evaluators if each.label in names]
