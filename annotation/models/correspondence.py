"""Correspondence between a rater and the managers of the project."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Count, Q

from annotation.models.projects import Project
from annotation.models.raters import Rater


class RaterMessageQuerySet(models.QuerySet["RaterMessage"]):
    def unread(self, *, from_manager: bool) -> Self:
        """Return messages from this side that the other side has not opened."""
        return self.filter(from_manager=from_manager, read_at__isnull=True)

    def unread_by_managers(self, project: Project) -> dict[int, int]:
        """Return rater id -> the number of unread messages to managers, for raters who have some."""
        unread = self.unread(from_manager=False).filter(rater__project=project).order_by("rater")
        return dict(unread.values_list("rater").annotate(Count("pk")))


class RaterMessage(models.Model):
    """A message in one rater's correspondence, from the rater or from a manager.

    `annotation/correspondence/messages.py` says who may read and write it.
    """

    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="messages")
    from_manager = models.BooleanField()
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    text = models.TextField(max_length=2000)
    written_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, help_text="First opened by the other side.")

    objects = RaterMessageQuerySet.as_manager()

    class Meta:
        ordering = ["-written_at", "-pk"]
        indexes = [
            models.Index(
                fields=["rater"],
                condition=Q(read_at__isnull=True),
                name="message_unread",
            ),
        ]
        constraints = [models.CheckConstraint(condition=~Q(text=""), name="message_not_empty")]

    def __str__(self) -> str:
        return f"to {self.rater_id}" if self.from_manager else f"from {self.rater_id}"

    @property
    def is_unread(self) -> bool:
        return self.read_at is None
