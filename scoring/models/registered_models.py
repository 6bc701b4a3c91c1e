"""Models that were registered or imported for a project."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import FailureField, Leased, LeasedQuerySet, Project


class RegisteredModel(Leased):
    """The project that a model belongs to, if it was not trained here, and the check of its files.

    Only this project may use the model. Models without a row, which the operator installed, are for all.
    """

    class Status(models.TextChoices):
        QUEUED = "queued", "waiting"
        RUNNING = "running", "checking"
        DONE = "done", "ready"
        FAILED = "failed", "failed"

    UNFINISHED = (Status.QUEUED, Status.RUNNING)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="registered_models")
    name = models.CharField(max_length=60, unique=True)
    source = models.CharField(max_length=500, help_text="Folder, hub id or file that it came from.")
    card = models.JSONField(default=dict, help_text="The model's card until it is installed.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED)
    failure = FailureField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = LeasedQuerySet["RegisteredModel"].as_manager()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=["queued", "running", "done", "failed"]),
                name="registered_model_status_known",
            )
        ]

    def __str__(self) -> str:
        return self.name
