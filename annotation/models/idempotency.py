"""Idempotency keys: requests to create something that a client may repeat."""

from django.conf import settings
from django.db import models
from django.db.models import Q


class IdempotencyKey(models.Model):
    """A key that a client gave with a request, and the request's answer.

    `annotation/web/idempotency.py` says how they come about.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    key_digest = models.CharField(max_length=64, help_text="Digest of the key, which is not stored.")
    request_digest = models.CharField(max_length=64, help_text="Digest of method, address and content.")
    claimed_at = models.DateTimeField(db_index=True)
    status = models.PositiveSmallIntegerField(null=True, help_text="Null while the request is in progress.")
    answer = models.TextField(blank=True, help_text="The answer's JSON, encrypted with the key.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "key_digest"], name="idempotency_key_once"),
            models.CheckConstraint(
                condition=Q(status__isnull=True, answer="") | Q(status__isnull=False) & ~Q(answer=""),
                name="idempotency_key_answered",
            ),
        ]

    def __str__(self) -> str:
        return f"key of {self.user}"
