"""Decisions on answers about which raters disagree."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.articles import Summary
from annotation.models.projects import Project, Question


class AdjudicationQuerySet(models.QuerySet["Adjudication"]):
    def adjudicators(self, project: Project) -> dict[int | None, int]:
        """Return id of each person who decided -> their number from 1, which stands for a name in files."""
        numbers: dict[int | None, int] = {}
        of_project = self.filter(summary__project=project).order_by("pk")
        for user in of_project.values_list("decided_by", flat=True):
            numbers.setdefault(user, len(numbers) + 1)
        return numbers

    def current(self) -> Self:
        return self.filter(ended_at__isnull=True)


class Adjudication(models.Model):
    """A decision on the answer to one question about one summary.

    It is no rating: agreement and means leave it out, and raters never see it. A changed or withdrawn
    decision is ended and kept as history.
    """

    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="adjudications")
    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="+")
    value = models.CharField(max_length=32)
    note = models.TextField(blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    decided_at = models.DateTimeField()
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = AdjudicationQuerySet.as_manager()

    class Meta:
        ordering = ["decided_at", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["summary", "question"],
                condition=Q(ended_at__isnull=True),
                name="one_current_adjudication",
            ),
            models.CheckConstraint(condition=~Q(value=""), name="adjudication_not_empty"),
        ]

    def __str__(self) -> str:
        return f"{self.question_id}: {self.value}"
