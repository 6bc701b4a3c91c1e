from django.db import migrations, models
from django.db.migrations.state import StateApps


def keep_as_they_were(apps: StateApps, schema_editor: object) -> None:
    """Close re-opened ratings, for which earlier code has no state."""
    apps.get_model("annotation", "Assignment").objects.filter(state="reopened").update(state="done", draft={})


class Migration(migrations.Migration):
    dependencies = [
        ("annotation", "0009_adjudication"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="assignment",
            name="assignment_state_known",
        ),
        migrations.RemoveIndex(
            model_name="assignment",
            name="assignment_open_leases",
        ),
        migrations.AddField(
            model_name="assignment",
            name="resubmitted",
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AlterField(
            model_name="assignment",
            name="state",
            field=models.CharField(
                choices=[
                    ("open", "open"),
                    ("reopened", "re-opened"),
                    ("done", "done"),
                    ("released", "released"),
                    ("skipped", "skipped"),
                ],
                default="open",
                max_length=10,
            ),
        ),
        migrations.AddIndex(
            model_name="assignment",
            index=models.Index(
                condition=models.Q(("state__in", ["open", "reopened"])),
                fields=["leased_until"],
                name="assignment_open_leases",
            ),
        ),
        migrations.AddConstraint(
            model_name="assignment",
            constraint=models.CheckConstraint(
                condition=models.Q(("state__in", ["open", "reopened", "done", "released", "skipped"])),
                name="assignment_state_known",
            ),
        ),
        migrations.RunPython(migrations.RunPython.noop, keep_as_they_were),
    ]
