"""Trainings of evaluators, and the points of their curves."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import FailureField, Leased, LeasedQuerySet, Project


class Training(Leased):
    """One method that trains an evaluator on a project's summaries, leased to one worker at a time.

    `attempts` counts leases since the last progress. `name` is that of the trained model.
    """

    class Status(models.TextChoices):
        QUEUED = "queued", "waiting"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    UNFINISHED = (Status.QUEUED, Status.RUNNING)
    RESUMABLE = (Status.FAILED, Status.CANCELLED)

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="trainings")
    name = models.CharField(max_length=60, unique=True)
    method = models.CharField(max_length=60)
    params = models.JSONField(default=dict)
    pool = models.JSONField(
        default=dict, help_text="Summaries to learn from: id to what people said at the start."
    )
    counts = models.JSONField(default=dict, help_text="Examples that it learns from: words to number.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED)
    failure = FailureField(blank=True)
    is_cancelling = models.BooleanField(default=False, help_text="True if its worker must stop.")
    has_model = models.BooleanField(default=False, help_text="True if its best weights are installed.")
    steps = models.PositiveIntegerField(default=0, help_text="Steps made so far.")
    best_step = models.PositiveIntegerField(null=True, blank=True)
    measures = models.JSONField(
        default=dict, help_text="Measures of the validation examples at the best step."
    )
    intervals = models.JSONField(default=dict, help_text="Their 95% intervals: measure to low and high.")
    examples_per_s = models.FloatField(null=True, blank=True)
    seconds_left = models.FloatField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)

    objects = LeasedQuerySet["Training"].as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=["queued", "running", "done", "failed", "cancelled"]),
                name="training_status_known",
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def model(self) -> str:
        """Its model, as parameters of evaluators name it."""
        return f"trained/{self.name}"

    @property
    def can_be_resumed(self) -> bool:
        return self.status in self.RESUMABLE


class TrainingPoint(models.Model):
    """One point of a training's curves; see `scoring.trainers.contract.Point`."""

    training = models.ForeignKey(Training, on_delete=models.CASCADE, related_name="points")
    step = models.PositiveIntegerField()
    epoch = models.FloatField()
    loss = models.FloatField(null=True, blank=True)
    measures = models.JSONField(default=dict)

    class Meta:
        ordering = ["step"]
        constraints = [models.UniqueConstraint(fields=["training", "step"], name="training_point_once")]

    def __str__(self) -> str:
        return f"step {self.step} of training {self.training_id}"
