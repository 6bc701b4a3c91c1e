"""Each article gets the digest of its text."""

from django.db import migrations, models

import annotation.models.articles
from annotation.texts.text_digests import text_digest

PORTION = 500


def add_digests(apps, _schema_editor):
    article = apps.get_model("annotation", "Article")
    without = article.objects.exclude(text="").filter(text_digest="").order_by("pk")
    last = 0
    while rows := list(without.filter(pk__gt=last).only("text")[:PORTION]):
        for row in rows:
            row.text_digest = text_digest(row.text)
        article.objects.bulk_update(rows, ["text_digest"])
        last = rows[-1].pk


class Migration(migrations.Migration):
    dependencies = [("annotation", "0001_initial")]

    operations = [
        migrations.AddField(
            model_name="article",
            name="text_digest",
            field=annotation.models.articles.TextDigestField(
                blank=True,
                editable=False,
                help_text="By which the same text is found elsewhere.",
                max_length=64,
            ),
        ),
        migrations.RunPython(add_digests, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="article",
            index=models.Index(fields=["project", "text_digest"], name="article_by_text"),
        ),
    ]
