"""manage.py backup: copy the SQLite database into a file."""

import sqlite3
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import connection

from annotation.database.backup import back_up
from annotation.management.named_project import BAD_ARGUMENTS
from annotation.management.own_command import OwnCommand

FAILED = 1


class Command(OwnCommand):
    help = (
        "Copy the SQLite database into a new file, also while people rate and workers score. For PostgreSQL "
        "use pg_dump. Exit code 1: no copy was made; 2: the file is there already, or it is not SQLite."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the new file")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        if connection.vendor != "sqlite":
            raise CommandError(
                "The database is not SQLite. Back it up with pg_dump.", returncode=BAD_ARGUMENTS
            )
        if file.exists():
            raise CommandError(f"{file} exists already. Name a new file.", returncode=BAD_ARGUMENTS)
        try:
            back_up(file)
        except (OSError, sqlite3.Error) as error:
            raise CommandError(f"No copy was made: {error}", returncode=FAILED) from error
        self.stdout.write(f"Wrote {file.stat().st_size:,} bytes to {file}.")
