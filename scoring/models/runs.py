"""Runs, and the batches they are divided into."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import FailureField, Imported, Leased, LeasedQuerySet
from scoring.models.setups import Setup


class RunQuerySet(models.QuerySet["Run"]):
    def of_scores(self) -> Self:
        """Return the runs that made the setups' scores."""
        return self.filter(kind=Run.Kind.SCORES)

    def rechecks(self) -> Self:
        """Return the rechecks."""
        return self.filter(kind__in=Run.RECHECKS)


class Run(Imported):
    """One setup applied to a selection of summaries, or several times to a few (a recheck)."""

    class Kind(models.TextChoices):
        SCORES = "scores", "scores"
        CONSISTENCY = "consistency", "self-consistency"
        DRIFT = "drift", "drift"

    RECHECKS = (Kind.CONSISTENCY, Kind.DRIFT)

    class Status(models.TextChoices):
        QUEUED = "queued", "waiting"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"
        PAUSED = "paused", "paused"

    UNFINISHED = (Status.QUEUED, Status.RUNNING)

    class Delivery(models.TextChoices):
        NOW = "now", "at once"
        BATCH = "batch", "as a batch"

    setup = models.ForeignKey(Setup, on_delete=models.CASCADE, related_name="runs")
    kind = models.CharField(max_length=12, choices=Kind, default=Kind.SCORES)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED)
    delivery = models.CharField(
        max_length=5,
        choices=Delivery,
        default=Delivery.NOW,
        help_text="Way of sending requests to the endpoint.",
    )
    total = models.PositiveIntegerField(
        default=0, help_text="Summaries to score; a recheck counts them in each repetition."
    )
    reused = models.PositiveIntegerField(default=0, help_text="Summaries that already had a score.")
    failure = FailureField(blank=True, help_text="The reason why it failed or is paused.")
    budget = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, blank=True, help_text="US dollars; null: no limit."
    )
    spent = models.DecimalField(
        max_digits=14, decimal_places=8, default=0, help_text="US dollars, for replies received in this run."
    )
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    replies_received = models.PositiveBigIntegerField(
        default=0, help_text="Replies received in this run, including those that a later run replaced."
    )
    replies_reused = models.PositiveBigIntegerField(
        default=0, help_text="Requests answered by replies of earlier runs, at no cost."
    )
    has_changed = models.BooleanField(
        null=True, blank=True, help_text="True if a drift recheck found that the model answers differently."
    )
    models_before = models.JSONField(
        default=list, help_text="Names of a drift recheck's model when the original scores were made."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["scores", "consistency", "drift"]), name="run_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(status__in=["queued", "running", "done", "failed", "cancelled", "paused"]),
                name="run_status_known",
            ),
            models.UniqueConstraint(
                fields=["setup", "kind"],
                condition=Q(status__in=["queued", "running"]),
                name="one_unfinished_run_per_setup_and_kind",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk} of {self.setup}"

    @property
    def is_unfinished(self) -> bool:
        return self.status in self.UNFINISHED

    @property
    def is_recheck(self) -> bool:
        return self.kind in self.RECHECKS

    @property
    def awaits_verdict(self) -> bool:
        """Return whether this is a finished drift recheck that has no verdict yet."""
        return self.kind == self.Kind.DRIFT and self.status == self.Status.DONE and self.has_changed is None


class Batch(Leased):
    """Some of a run's summaries, scored by one worker at a time."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="batches")
    number = models.PositiveIntegerField()
    summary_ids = models.JSONField()
    size = models.PositiveIntegerField()
    repetition = models.PositiveSmallIntegerField(
        default=0, help_text="Number of the repetition, from 1 in a recheck; 0 in other runs."
    )
    unscored = models.PositiveIntegerField(
        default=0, help_text="Summaries left without a score on some dimension."
    )
    reasons = models.JSONField(default=dict, help_text="Reason to number of summaries.")
    cut = models.PositiveIntegerField(
        default=0, help_text="Summaries scored with a text truncated to the model's limit."
    )

    objects = LeasedQuerySet["Batch"].as_manager()

    class Meta:
        ordering = ["number"]
        verbose_name_plural = "batches"
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="batch_number_once")]
        indexes = [models.Index(fields=["run", "finished_at", "number"], name="batch_unfinished")]

    @property
    def occasion(self) -> str:
        """Return the mark of a recheck's requests; empty if stored replies may be reused."""
        return f"recheck {self.run_id}, {self.repetition}" if self.repetition else ""

    def __str__(self) -> str:
        return f"batch {self.number} of run {self.run_id}"
