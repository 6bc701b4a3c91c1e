"""The changes of each revision of a project, so that readers of an earlier one reload only these."""

from typing import NamedTuple

from django.db import models

KEPT_CHANGES = 1000
"""Revisions whose changes are kept at least. Readers that are further behind reload everything."""


class ProjectChange(models.Model):
    """The only thing that a revision of a project changed.

    A revision without such a row changed more than one thing. `Project.bump_revision` writes the row in the
    transaction of the change, so whoever sees a revision also sees the changes of all earlier ones.
    """

    class Kind(models.TextChoices):
        RATING = "rating", "a rating was finished or corrected"
        RATER = "rater", "a rater's ratings count no more, or again"
        BATCH = "batch", "a batch of a run was scored"
        SETUP = "setup", "a run of a setup was deleted, perhaps the setup with it"
        DECISION = "decision", "the adjudicated answers of a summary changed"

    project = models.ForeignKey("annotation.Project", on_delete=models.CASCADE, related_name="changes")
    revision = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=10, choices=Kind)
    changed_id = models.PositiveBigIntegerField(help_text="Primary key of the changed object.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "revision"], name="change_once_in_revision"),
            models.CheckConstraint(
                condition=models.Q(kind__in=["rating", "rater", "batch", "setup", "decision"]),
                name="change_kind_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.revision}: {self.kind} {self.changed_id}"


class Changed(NamedTuple):
    """The only thing that a transaction changes."""

    kind: ProjectChange.Kind
    id: int
