"""Rows that an import stored know the import, so that it can be undone as a whole."""

from django.db import models


class Imported(models.Model):
    """A row that may come from an import on the Import page. Others, and those of commands, name none."""

    import_job = models.ForeignKey(
        "annotation.ImportJob",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        db_index=False,  # only undoing reads it, and every import would keep six indexes
    )

    class Meta:
        abstract = True
