"""Dimensions that a manager has described for a project's judges."""

from django.conf import settings
from django.db import models

from annotation.models import Project


class JudgedDimension(models.Model):
    """A dimension that a judge is asked about, and the text it sees beside the summary.

    Overrides a built-in dimension of the same name. Existing setups keep the description they were made with.
    """

    class Sees(models.TextChoices):
        SUMMARY = "summary", "the summary alone"
        ARTICLE = "article", "the article and the summary"
        REFERENCE = "reference", "a reference and the summary"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="judged_dimensions")
    name = models.CharField(max_length=60)
    description = models.CharField(
        max_length=1000, help_text="A question that a good summary answers with yes."
    )
    sees = models.CharField(max_length=10, choices=Sees)
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    changed_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="judged_dimension_once"),
            models.CheckConstraint(
                condition=models.Q(sees__in=["summary", "article", "reference"]),
                name="judged_dimension_sees_known",
            ),
        ]

    def __str__(self) -> str:
        return self.name
