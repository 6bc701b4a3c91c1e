"""The audit log: who changed what, when and why. Entries are never changed or deleted."""

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.utils import timezone


class AuditEntry(models.Model):
    """One action of a person, a command or a worker. `annotation/audit/log.py` writes them.

    Triggers in the database refuse changes and deletions. So the references have no constraint: an entry
    stays as it is when its project or its actor is deleted.
    """

    at = models.DateTimeField(default=timezone.now)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        null=True,
        related_name="+",
    )
    actor_name = models.CharField(max_length=150, help_text="Username at that time; empty for a command.")
    project = models.ForeignKey(
        "annotation.Project",
        on_delete=models.DO_NOTHING,
        db_constraint=False,
        null=True,
        related_name="audit_entries",
        help_text="The project; empty if the action concerns an account only.",
    )
    action = models.CharField(max_length=40, help_text="One of annotation.audit.actions.Action.")
    object = models.CharField(max_length=200, help_text="The object of the action, in words.")
    reason = models.CharField(max_length=500)
    details = models.JSONField(
        default=dict,
        encoder=DjangoJSONEncoder,
        help_text="Further facts, without secrets, texts and answers.",
    )

    class Meta:
        ordering = ["-pk"]
        verbose_name_plural = "audit entries"
        indexes = [models.Index(fields=["project", "-id"], name="audit_of_project")]

    def __str__(self) -> str:
        return f"{self.actor_name}: {self.action} {self.object}"
