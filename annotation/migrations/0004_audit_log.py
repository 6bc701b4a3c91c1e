"""The audit log, and triggers that keep its entries as they were written, whoever writes to the database."""

import django.core.serializers.json
import django.db.models.deletion
import django.utils.timezone
from django.conf import settings
from django.db import migrations, models

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

    dependencies = [
        ('annotation', '0003_guidelines'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='AuditEntry',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('at', models.DateTimeField(default=django.utils.timezone.now)),
                ('actor_name', models.CharField(help_text='The username then; empty for a command.', max_length=150)),
                ('action', models.CharField(help_text='One of annotation.audit.actions.Action.', max_length=40)),
                ('object', models.CharField(help_text='What it was done to, in words.', max_length=200)),
                ('reason', models.CharField(max_length=500)),
                ('details', models.JSONField(default=dict, encoder=django.core.serializers.json.DjangoJSONEncoder, help_text='Further facts. Never secrets, texts or answers.')),
                ('actor', models.ForeignKey(db_constraint=False, null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(db_constraint=False, help_text='Empty for what concerns an account only.', null=True, on_delete=django.db.models.deletion.DO_NOTHING, related_name='audit_entries', to='annotation.project')),
            ],
            options={
                'verbose_name_plural': 'audit entries',
                'ordering': ['-pk'],
                'indexes': [models.Index(fields=['project', '-id'], name='audit_of_project')],
            },
        ),
        migrations.RunPython(guard, unguard),
    ]
