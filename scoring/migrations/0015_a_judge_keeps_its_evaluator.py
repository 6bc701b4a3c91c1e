from django.db import migrations

TABLE = "scoring_judge"
WORDS = "a judge never changes its evaluator or project, which its versions go by: make a new one"


def guard(_apps, schema_editor):
    """A later migration that alters this table on SQLite makes it anew, and has to call this again."""
    before = f"BEFORE UPDATE OF evaluator, project_id ON {TABLE}"
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute(
            f"CREATE TRIGGER judge_keeps_its_evaluator {before} BEGIN SELECT RAISE(ABORT, '{WORDS}'); END"
        )
    else:
        schema_editor.execute(
            "CREATE FUNCTION judge_keeps_its_evaluator() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{WORDS}' USING ERRCODE = 'integrity_constraint_violation'; END $$"
        )
        schema_editor.execute(
            f"CREATE TRIGGER judge_keeps_its_evaluator {before} "
            "FOR EACH ROW EXECUTE FUNCTION judge_keeps_its_evaluator()"
        )


def unguard(_apps, schema_editor):
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute("DROP TRIGGER judge_keeps_its_evaluator")
    else:
        schema_editor.execute(f"DROP TRIGGER judge_keeps_its_evaluator ON {TABLE}")
        schema_editor.execute("DROP FUNCTION judge_keeps_its_evaluator()")


class Migration(migrations.Migration):
    dependencies = [
        ("scoring", "0014_budgets_of_asking_again"),
    ]

    operations = [migrations.RunPython(guard, unguard)]
