"""manage.py import: a file into a project. It stands in `scoring` because files may hold scores."""

import difflib
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from annotation.actions.import_rejects import rejected_rows_path
from annotation.actions.import_report import Outcome, Report
from annotation.actions.importing import import_file
from annotation.errors import DomainError
from annotation.importers import IMPORTERS
from annotation.importers.importer import UnknownFormat, importer_class, open_import
from annotation.importers.options import Option, OptionsRefused
from annotation.importers.records import FileRefused
from annotation.models import Project
from scoring.imported import score_keeper
from scoring.progress_bar import ProgressBar

FAILED_IN_PART, BAD_ARGUMENTS = 1, 2


class Command(BaseCommand):
    help = (
        f"Import a file into a project. Formats: {', '.join(IMPORTERS)}. A file that is wrong is refused "
        "whole and every wrong row listed. Exit code 0: done; 1: wrong rows were left out (--skip-bad); "
        "2: refused, nothing was loaded."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("format", help=", ".join(IMPORTERS))
        parser.add_argument("path", type=Path, help="the file; plain or gzip")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--dry-run", action="store_true", help="check and report, load nothing")
        parser.add_argument(
            "--skip-bad",
            action="store_true",
            help="load the good rows and write the others to PATH.rejected.jsonl",
        )
        declared: dict[str, tuple[Option, list[str]]] = {}
        companions: dict[str, list[str]] = defaultdict(list)
        for name in IMPORTERS:
            found = importer_class(name)
            for option in found.options:
                declared.setdefault(option.name, (option, []))[1].append(name)
            if found.companion is not None:
                companions[found.companion.name].append(name)
        group = parser.add_argument_group("options of formats")
        for name, formats in companions.items():
            companion = importer_class(formats[0]).companion
            text = companion.help if companion else ""
            group.add_argument(f"--{name}", type=Path, metavar="FILE", help=f"{text} ({', '.join(formats)})")
        for option, formats in declared.values():
            _add(group, option, f"{option.help} ({', '.join(formats)})")

    def handle(self, *args: Any, **given: Any) -> None:
        project = _project(given["project"])
        try:
            found = importer_class(given["format"])
            importer = open_import(
                given["format"],
                given["path"],
                companion=_companion(given),
                options=_options(given),
                dimensions=[question.dimension for question in project.questionnaire.protocol.questions],
            )
        except (UnknownFormat, OptionsRefused, FileRefused) as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
        try:
            with ProgressBar(sys.stderr) as bar:
                report = import_file(
                    project,
                    importer,
                    dry_run=given["dry_run"],
                    skip_bad=given["skip_bad"],
                    rejected_to=rejected_rows_path(given["path"]),
                    scores=score_keeper(project, importer),
                    progress=bar,
                )
        except (DomainError, FileRefused, OSError) as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
        self._print(report, given, found.title)

    def _print(self, report: Report, given: dict[str, Any], title: str) -> None:
        for problem in report.problems:
            self.stderr.write(str(problem))
        lines = _lines(report)
        if lines:
            self.stdout.write("\n  ".join([_heading(report), *lines]))
        if report.outcome == Outcome.REFUSED:
            raise CommandError(
                f"{report.refused} Nothing was loaded of {given['path'].name} ({title}).",
                returncode=BAD_ARGUMENTS,
            )
        if report.dry_run:
            self.stdout.write("This was a dry run: nothing was loaded.")
        if report.outcome == Outcome.PARTLY:
            would_be = "would be" if report.dry_run else "were"
            where = "" if report.dry_run else f" and written to {rejected_rows_path(given['path'])}"
            raise CommandError(
                f"Wrong rows ({report.rejected:,}) {would_be} left out{where}.", returncode=FAILED_IN_PART
            )


def _heading(report: Report) -> str:
    if report.outcome == Outcome.REFUSED:
        return "The rows that are not wrong would give:"
    if report.dry_run:
        return "The file would give:"
    return "Loaded:" if report.has_news else "The project has all of this already:"


def _lines(report: Report) -> list[str]:
    lines = []
    for what, tally in report.counts.items():
        parts = [f"{tally.new:,} new"]
        parts += [f"{tally.present:,} there already"] if tally.present else []
        parts += [f"{tally.filled:,} completed"] if tally.filled else []
        lines.append(f"{what}: {', '.join(parts)}")
    if report.languages:
        articles = ", ".join(f"{code} {count:,}" for code, count in sorted(report.languages.items()))
        lines.append(f"articles by language: {articles}")
    if report.proposed is not None:
        lines.append(f"questionnaire for this file: {report.proposed.title}")
        lines += [
            f"  {question.key}: {question.scale.kind.value}, {question.scale.expected}"
            for question in report.proposed.questions
        ]
    return lines + report.notes


def _project(slug: str) -> Project:
    project = Project.objects.select_related("questionnaire").filter(slug=slug).first()
    if project is not None:
        return project
    slugs = list(Project.objects.values_list("slug", flat=True))
    near = difflib.get_close_matches(slug, slugs)
    advice = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(slugs) or 'none yet'}"
    raise CommandError(
        f"there is no project {slug!r}; {advice} Make one with: manage.py create_project NAME "
        "--questionnaire seahorse",
        returncode=BAD_ARGUMENTS,
    )


def _companion(given: dict[str, Any]) -> Path | None:
    """The format's second file. Raises OptionsRefused for one that another format takes."""
    own = importer_class(given["format"]).companion
    for name in {each.companion.name for each in map(importer_class, IMPORTERS) if each.companion}:
        if given[name] is not None and (own is None or own.name != name):
            raise OptionsRefused({name: f"the format {given['format']} takes no such file"})
    found: Path | None = given[own.name] if own else None
    return found


def _options(given: dict[str, Any]) -> dict[str, object]:
    """The options that were given, of whatever format: `open_import` refuses those of another."""
    names = {option.name for name in IMPORTERS for option in importer_class(name).options}
    return {name: given[name] for name in sorted(names) if given[name] is not None}


def _add(group: Any, option: Option, text: str) -> None:
    kinds: dict[str, dict[str, Any]] = {
        "flag": {"action": "store_true", "default": None},
        "pairs": {"action": "append", "metavar": "OURS=THEIRS"},
        "choice": {"choices": option.choices},
        "list": {"metavar": "A,B,..."},
        "text": {"metavar": "TEXT"},
    }
    group.add_argument(option.flag, dest=option.name, help=text.replace("%", "%%"), **kinds[option.kind])
