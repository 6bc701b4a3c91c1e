from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Min


def once_for_each(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Keep one row for each article and text, whatever the dimension."""
    for name, field in (("SeenArticle", "article"), ("SeenText", "text_digest")):
        rows = apps.get_model("scoring", name).objects.using(schema_editor.connection.alias)
        first = rows.order_by().values("setup", field).annotate(first=Min("pk")).values("first")
        rows.exclude(pk__in=first).delete()


def dimension() -> models.CharField:
    return models.CharField(
        blank=True,
        default="",
        help_text="Dimension of the labels that were seen; empty: every one.",
        max_length=60,
    )


class Migration(migrations.Migration):
    dependencies = [("scoring", "0010_training_intervals")]

    operations = [
        migrations.RemoveConstraint(model_name="seenarticle", name="seen_article_once"),
        migrations.RemoveConstraint(model_name="seentext", name="seen_text_once"),
        migrations.AddField(
            model_name="seenarticle", name="dimension", field=dimension(), preserve_default=False
        ),
        migrations.AddField(
            model_name="seentext", name="dimension", field=dimension(), preserve_default=False
        ),
        migrations.AddConstraint(
            model_name="seenarticle",
            constraint=models.UniqueConstraint(
                fields=("setup", "article", "dimension"), name="seen_article_once"
            ),
        ),
        migrations.AddConstraint(
            model_name="seentext",
            constraint=models.UniqueConstraint(
                fields=("setup", "text_digest", "dimension"), name="seen_text_once"
            ),
        ),
        migrations.RunPython(migrations.RunPython.noop, once_for_each),
    ]
