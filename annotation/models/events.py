"""Events of a project that webhooks announce to other programs."""

import uuid

from django.db import models
from django.db.models import Q

from annotation.models.projects import Project


class Event(models.Model):
    """Something that happened in a project. `annotation/events/recording.py` writes it where wanted."""

    class Kind(models.TextChoices):
        RATING_FINISHED = "rating.finished", "Rating finished"
        RATER_SUSPENDED = "rater.suspended", "Rater suspended"
        RUN_FINISHED = "run.finished", "Run finished"
        TEST = "test", "Test"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="events")
    uid = models.UUIDField(
        default=uuid.uuid4, unique=True, help_text="The id that receivers see, the same in each attempt."
    )
    kind = models.CharField(max_length=40, choices=Kind)
    data = models.JSONField(default=dict, help_text="Ids, names and numbers; no texts and no answers.")
    at = models.DateTimeField()
    is_handed_out = models.BooleanField(
        default=False, help_text="True once each webhook that wants it has a delivery."
    )

    class Meta:
        ordering = ["pk"]
        indexes = [
            models.Index(fields=["project"], condition=Q(is_handed_out=False), name="event_not_handed_out"),
            models.Index(fields=["at"], name="event_at"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.uid}"
