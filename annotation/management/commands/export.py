"""manage.py export: write a project's ratings, texts or scores to a file."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import CommandError, CommandParser

from annotation.declared.settings import Setting, SettingsRefused, settings_of
from annotation.errors import DomainError
from annotation.exports.exporter import exporter_class, open_export
from annotation.exports.formats import EXPORTERS
from annotation.exports.gzipped import open_for_writing
from annotation.management.named_project import BAD_ARGUMENTS, named_project
from annotation.management.own_command import OwnCommand


class Command(OwnCommand):
    help = (
        "Write a project's ratings, texts or scores to a file. Without --output it goes to the standard "
        "output. Removed raters are left out unless --rater-status names them. Exit code 2: nothing written."
    )

    requires_system_checks = ()  # they load every page, which takes 30 MB and a second

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("format", help=", ".join(EXPORTERS))
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--output", type=Path, metavar="FILE", help="the file; gzip if .gz")
        group = parser.add_argument_group("options of formats")
        for option, formats in _declared().values():
            of = "all formats" if len(formats) == len(EXPORTERS) else ", ".join(formats)
            _add(group, option, f"{option.help} ({of})")

    def handle(self, *args: Any, **given: Any) -> None:
        project = named_project(given["project"])
        options = {name: given[name] for name in _declared() if given[name] is not None}
        try:
            export = open_export(project, given["format"], options)
        except (DomainError, SettingsRefused) as error:
            raise CommandError(str(error), returncode=BAD_ARGUMENTS) from error
        if given["output"] is None:
            try:
                _write(export.chunks(), sys.stdout.buffer)
                sys.stdout.flush()
            except BrokenPipeError:  # the reader has enough, as `head` has
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return
        unfinished = given["output"].with_name(f"{given['output'].name}.part")
        try:
            with open_for_writing(unfinished, given["output"].name) as file:
                _write(export.chunks(), file)
            written = unfinished.stat().st_size
            unfinished.replace(given["output"])
        except OSError as error:
            raise CommandError(f"{given['output']}: {error.strerror}", returncode=BAD_ARGUMENTS) from error
        finally:
            unfinished.unlink(missing_ok=True)
        self.stderr.write(f"Wrote {written:,} bytes to {given['output']}.")


def _declared() -> dict[str, tuple[Setting, list[str]]]:
    """Return the options of all formats, each with the formats that have it."""
    found: dict[str, tuple[Setting, list[str]]] = {}
    for name in EXPORTERS:
        for option in settings_of(exporter_class(name).Options):
            found.setdefault(option.name, (option, []))[1].append(name)
    return found


def _add(group: Any, option: Setting, text: str) -> None:
    shape: dict[str, Any] = {"metavar": "A,B,..." if option.type == "list" else "TEXT"}
    if option.type == "yes/no":
        shape = {"action": "store_true", "default": None}
    elif option.choices:
        shape = {"choices": option.choices}
    group.add_argument(option.flag, dest=option.name, help=text.replace("%", "%%"), **shape)


def _write(chunks: Iterator[bytes], file: BinaryIO) -> None:
    for chunk in chunks:
        file.write(chunk)
