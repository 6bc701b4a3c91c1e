"""Members of projects, invitations and API tokens."""

import hashlib
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy

from annotation.models.projects import Project


class Role(models.TextChoices):
    ANNOTATOR = "annotator", gettext_lazy("annotator")
    MANAGER = "manager", gettext_lazy("manager")
    RESEARCHER = "researcher", gettext_lazy("researcher")


class Membership(models.Model):
    """A manager's or researcher's role in a project. Annotators have a `Rater` instead."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=[("manager", "manager"), ("researcher", "researcher")])

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "user", "role"], name="membership_once"),
            models.CheckConstraint(
                condition=Q(role__in=["manager", "researcher"]), name="membership_role_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user} as {self.role}"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self) -> Self:
        """Return invitations whose links work."""
        return self.filter(accepted_at__isnull=True, revoked_at__isnull=True, expires_at__gt=timezone.now())


class Invitation(models.Model):
    """A link by which one person joins a project. Only the hash of its token is stored."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Role, default=Role.ANNOTATOR)
    languages = models.JSONField(default=list, blank=True)
    note = models.CharField(
        max_length=120, blank=True, help_text="Recipient of the invitation. Only managers see this."
    )
    email = models.EmailField(blank=True, help_text="E-mail address to which the link is sent.")
    token_hash = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    accepted_at = models.DateTimeField(null=True, blank=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=Q(role__in=["annotator", "manager", "researcher"]), name="invitation_role_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role} for {self.project}"

    @property
    def described(self) -> str:
        """Return whom the invitation is for, as the audit log names it."""
        return ", ".join(filter(None, (self.role, self.email, self.note)))

    @property
    def status(self) -> str:
        """Return open, used, revoked or expired."""
        if self.accepted_at is not None:
            return "used"
        if self.revoked_at is not None:
            return "revoked"
        return "open" if self.expires_at > timezone.now() else "expired"


class SignOnIdentity(models.Model):
    """A user's identity at an OpenID Connect provider."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_on_identities"
    )
    issuer = models.CharField(max_length=255)
    subject = models.CharField(max_length=255, help_text="The provider's name for the person, which stays.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["issuer", "subject"], name="sign_on_identity_once"),
        ]

    def __str__(self) -> str:
        return f"{self.subject} at {self.issuer}"


def token_hash(token: str) -> str:
    """Return the stored hash of a token. It has 256 random bits, so it needs no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


class ApiToken(models.Model):
    """A personal API token. Only its hash is stored, so it is shown once."""

    class Scope(models.TextChoices):
        READ = "read", gettext_lazy("Read results")
        RATE = "rate", gettext_lazy("Rate summaries")
        MANAGE = "manage", gettext_lazy("Read and manage")

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens")
    label = models.CharField(max_length=80)
    token_hash = models.CharField(max_length=64, unique=True)
    project = models.ForeignKey(
        Project,
        on_delete=models.CASCADE,
        null=True,
        blank=True,
        related_name="+",
        help_text="The only project that the token opens; empty for all of its owner's.",
    )
    scope = models.CharField(max_length=10, choices=Scope, default=Scope.READ, db_default=Scope.READ)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.label

    @property
    def has_expired(self) -> bool:
        return self.expires_at <= timezone.now()
