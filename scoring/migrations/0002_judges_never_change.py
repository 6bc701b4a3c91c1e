"""Triggers that keep judges and their versions as they were made, whoever writes to the database."""

from django.db import migrations

GUARDS = (
    (
        "judge_version_never_changes",
        "scoring_judgeversion",
        "judge_id, number, parent_id, params, note, created_at",
        "a version of a judge never changes: make a new one",
    ),
    (
        "judge_keeps_its_evaluator",
        "scoring_judge",
        "evaluator, project_id",
        "a judge never changes its evaluator or project, which its versions go by: make a new one",
    ),
)
"""Name of the trigger, its table, the columns that it guards, and what it says."""


def guard(_apps, schema_editor):
    """A later migration that alters these tables on SQLite rebuilds them, and has to call this again."""
    for name, table, columns, message in GUARDS:
        before = f"BEFORE UPDATE OF {columns} ON {table}"
        if schema_editor.connection.vendor == "sqlite":
            schema_editor.execute(f"CREATE TRIGGER {name} {before} BEGIN SELECT RAISE(ABORT, '{message}'); END")
        else:
            schema_editor.execute(
                f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
                f"$$ BEGIN RAISE EXCEPTION '{message}' USING ERRCODE = 'integrity_constraint_violation'; END $$"
            )
            schema_editor.execute(
                f"CREATE TRIGGER {name} {before} FOR EACH ROW EXECUTE FUNCTION {name}()"
            )


def unguard(_apps, schema_editor):
    for name, table, _columns, _message in GUARDS:
        if schema_editor.connection.vendor == "sqlite":
            schema_editor.execute(f"DROP TRIGGER {name}")
        else:
            schema_editor.execute(f"DROP TRIGGER {name} ON {table}")
            schema_editor.execute(f"DROP FUNCTION {name}()")


class Migration(migrations.Migration):
    dependencies = [("scoring", "0001_tables")]

    operations = [migrations.RunPython(guard, unguard)]
