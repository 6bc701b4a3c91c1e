"""Data of earlier versions under this one, and what a migration may do while an earlier version runs."""

import os
import re
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.db import connection, models
from django.db.migrations import operations
from django.db.migrations.loader import MigrationLoader
from django.db.models.fields import NOT_PROVIDED

from tests.scoring.processes import PATIENCE_S, ROOT, database_url

STORED = sorted((Path(__file__).parent / "upgrades").glob("*.json.gz"))

UPGRADE = """
from pathlib import Path
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.test import Client
from annotation.models import Project
from tests.touchstone.upgrades.stored_rows import load, read, stored

migrations, rows = read(Path("{path}"))
executor = MigrationExecutor(connection)
executor.migrate(list(dict(migrations).items()))  # the last one of each app
load(rows)
before = stored(rows)
call_command("migrate", verbosity=0)
after = stored(rows)
for table, columns in before.items():
    for name, values in columns.items():
        if after[table].get(name) != values:
            print(table, name, "changed")
client = Client(SERVER_NAME="localhost")
manager = User.objects.filter(memberships__role="manager").first()
client.force_login(manager, "django.contrib.auth.backends.ModelBackend")
slug = Project.objects.get().slug
for page in ("", "comparison/", "agreement/", "runs/", "people/", "summaries/"):
    status = client.get(f"/projects/{{slug}}/{{page}}").status_code
    if status != 200:
        print(page, status)
print(sum(len(next(iter(columns.values()))) for columns in after.values()), "rows")
"""


@pytest.fixture
def empty_database(tmp_path) -> Iterator[str]:
    """Return the address of a database without tables, of the kind that the tests use."""
    if connection.vendor == "sqlite":
        yield f"sqlite:///{tmp_path}/data.sqlite3"
        return
    url, name = database_url(), f"upgraded_{uuid.uuid4().hex[:12]}"
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'CREATE DATABASE "{name}"')
    yield re.sub(r"/[^/]*$", f"/{name}", url)
    with psycopg.connect(url, autocommit=True) as server:
        server.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@pytest.mark.thorough
@pytest.mark.django_db
@pytest.mark.parametrize("path", STORED, ids=lambda path: path.name)
def test_what_earlier_versions_stored_is_kept(empty_database, tmp_path, path):
    done = subprocess.run(
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", UPGRADE.format(path=path)],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": empty_database, "VAR_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert re.fullmatch(r"\d{3,} rows\n", done.stdout), done.stdout + done.stderr


BEFORE_THE_RULE = {
    "annotation": ("0001_tables", "0002_audit_log_never_changes", "0003_closed_campaigns"),
    "scoring": ("0001_tables", "0002_judges_never_change"),
    "metaeval": ("0001_initial", "0002_preregistrations"),
}
ADDITIONS = (
    operations.CreateModel,
    operations.AddIndex,
    operations.RemoveIndex,
    operations.AlterModelOptions,
    operations.AlterModelManagers,
)


def breaks_what_runs(operation: operations.base.Operation) -> bool:
    """Return whether the version before could not go on after this operation."""
    if isinstance(operation, operations.AddField):
        field = operation.field
        fills_itself = isinstance(field, models.ManyToManyField) or field.db_default is not NOT_PROVIDED
        return not (field.null or fills_itself)
    if isinstance(operation, operations.RunPython | operations.RunSQL):
        return not operation.reversible
    return not isinstance(operation, ADDITIONS)


def test_migrations_can_be_applied_while_the_version_before_runs():
    """What removes or narrows declares in `not_before` since which version nothing uses it."""
    breaking = [
        f"{app}.{name}: {operation.describe()}"
        for (app, name), migration in MigrationLoader(None).disk_migrations.items()
        if app in BEFORE_THE_RULE
        and name not in BEFORE_THE_RULE[app]
        and not hasattr(migration, "not_before")
        for operation in migration.operations
        if breaks_what_runs(operation)
    ]
    assert not breaking


@pytest.mark.parametrize(
    ("operation", "breaks"),
    [
        (operations.AddField("project", "note", models.TextField(null=True)), False),
        (operations.AddField("project", "note", models.TextField(db_default="")), False),
        (operations.AddField("project", "note", models.TextField(default="")), True),
        (operations.RemoveField("project", "name"), True),
        (operations.RenameField("project", "name", "title"), True),
        (operations.AlterField("project", "name", models.CharField(max_length=5)), True),
        (operations.DeleteModel("project"), True),
        (operations.RunSQL("SELECT 1"), True),
        (operations.RunSQL("SELECT 1", "SELECT 1"), False),
    ],
    ids=lambda value: value.describe() if isinstance(value, operations.base.Operation) else "",
)
def test_the_rule_tells_what_the_version_before_needs(operation, breaks):
    assert breaks_what_runs(operation) is breaks
