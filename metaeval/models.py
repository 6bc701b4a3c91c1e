"""What researchers found where an evaluator and people disagree."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import Question, Summary
from scoring.models import EvaluatorSetup


class DisagreementTagQuerySet(models.QuerySet["DisagreementTag"]):
    def current(self) -> Self:
        return self.filter(ended_at__isnull=True)

    def of_pair(self, setup_id: int, question_key: str) -> Self:
        """Those of one evaluator on one question of its project's questionnaire."""
        return self.filter(setup=setup_id, question__key=question_key)


class DisagreementTag(models.Model):
    """Who is wrong about a summary, on one question, between people and one evaluator.

    A changed or removed tag ends and stays, so that it can be seen who thought what before.
    """

    class Verdict(models.TextChoices):
        EVALUATOR = "evaluator", "evaluator wrong"
        LABEL = "label", "label wrong"
        GUIDELINE = "guideline", "guideline gap"
        UNCLEAR = "unclear", "unclear"

    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="disagreement_tags")
    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="+")
    setup = models.ForeignKey(EvaluatorSetup, on_delete=models.CASCADE, related_name="disagreement_tags")
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
