"""Replies of language models, and money reserved for requests in progress."""

from django.db import models

from annotation.models import Project
from scoring.models.endpoints import EndpointModel
from scoring.models.runs import Run


class StoredReply(models.Model):
    """The reply to one request, stored so that nobody pays twice. The digest identifies the request."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="stored_replies")
    request = models.CharField(
        max_length=64, help_text="SHA-256 over the endpoint, the model and the request."
    )
    text = models.TextField(blank=True)
    problem = models.CharField(
        max_length=60, blank=True, help_text="The reason why it is not a complete answer."
    )
    probabilities = models.JSONField(default=dict, help_text="Mark to probability, if requested.")
    model = models.CharField(
        max_length=200, blank=True, help_text="The model's name as the endpoint reports it."
    )
    asked = models.ForeignKey(
        EndpointModel,
        on_delete=models.SET_NULL,
        null=True,
        related_name="replies",
        help_text="The project's model that replied.",
    )
    prompt_tokens = models.PositiveIntegerField(null=True, blank=True)
    prompt_tokens_at_most = models.PositiveIntegerField(
        null=True, blank=True, help_text="The upper bound computed before sending."
    )
    completion_tokens = models.PositiveIntegerField(null=True, blank=True)
    cost = models.DecimalField(
        max_digits=14,
        decimal_places=8,
        null=True,
        blank=True,
        help_text="US dollars; null if no price was known.",
    )
    run = models.ForeignKey(
        Run,
        on_delete=models.SET_NULL,
        null=True,
        related_name="replies",
        help_text="The run that paid for it.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name_plural = "stored replies"
        constraints = [models.UniqueConstraint(fields=["project", "request"], name="stored_reply_once")]

    def __str__(self) -> str:
        return f"reply to {self.request[:8]}"


class Reservation(models.Model):
    """A run's requests in progress, and the money of its budget reserved for them: the most they can cost."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="reservations")
    holder = models.CharField(max_length=36, help_text="Token of the claim that the requests belong to.")
    amount = models.DecimalField(max_digits=14, decimal_places=8, help_text="US dollars.")
    unanswered = models.PositiveIntegerField(default=0, help_text="Requests without a stored reply.")
    at_once = models.PositiveIntegerField(
        default=0, help_text="Maximum number of requests in progress at a time."
    )
    until = models.DateTimeField(
        help_text="Time from which the worker counts as dead and the money as spent."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "holder"], name="reservation_once"),
            models.CheckConstraint(condition=models.Q(amount__gte=0), name="reservation_not_negative"),
        ]

    def __str__(self) -> str:
        return f"{self.amount} of run {self.run_id}"
