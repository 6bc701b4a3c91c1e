"""Requests for one more rating of a summary."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.articles import Summary


class ReratingQuerySet(models.QuerySet["Rerating"]):
    def current(self) -> Self:
        return self.filter(ended_at__isnull=True)


class Rerating(models.Model):
    """A request for one more rating of a doubtful summary, by a rater who has not rated it.

    `added` is how much `Summary.ratings_wanted` was raised. Raters never see requests. A withdrawn request is
    kept with its end.
    """

    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="reratings")
    added = models.PositiveSmallIntegerField()
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    asked_at = models.DateTimeField()
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = ReratingQuerySet.as_manager()

    class Meta:
        ordering = ["asked_at", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["summary"], condition=Q(ended_at__isnull=True), name="one_current_rerating"
            ),
            models.CheckConstraint(condition=Q(added__gte=1), name="rerating_adds_some"),
        ]

    def __str__(self) -> str:
        return f"one more rating of summary {self.summary_id}"
