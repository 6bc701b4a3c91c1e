"""manage.py metaeval: agreement of evaluators with human labels, of a project or of files."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.errors import DomainError
from annotation.imports.reading.records import FileRefused
from annotation.management.named_project import BAD_ARGUMENTS, named_project
from annotation.management.own_command import OwnCommand
from metaeval.across_projects.data_sets import (
    BY,
    asked_keys,
    dimension_of,
    figures_of,
    parts_of,
    with_questions,
)
from metaeval.across_projects.report import across_table
from metaeval.comparison.comparison import compare, table_of
from metaeval.comparison.report import comparison_table
from metaeval.export.formats import FORMATS, written
from metaeval.live.choices import ComparisonChoices
from metaeval.snapshot.arrays import ALL, SetupScores
from metaeval.snapshot.from_files import read_scored_examples
from metaeval.snapshot.label_rules import LABEL_RULES
from metaeval.snapshot.snapshot import Snapshot, snapshot_of
from metaeval.stats.check_choice import check_choice
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.constant_scores import CONSTANT
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import BY_LEVEL, BY_TEST, ITEMS, NONE, ONE_LOOK, Method
from metaeval.stats.result import each_once
from metaeval.stats.significance.compare_pairs import TESTS
from metaeval.stats.significance.corrections import CORRECTIONS
from metaeval.stats.uncertainty.intervals import INTERVALS

OF_ONE_PROJECT: dict[str, object] = {
    "interval": Method.interval,
    "test": Method.test,
    "correction": Method.correction,
    "margin": Method.margin,
    "resamples": Method.resamples,
    "seed": Method.seed,
    "items": Method.items,
    "language": ALL,
    "dataset": ALL,
    "system": [],
    "evaluator": [],
    "group": "",
}
"""Options that one project takes and several do not, and their defaults."""


class Command(OwnCommand):
    help = (
        "Print how well evaluators agree with human labels on each dimension. Labels and scores come from a "
        "project, or from files (--input, --scores) without a database. Exit code 2: bad arguments."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        where = parser.add_mutually_exclusive_group(required=True)
        where.add_argument(
            "--project",
            action="append",
            metavar="SLUG",
            help="repeat for several: one table by project, with random-effects means",
        )
        where.add_argument("--input", type=Path, metavar="EXAMPLES", help="examples with labels, JSONL")
        parser.add_argument(
            "--scores",
            action="append",
            type=Path,
            default=[],
            metavar="SCORES",
            help="with --input: one evaluator's scores, JSONL, or a table with a column for each metric;"
            " repeat for several",
        )
        parser.add_argument(
            "--only-known",
            action="store_true",
            help="with --input: leave out scores of summaries that are no examples, and count them",
        )
        parser.add_argument("--level", choices=LEVELS, default="pooled")
        parser.add_argument("--coefficient", choices=COEFFICIENTS, default="spearman")
        parser.add_argument(
            "--interval",
            choices=[BY_LEVEL, ONE_LOOK, NONE, *INTERVALS],
            default=Method.interval,
            help=f"95%% interval; {BY_LEVEL}: with --project one that holds at every look until the campaign"
            f" is closed; {ONE_LOOK}: the one that holds at the level at one look",
        )
        parser.add_argument(
            "--test",
            choices=[BY_LEVEL, ONE_LOOK, NONE, *TESTS],
            default=Method.test,
            help="significance test between evaluators",
        )
        parser.add_argument("--correction", choices=[BY_TEST, NONE, *CORRECTIONS], default=Method.correction)
        parser.add_argument(
            "--margin",
            type=float,
            default=Method.margin,
            metavar="M",
            help="with a test: also test which evaluators are as good as others, within M; for example 0.02",
        )
        parser.add_argument("--resamples", type=int, default=Method.resamples, metavar="N")
        parser.add_argument("--seed", type=int, default=Method.seed, metavar="N")
        parser.add_argument(
            "--items",
            choices=ITEMS,
            default=Method.items,
            help="own: all that the evaluator has scored; common: what every evaluator has scored",
        )
        parser.add_argument(
            "--constant",
            choices=CONSTANT,
            default=Method.constant,
            help="articles whose scores are all equal: counted as 0, or left out",
        )
        parser.add_argument("--language", default=ALL, metavar="CODE", help="only this language")
        parser.add_argument("--dataset", default=ALL, metavar="NAME", help="only articles of this dataset")
        parser.add_argument(
            "--system",
            action="append",
            default=[],
            metavar="NAME",
            help="only these systems; repeat for several",
        )
        parser.add_argument(
            "--evaluator",
            action="append",
            default=[],
            metavar="NAME",
            help="compare only these; repeat for several",
        )
        parser.add_argument(
            "--question",
            action="append",
            default=[],
            metavar="KEY",
            help="only these questions; repeat for several. With several projects also SLUG:KEY, the question"
            " that counts in one of them",
        )
        parser.add_argument(
            "--by",
            choices=BY,
            default="project",
            help="with several projects: a column for each project, or for each dataset that articles name",
        )
        parser.add_argument(
            "--group",
            default="",
            help="with --project: only labels by this group of raters; all: by all of them",
        )
        parser.add_argument(
            "--labels",
            choices=LABEL_RULES,
            default="mean",
            help="with --project: how the answers of several raters become one label",
        )
        parser.add_argument("--format", choices=FORMATS, default="table")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            method = _method(options, is_live=False)
            method.refuse_inapplicable_test()
            layout: dict[str, Any] = {"across": ("dimension",)}
            if options["by"] != "project" and len(options["project"] or ()) < 2:
                raise CommandError("--by goes with several --project only", returncode=BAD_ARGUMENTS)
            if options["input"]:
                rows = self._of_files(options, method)
            elif len(options["project"]) > 1:
                rows, layout = self._of_projects(options), {"across": ("data_set",), "by": "dimension"}
            else:
                snapshot = self._snapshot(options)
                method = _method(options, is_live=snapshot.is_live)
                rows = self._of_project(options, method, snapshot)
        except (DomainError, FileRefused, OSError) as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
        for warning in each_once(f"{row['dimension']}: {row['warning']}" for row in rows if "warning" in row):
            self.stderr.write(warning)
        for warning in method.warnings:
            self.stderr.write(warning)
        self.stdout.write(written(rows, options["format"], down="evaluator", n="n", **layout))

    def _of_projects(self, options: dict[str, Any]) -> list[dict[str, object]]:
        _refuse_scores(options)
        for name, default in OF_ONE_PROJECT.items():
            if options[name] != default:
                raise CommandError(f"--{name} goes with one --project only", returncode=BAD_ARGUMENTS)
        projects = [named_project(slug) for slug in dict.fromkeys(options["project"])]
        asked = options["question"] or list(asked_keys(with_questions(projects, ())))
        if not asked:
            example = f"--question {projects[0].slug}:KEY"
            raise DomainError(f"the projects ask no question of the same key; name one for each: {example}")
        method = Method(
            options["level"], options["coefficient"], interval=NONE, test=NONE, constant=options["constant"]
        )
        rows: list[dict[str, object]] = []
        for keys in [asked] if any(":" in key for key in asked) else [[key] for key in asked]:
            parts = parts_of(with_questions(projects, keys), options["by"], options["labels"])
            found = [figures_of(part, method, None) for part in parts]
            table = across_table(dimension_of(parts), [part.data_set for part in parts], found, method)
            rows += table.as_json()
        for project in projects:
            if project.closed_at is None:
                self.stderr.write(f"{project.name}: ratings still come in; intervals are for a single look")
        return rows

    def _snapshot(self, options: dict[str, Any]) -> Snapshot:
        _refuse_scores(options)
        return snapshot_of(named_project(options["project"][0]))

    def _of_project(
        self, options: dict[str, Any], method: Method, snapshot: Snapshot
    ) -> list[dict[str, object]]:
        choices = ComparisonChoices(
            language=options["language"],
            dataset=options["dataset"],
            systems=tuple(options["system"]),
            questions=tuple(options["question"]),
            group=options["group"],
            labels=options["labels"],
            only=tuple(_keys(snapshot.evaluators, options["evaluator"])),
        )
        return comparison_table(snapshot, choices, method).rows()

    def _of_files(self, options: dict[str, Any], method: Method) -> list[dict[str, object]]:
        if not options["scores"]:
            raise CommandError("--input needs --scores, a file of scores", returncode=BAD_ARGUMENTS)
        if options["group"] or options["labels"] != "mean":
            raise CommandError("--group and --labels go with --project only", returncode=BAD_ARGUMENTS)
        left_out: Counter[Path] | None = Counter() if options["only_known"] else None
        summaries, labels, evaluators = read_scored_examples(options["input"], options["scores"], left_out)
        for path, number in (left_out or {}).items():
            rows = "row" if number == 1 else "rows"
            self.stderr.write(f"{path.name}: left out {number:,} {rows} of summaries that are not examples")
        comparison = compare(
            summaries,
            evaluators,
            language=options["language"],
            dataset=options["dataset"],
            systems=options["system"],
            only=_keys(evaluators, options["evaluator"]),
        )
        for key in options["question"]:
            check_choice("question", key, [each.key for each in labels])
        shown = [each for each in labels if not options["question"] or each.key in options["question"]]
        return table_of(comparison, shown, method).rows()


def _refuse_scores(options: dict[str, Any]) -> None:
    if options["scores"] or options["only_known"]:
        raise CommandError("--scores and --only-known need --input", returncode=BAD_ARGUMENTS)


def _method(options: dict[str, Any], *, is_live: bool) -> Method:
    return Method(**{field.name: options[field.name] for field in fields(Method)}, is_live=is_live)


def _keys(evaluators: Sequence[SetupScores], names: Sequence[str]) -> list[str]:
    """Return the keys of the evaluators with these names. Raises DomainError for an unknown name."""
    for name in names:
        check_choice("evaluator", name, [each.label for each in evaluators])
    return [each.key for each in evaluators if each.label in names]
