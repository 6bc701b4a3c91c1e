"""Raters: members who rate, and imported ones without a login."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy

from annotation.models.imported import Imported
from annotation.models.projects import Project


class RaterQuerySet(models.QuerySet["Rater"]):
    def in_good_standing(self) -> Self:
        """Return raters whose ratings count."""
        return self.exclude(status=Rater.Status.REMOVED)

    def active(self) -> Self:
        """Return raters who are neither suspended nor removed."""
        return self.exclude(status__in=[Rater.Status.SUSPENDED, Rater.Status.REMOVED])


class Rater(Imported):
    """A person who rates in one project. `pseudonym` is the only name that researchers see.

    Raters who are qualified in none of their languages are qualifying. `gold/qualified_languages.py` keeps
    the status so.
    """

    class Status(models.TextChoices):
        TRAINING = "training", gettext_lazy("qualifying")
        QUALIFIED = "qualified", gettext_lazy("qualified")
        SUSPENDED = "suspended", gettext_lazy("suspended")
        REMOVED = "removed", gettext_lazy("removed")

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="raters")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="raters", null=True, blank=True
    )
    pseudonym = models.CharField(max_length=80)
    group = models.CharField(max_length=40, blank=True, help_text="For example 'expert' or 'crowd'.")
    languages = models.JSONField(default=list)
    chosen_language = models.CharField(
        max_length=12, blank=True, help_text="The language in which the rater works now."
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.TRAINING)
    status_before = models.CharField(max_length=10, choices=Status, blank=True)
    joined_at = models.DateTimeField(auto_now_add=True)

    objects = RaterQuerySet.as_manager()

    class Meta:
        ordering = ["pseudonym"]
        constraints = [
            models.UniqueConstraint(fields=["project", "pseudonym"], name="rater_pseudonym_once"),
            models.UniqueConstraint(fields=["project", "user"], name="rater_once_per_project"),
            models.CheckConstraint(
                condition=Q(status__in=["training", "qualified", "suspended", "removed"]),
                name="rater_status_known",
            ),
        ]

    def __str__(self) -> str:
        return self.pseudonym
