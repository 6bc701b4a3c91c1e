"""Triggers that keep entries of the audit log as they were written, whoever writes to the database."""

from django.db import migrations

MESSAGE = "entries of the audit log are never changed or deleted"
GUARDS = {"audit_entry_never_changes": "UPDATE", "audit_entry_stays": "DELETE"}
"""Name of the trigger, and the statement that it refuses."""


def guard(_apps, schema_editor):
    """A later migration that alters this table on SQLite rebuilds it, and has to call this again."""
    for name, statement in GUARDS.items():
        before = f"CREATE TRIGGER {name} BEFORE {statement} ON annotation_auditentry"
        if schema_editor.connection.vendor == "sqlite":
            schema_editor.execute(f"{before} BEGIN SELECT RAISE(ABORT, '{MESSAGE}'); END")
        else:
            schema_editor.execute(
                f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS "
                f"$$ BEGIN RAISE EXCEPTION '{MESSAGE}' USING ERRCODE = 'integrity_constraint_violation'; END $$"
            )
            schema_editor.execute(f"{before} FOR EACH ROW EXECUTE FUNCTION {name}()")


def unguard(_apps, schema_editor):
    for name in GUARDS:
        if schema_editor.connection.vendor == "sqlite":
            schema_editor.execute(f"DROP TRIGGER {name}")
        else:
            schema_editor.execute(f"DROP TRIGGER {name} ON annotation_auditentry")
            schema_editor.execute(f"DROP FUNCTION {name}()")


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_tables")]

    replaces = [("annotation", "0004_audit_log")]

    operations = [migrations.RunPython(guard, unguard)]
