"""Requests submitted to an endpoint's batch API, and checked until they are answered."""

from typing import Self

from django.db import models
from django.db.models import Q

from annotation.models import FailureField, Leased, LeasedQuerySet
from scoring.models.runs import Run


class ApiBatchQuerySet(LeasedQuerySet["ApiBatch"]):
    def at_endpoint(self) -> Self:
        """Return unfinished batches that the endpoint may know already."""
        return self.unfinished().exclude(input_file="")


class ApiBatch(Leased):
    """Some of a run's requests, submitted together.

    `attempts` counts from the endpoint's latest answer.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        UNDER_WAY = "under way", "in progress"
        DONE = "done", "done"
        EXPIRED = "expired", "expired"
        CANCELLED = "cancelled", "cancelled"
        FAILED = "failed", "failed"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="api_batches")
    round = models.PositiveSmallIntegerField(
        default=1, help_text="Requests unanswered in one round are submitted again in the next."
    )
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    summary_ids = models.JSONField(
        default=list, help_text="Ids of the summaries that the requests are about."
    )
    requests = models.JSONField(default=list, help_text="Digests of the requests.")
    number = models.PositiveIntegerField(
        null=True, blank=True, help_text="Number of requests; null until they are collected."
    )
    answered = models.PositiveIntegerField(
        default=0, help_text="Requests answered so far, as the endpoint reports; at the end, replies stored."
    )
    refused = models.PositiveIntegerField(default=0, help_text="Requests that ended without an answer.")
    reasons = models.JSONField(
        default=dict, help_text="Errors: the endpoint's message to number of requests."
    )
    failure = FailureField(blank=True, help_text="Reason why the batch, or its latest attempt, failed.")
    input_file = models.CharField(
        max_length=200, blank=True, help_text="The endpoint's id of the uploaded file."
    )
    remote_id = models.CharField(max_length=200, blank=True, help_text="The endpoint's id of the batch.")
    created_at = models.DateTimeField(auto_now_add=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    checked_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(
        null=True, blank=True, help_text="Time when cancellation was requested from the endpoint."
    )

    objects = ApiBatchQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "under way", "done", "expired", "cancelled", "failed"]),
                name="api_batch_state_known",
            ),
        ]

    def __str__(self) -> str:
        return f"API batch {self.pk} of run {self.run_id}"
