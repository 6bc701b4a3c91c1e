"""manage.py import: import a file into a project. It is in `scoring` because files may hold scores."""

import shlex
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from annotation.declared.settings import Setting, SettingsRefused, settings_of
from annotation.errors import DomainError
from annotation.imports.formats import IMPORTERS
from annotation.imports.import_file import import_file
from annotation.imports.reading.importer import UnknownFormat, importer_class, open_import
from annotation.imports.reading.records import FileRefused
from annotation.imports.rejected_rows import rejected_rows_path
from annotation.imports.report import Report
from annotation.management.named_project import BAD_ARGUMENTS, named_project
from annotation.management.own_command import OwnCommand
from scoring.management.progress_bar import ProgressBar
from scoring.runs.imported_scores import ImportedScores

FAILED_IN_PART = 1


class Command(OwnCommand):
    help = (
        f"Import a file into a project. Formats: {', '.join(IMPORTERS)}. If any row is "
        "invalid, nothing is imported and every invalid row is listed. Exit code 0: imported; 1: invalid "
        "rows were left out (--skip-bad); 2: nothing was imported."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("format", help=", ".join(IMPORTERS))
        parser.add_argument("path", type=Path, help="the file; plain or gzip")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--dry-run", action="store_true", help="check and report, import nothing")
        parser.add_argument(
            "--skip-bad",
            action="store_true",
            help="import the valid rows and write the others to PATH.rejected.jsonl",
        )
        declared: dict[str, tuple[Setting, list[str]]] = {}
        companions: dict[str, list[str]] = defaultdict(list)
        for name in IMPORTERS:
            found = importer_class(name)
            for option in settings_of(found.Options):
                declared.setdefault(option.name, (option, []))[1].append(name)
            if found.companion is not None:
                companions[found.companion.name].append(name)
        group = parser.add_argument_group("options of formats")
        for name, formats in companions.items():
            companion = importer_class(formats[0]).companion
            text = companion.help if companion else ""
            group.add_argument(f"--{name}", type=Path, metavar="FILE", help=f"{text} ({', '.join(formats)})")
        for option, formats in declared.values():
            _add(group, option, f"{option.help} {option.details} ({', '.join(formats)})")

    def handle(self, *args: Any, **given: Any) -> None:
        project = named_project(given["project"])
        try:
            found = importer_class(given["format"])
            importer = open_import(
                given["format"],
                given["path"],
                companion=_companion(given),
                options=_options(given),
                dimensions=[question.dimension for question in project.questionnaire.protocol.questions],
            )
        except (UnknownFormat, SettingsRefused, FileRefused) as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
        try:
            with ProgressBar(sys.stderr) as bar:
                report = import_file(
                    project,
                    importer,
                    dry_run=given["dry_run"],
                    skip_bad=given["skip_bad"],
                    rejected_to=rejected_rows_path(given["path"]),
                    scores=lambda: ImportedScores(project, importer.file.name),
                    progress=bar,
                )
        except (DomainError, FileRefused, OSError) as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
        self._print(report, given, found.title)

    def _print(self, report: Report, given: dict[str, Any], title: str) -> None:
        for problem in report.problems:
            self.stderr.write(str(problem))
        if report.not_listed:
            self.stderr.write(f"and {report.not_listed:,} more problems")
        lines = _lines(report)
        if lines:
            self.stdout.write("\n  ".join([_heading(report), *lines]))
        if report.refused:
            message = f"{report.refused} Nothing was loaded of {given['path'].name} ({title})."
            if report.lacks_columns and report.table and report.table.proposed:
                options = " ".join(f"--map {shlex.quote(pair)}" for pair in report.table.proposed)
                message += f" Check whether these columns are meant: {options}"
            raise CommandError(message, returncode=BAD_ARGUMENTS)
        if report.dry_run:
            self.stdout.write("This was a dry run: nothing was loaded.")
        if report.rejected:
            would_be = "would be" if report.dry_run else "were"
            where = "" if report.dry_run else f" and written to {rejected_rows_path(given['path'])}"
            raise CommandError(
                f"Invalid rows ({report.rejected:,}) {would_be} left out{where}.", returncode=FAILED_IN_PART
            )


def _heading(report: Report) -> str:
    if report.refused:
        return "The valid rows would give:" if report.counts else "Notes:"
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


def _companion(given: dict[str, Any]) -> Path | None:
    """Return the format's second file. Raises SettingsRefused for the file of another format."""
    own = importer_class(given["format"]).companion
    for name in {each.companion.name for each in map(importer_class, IMPORTERS) if each.companion}:
        if given[name] is not None and (own is None or own.name != name):
            raise SettingsRefused({name: f"the format {given['format']} has no such file"})
    found: Path | None = given[own.name] if own else None
    return found


def _options(given: dict[str, Any]) -> dict[str, object]:
    """Return the given options of all formats; `open_import` refuses those of other formats."""
    names = {option.name for name in IMPORTERS for option in settings_of(importer_class(name).Options)}
    return {name: given[name] for name in sorted(names) if given[name] is not None}


def _add(group: Any, option: Setting, text: str) -> None:
    shape: dict[str, Any] = {"metavar": "A,B,..." if option.type == "list" else "TEXT"}
    if option.type == "yes/no":
        shape = {"action": "store_true", "default": None}
    elif option.one_per_line:
        shape = {"action": "append", "metavar": "OURS=THEIRS"}
    elif option.choices:
        shape = {"choices": option.choices}
    group.add_argument(option.flag, dest=option.name, help=text.replace("%", "%%"), **shape)
