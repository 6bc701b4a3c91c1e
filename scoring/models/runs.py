"""Runs, and the batches in which they are worked on."""

from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from scoring.models.setups import EvaluatorSetup


class Run(models.Model):
    """One pass of one setup over a selection of summaries."""

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

    setup = models.ForeignKey(EvaluatorSetup, on_delete=models.CASCADE, related_name="runs")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED)
    delivery = models.CharField(
        max_length=5,
        choices=Delivery,
        default=Delivery.NOW,
        help_text="How requests are sent to an endpoint.",
    )
    total = models.PositiveIntegerField(default=0, help_text="Summaries to be scored in this run.")
    reused = models.PositiveIntegerField(default=0, help_text="Summaries whose score was there already.")
    failure = models.TextField(blank=True, help_text="Why it failed or is paused.")
    budget = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, blank=True, help_text="US dollars; null: no limit."
    )
    spent = models.DecimalField(
        max_digits=14, decimal_places=8, default=0, help_text="US dollars, for replies that came in this run."
    )
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    replies_received = models.PositiveBigIntegerField(
        default=0, help_text="Replies that came in this run, also those that a later run has replaced."
    )
    replies_reused = models.PositiveBigIntegerField(
        default=0, help_text="Requests that replies of earlier runs answered, at no cost."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=["queued", "running", "done", "failed", "cancelled", "paused"]),
                name="run_status_known",
            ),
            models.UniqueConstraint(
                fields=["setup"],
                condition=Q(status__in=["queued", "running"]),
                name="one_unfinished_run_per_setup",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk} of {self.setup}"

    @property
    def is_unfinished(self) -> bool:
        return self.status in self.UNFINISHED


class BatchQuerySet(models.QuerySet["Batch"]):
    def claimable(self, now: datetime) -> Self:
        """Waiting and due, or claimed by a worker that has not renewed its claim.

        Looks at the batch's own columns alone: an UPDATE with this filter is then decided anew for a row that
        another worker has just changed, on every database.
        """
        due = Q(not_before__isnull=True) | Q(not_before__lte=now)
        return self.filter(
            Q(state=Batch.State.WAITING) & due | Q(state=Batch.State.CLAIMED, claimed_until__lt=now)
        )

    def unfinished(self) -> Self:
        return self.filter(state__in=[Batch.State.WAITING, Batch.State.CLAIMED])


class Batch(models.Model):
    """Some of a run's summaries, claimed by one worker at a time; a claim expires."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        CLAIMED = "claimed", "claimed"
        DONE = "done", "done"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="batches")
    number = models.PositiveIntegerField()
    summary_ids = models.JSONField()
    size = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    claimed_by = models.CharField(
        max_length=36, blank=True, help_text="A token of the worker's present claim."
    )
    claimed_until = models.DateTimeField(null=True, blank=True)
    not_before = models.DateTimeField(
        null=True, blank=True, help_text="After a failure that may pass, when it may be tried again."
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    unscored = models.PositiveIntegerField(
        default=0, help_text="Summaries that this batch left without a score on some dimension."
    )
    reasons = models.JSONField(default=dict, help_text="Why: reason to number of summaries.")
    cut = models.PositiveIntegerField(
        default=0, help_text="Summaries judged without the end of some text, which a model's limit cut."
    )
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = BatchQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        verbose_name_plural = "batches"
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="batch_number_once"),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "claimed", "done"]), name="batch_state_known"
            ),
        ]
        indexes = [models.Index(fields=["run", "state", "number"], name="batch_by_state")]

    def __str__(self) -> str:
        return f"batch {self.number} of run {self.run_id}"
