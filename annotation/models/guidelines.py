"""Guidelines that raters follow, in versions, and who has confirmed which version."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.projects import Project
from annotation.models.raters import Rater


class GuidelinesQuerySet(models.QuerySet["GuidelinesVersion"]):
    def published(self) -> Self:
        return self.filter(number__isnull=False)

    def drafts(self) -> Self:
        return self.filter(number__isnull=True)


class GuidelinesVersion(models.Model):
    """A project's guidelines in one language: a published version, or the draft of the next one.

    A published version has a number from 1 and never changes. A draft has none, and there is at most one in
    each language. `text` is Markdown.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="guidelines")
    language = models.CharField(max_length=12)
    number = models.PositiveSmallIntegerField(null=True, blank=True)
    text = models.TextField(blank=True)
    changes = models.TextField(blank=True, help_text="Changes since the previous version.")
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="+",
        help_text="Person who saved the draft last or published the version.",
    )
    saves = models.PositiveIntegerField(default=1, help_text="Number of times the draft was saved.")
    saved_at = models.DateTimeField()
    published_at = models.DateTimeField(null=True, blank=True)

    objects = GuidelinesQuerySet.as_manager()

    class Meta:
        ordering = ["language", "number"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "language", "number"], name="guidelines_number_once_in_language"
            ),
            models.UniqueConstraint(
                fields=["project", "language"],
                condition=Q(number__isnull=True),
                name="one_guidelines_draft_in_language",
            ),
            models.CheckConstraint(
                condition=Q(number__isnull=True, published_at__isnull=True)
                | Q(number__gte=1, published_at__isnull=False),
                name="guidelines_published_with_number",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.language} {self.number or 'draft'}"


class GuidelinesConfirmation(models.Model):
    """A rater's statement that they have read a published version."""

    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="confirmations")
    version = models.ForeignKey(GuidelinesVersion, on_delete=models.CASCADE, related_name="confirmations")
    confirmed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["rater", "version"], name="guidelines_confirmed_once"),
        ]

    def __str__(self) -> str:
        return f"{self.rater} confirmed {self.version}"
