"""Webhooks: addresses that are told of a project's events, and what became of each event."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from annotation.models import Event, FailureField, Leased, LeasedQuerySet, Project


class WebhookQuerySet(LeasedQuerySet["Webhook"]):
    def with_due_deliveries(self) -> Self:
        """Return webhooks that have something to send now, held by a worker or not."""
        due = WebhookDelivery.objects.filter(next_attempt_at__lte=timezone.now())
        return self.filter(pk__in=due.values("webhook"))


class Webhook(Leased):
    """An address that gets the project's events, from one worker at a time.

    The lease is for sending: `not_before` lets an address rest that does not answer, `attempts` counts leases
    since it last answered, and `finished_at` is when it was disabled.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    address = models.CharField(max_length=300)
    kinds = models.JSONField(default=list, help_text="Kinds of events that it gets.")
    encrypted_secret = models.TextField(help_text="The encrypted secret that signs its deliveries.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    disabled_reason = models.CharField(max_length=300, blank=True)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["project", "address"], name="webhook_address_once")]

    def __str__(self) -> str:
        return self.address


class WebhookDelivery(models.Model):
    """One event for one webhook: delivered, given up, or with a time of its next attempt."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        DELIVERED = "delivered", "delivered"
        FAILED = "failed", "failed"

    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="deliveries")
    attempts = models.PositiveSmallIntegerField(default=0)
    next_attempt_at = models.DateTimeField(
        null=True, blank=True, help_text="Null once it was delivered or given up."
    )
    last_attempt_at = models.DateTimeField(null=True, blank=True)
    delivered_at = models.DateTimeField(null=True, blank=True)
    last_status = models.PositiveSmallIntegerField(
        null=True, blank=True, help_text="HTTP status of the latest answer; null if there was none."
    )
    last_error = FailureField(blank=True)

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "webhook deliveries"
        constraints = [models.UniqueConstraint(fields=["webhook", "event"], name="webhook_delivery_once")]
        indexes = [
            models.Index(
                fields=["next_attempt_at"],
                condition=Q(next_attempt_at__isnull=False),
                name="webhook_delivery_due",
            )
        ]

    def __str__(self) -> str:
        return f"{self.event} for {self.webhook}"

    @property
    def state(self) -> State:
        if self.next_attempt_at is not None:
            return self.State.WAITING
        return self.State.FAILED if self.delivered_at is None else self.State.DELIVERED
