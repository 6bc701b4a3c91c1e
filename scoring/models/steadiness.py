"""Language models asked again: do they say the same twice, and do they still say what they said?"""

from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import Summary
from scoring.models.setups import EvaluatorSetup


class ReaskingQuerySet(models.QuerySet["Reasking"]):
    def claimable(self, now: datetime) -> Self:
        """Unfinished, and claimed by no worker that still renews its claim."""
        return self.filter(Q(claimed_until__isnull=True) | Q(claimed_until__lt=now), ended_at__isnull=True)


class Reasking(models.Model):
    """Some of a setup's summaries, asked again several times."""

    class Kind(models.TextChoices):
        CONSISTENCY = "consistency", "self-consistency"
        DRIFT = "drift", "drift"

    setup = models.ForeignKey(EvaluatorSetup, on_delete=models.CASCADE, related_name="reaskings")
    kind = models.CharField(max_length=12, choices=Kind)
    summary_ids = models.JSONField(help_text="Those that are asked again.")
    repeats = models.PositiveSmallIntegerField(help_text="How often each is asked.")
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Empty: by the schedule.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    claimed_by = models.CharField(
        max_length=36, blank=True, help_text="A token of the worker's present claim."
    )
    claimed_until = models.DateTimeField(null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0, help_text="Claims so far.")
    failure = models.TextField(blank=True)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    cost = models.DecimalField(
        max_digits=14,
        decimal_places=8,
        null=True,
        blank=True,
        help_text="US dollars; null: no price was known.",
    )
    budget = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, blank=True, help_text="US dollars; null: no limit."
    )
    set_aside = models.DecimalField(
        max_digits=14,
        decimal_places=8,
        default=0,
        help_text="US dollars, for requests under way or of workers that were killed.",
    )
    has_changed = models.BooleanField(
        null=True, blank=True, help_text="Of a drift: whether the model answers differently."
    )

    objects = ReaskingQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=["consistency", "drift"]), name="reasking_kind_known"
            ),
            models.UniqueConstraint(
                fields=["setup", "kind"],
                condition=Q(ended_at__isnull=True),
                name="one_unfinished_reasking_per_kind",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.pk} of {self.setup}"

    @property
    def is_unfinished(self) -> bool:
        return self.ended_at is None


class ReaskedReply(models.Model):
    """What was said of one summary on one dimension, the first time or when asked again."""

    reasking = models.ForeignKey(Reasking, on_delete=models.CASCADE, related_name="replies")
    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="+")
    dimension = models.CharField(max_length=60)
    repeat = models.PositiveSmallIntegerField(help_text="From 1; 0 is the reply that the run got.")
    value = models.FloatField(null=True, blank=True)
    reason = models.TextField(blank=True)
    text = models.TextField(blank=True)
    model = models.CharField(
        max_length=200, blank=True, help_text="The model's name as the endpoint tells it."
    )

    class Meta:
        ordering = ["summary", "dimension", "repeat"]
        verbose_name_plural = "reasked replies"
        constraints = [
            models.UniqueConstraint(
                fields=["reasking", "summary", "dimension", "repeat"], name="reasked_once"
            )
        ]

    def __str__(self) -> str:
        return f"reply {self.repeat} on {self.dimension} of {self.summary_id}"


class ReaskingSchedule(models.Model):
    """A setup whose model is asked again of its own accord every so many days, to notice that it changed."""

    setup = models.OneToOneField(EvaluatorSetup, on_delete=models.CASCADE, related_name="reasking_schedule")
    every_days = models.PositiveSmallIntegerField()
    budget = models.DecimalField(
        max_digits=12,
        decimal_places=4,
        null=True,
        blank=True,
        help_text="US dollars, each time; null: no limit.",
    )
    set_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(every_days__gte=1), name="reasking_schedule_some_days")
        ]

    def __str__(self) -> str:
        return f"{self.setup} every {self.every_days} days"
