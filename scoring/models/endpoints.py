"""Endpoints of language models, as a project uses them."""

from django.db import models

from annotation.models import FailureField, Project


class Endpoint(models.Model):
    """An address that a project's judges ask, with its key and its limits."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="endpoints")
    base_url = models.CharField(max_length=300)
    encrypted_key = models.TextField(
        blank=True, help_text="The encrypted key; empty if workers read it from their environment."
    )
    key_set_at = models.DateTimeField(null=True, blank=True)
    requests_per_minute = models.PositiveIntegerField(null=True, blank=True)
    tokens_per_minute = models.PositiveIntegerField(null=True, blank=True)
    most_in_flight = models.PositiveIntegerField(
        default=32, help_text="The most requests that one worker sends at a time."
    )

    class Meta:
        ordering = ["base_url"]
        constraints = [models.UniqueConstraint(fields=["project", "base_url"], name="endpoint_once")]

    def __str__(self) -> str:
        return self.base_url


class EndpointModel(models.Model):
    """A model at an endpoint: its capabilities, found by a check, and its prices, set by a manager."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="models")
    name = models.CharField(max_length=200)
    api = models.CharField(max_length=12)
    abilities = models.JSONField(
        null=True, blank=True, help_text="Capabilities found by the latest check; null before the first."
    )
    check_asked_at = models.DateTimeField(
        null=True, blank=True, help_text="Time of the latest request for a check."
    )
    checked_at = models.DateTimeField(null=True, blank=True)
    check_failure = FailureField(blank=True)
    input_price = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, blank=True, help_text="US dollars per million tokens."
    )
    output_price = models.DecimalField(
        max_digits=12, decimal_places=6, null=True, blank=True, help_text="US dollars per million tokens."
    )

    class Meta:
        ordering = ["endpoint", "name", "api"]
        constraints = [
            models.UniqueConstraint(fields=["endpoint", "name", "api"], name="endpoint_model_once"),
            models.CheckConstraint(
                condition=models.Q(input_price__isnull=True, output_price__isnull=True)
                | models.Q(input_price__gte=0, output_price__gte=0),
                name="endpoint_model_prices_together",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} at {self.endpoint}"
