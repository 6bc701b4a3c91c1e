"""Requests that are handed in to an endpoint's Batch API, and looked at until they are answered."""

from datetime import datetime
from typing import Self

from django.db import models
from django.db.models import Q

from scoring.models.runs import Run


class HandInQuerySet(models.QuerySet["HandIn"]):
    def open(self) -> Self:
        """Of these something may still come."""
        return self.filter(state__in=HandIn.OPEN)

    def claimable(self, now: datetime) -> Self:
        """Open and due, and claimed by no worker that still renews its claim."""
        free = Q(claimed_until__isnull=True) | Q(claimed_until__lt=now)
        due = Q(not_before__isnull=True) | Q(not_before__lte=now)
        return self.open().filter(free, due)

    def at_endpoint(self) -> Self:
        """Open, and perhaps known to the endpoint already."""
        return self.open().exclude(input_file="")


class HandIn(models.Model):
    """Some of a run's requests, handed in together; worked on by one worker at a time."""

    class State(models.TextChoices):
        WAITING = "waiting", "to be handed in"
        UNDER_WAY = "under way", "under way"
        DONE = "done", "done"
        EXPIRED = "expired", "out of time"
        CANCELLED = "cancelled", "cancelled"
        FAILED = "failed", "failed"

    OPEN = (State.WAITING, State.UNDER_WAY)

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="hand_ins")
    round = models.PositiveSmallIntegerField(
        default=1, help_text="What one round leaves unanswered is handed in once more."
    )
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    summary_ids = models.JSONField(default=list, help_text="Summaries whose requests these are.")
    requests = models.JSONField(default=list, help_text="The requests, by their digests.")
    number = models.PositiveIntegerField(
        null=True, blank=True, help_text="Of requests; null: they are not collected yet."
    )
    answered = models.PositiveIntegerField(
        default=0, help_text="Requests answered, as the endpoint tells; in the end as stored."
    )
    refused = models.PositiveIntegerField(default=0, help_text="Requests that ended without an answer.")
    reasons = models.JSONField(default=dict, help_text="Why: words of the endpoint to number of requests.")
    failure = models.TextField(blank=True, help_text="Why it failed, or why the latest attempt did.")
    input_file = models.CharField(
        max_length=200, blank=True, help_text="The file with the requests, as the endpoint calls it."
    )
    remote_id = models.CharField(max_length=200, blank=True, help_text="The batch, as the endpoint calls it.")
    created_at = models.DateTimeField(auto_now_add=True)
    handed_in_at = models.DateTimeField(null=True, blank=True)
    looked_at = models.DateTimeField(null=True, blank=True)
    withdrawn_at = models.DateTimeField(
        null=True, blank=True, help_text="When the endpoint was asked to stop, since the run was cancelled."
    )
    ended_at = models.DateTimeField(null=True, blank=True)
    claimed_by = models.CharField(
        max_length=36, blank=True, help_text="A token of the worker's present claim."
    )
    claimed_until = models.DateTimeField(null=True, blank=True)
    not_before = models.DateTimeField(null=True, blank=True, help_text="When it is next to be looked at.")
    attempts = models.PositiveSmallIntegerField(
        default=0, help_text="Claims since the endpoint last answered."
    )

    objects = HandInQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "under way", "done", "expired", "cancelled", "failed"]),
                name="hand_in_state_known",
            ),
        ]

    def __str__(self) -> str:
        return f"hand-in {self.pk} of run {self.run_id}"

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN
