"""Tags of disagreements between people and evaluators."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import Question, Summary
from scoring.models import Setup


class DisagreementTagQuerySet(models.QuerySet["DisagreementTag"]):
    def current(self) -> Self:
        return self.filter(ended_at__isnull=True)

    def of_pair(self, setup_id: int, question_key: str) -> Self:
        """Return the tags of one evaluator on one question of its project."""
        return self.filter(setup=setup_id, question__key=question_key)


class DisagreementTag(models.Model):
    """A note on who is wrong about a summary on one question: people or the evaluator.

    A changed or removed tag is ended and kept as history.
    """

    class Verdict(models.TextChoices):
        EVALUATOR = "evaluator", "evaluator wrong"
        LABEL = "label", "label wrong"
        GUIDELINE = "guideline", "guideline gap"
        UNCLEAR = "unclear", "unclear"

    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="disagreement_tags")
    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="+")
    setup = models.ForeignKey(Setup, on_delete=models.CASCADE, related_name="disagreement_tags")
    verdict = models.CharField(max_length=10, choices=Verdict)
    note = models.CharField(max_length=500, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField()
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = DisagreementTagQuerySet.as_manager()

    class Meta:
        ordering = ["created_at", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["setup", "question", "summary"],
                condition=Q(ended_at__isnull=True),
                name="one_current_disagreement_tag",
            ),
            models.CheckConstraint(
                condition=Q(verdict__in=["evaluator", "label", "guideline", "unclear"]),
                name="disagreement_verdict_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_verdict_display()}: summary {self.summary_id}, setup {self.setup_id}"
