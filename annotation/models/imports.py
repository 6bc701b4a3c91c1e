"""Imports that run on a worker, with their progress and their list of errors."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.failures import FailureField
from annotation.models.leases import Leased, LeasedQuerySet
from annotation.models.projects import Project


class ImportJob(Leased):
    """One uploaded file on its way into a project.

    `options` are the importer's options. `errors` lists {"file", "line", "field", "found", "expected"} of
    invalid rows. `report` is `Report.as_json`.
    """

    class Status(models.TextChoices):
        QUEUED = "queued", "waiting"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="imports")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    format = models.CharField(max_length=20)
    file = models.FileField(upload_to="imports/")
    file_name = models.CharField(max_length=200)
    articles_file = models.FileField(upload_to="imports/", null=True, blank=True)
    options = models.JSONField(default=dict, blank=True)
    dry_run = models.BooleanField(default=False)
    skip_bad = models.BooleanField(default=False)
    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED)
    rows_read = models.PositiveIntegerField(default=0)
    rows_total = models.PositiveIntegerField(null=True, blank=True)
    report = models.JSONField(default=dict, blank=True)
    errors = models.JSONField(default=list, blank=True)
    failure = FailureField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    undone_at = models.DateTimeField(null=True, blank=True)
    undone_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )

    objects = LeasedQuerySet["ImportJob"].as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=["queued", "running", "done", "failed", "cancelled"]),
                name="import_status_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.format}: {self.file_name}"
