"""Scores, or the reasons why there are none."""

from typing import Self

from django.db import models
from django.db.models import Q

from annotation.models import Summary
from scoring.models.runs import Run
from scoring.models.setups import EvaluatorSetup


class ScoreQuerySet(models.QuerySet["Score"]):
    def computed(self) -> Self:
        return self.filter(value__isnull=False)


class Score(models.Model):
    """One number a setup gave one summary on one dimension, or the reason why there is none.

    `inputs` is a digest of the texts that the evaluator was given, so that a score is computed anew when, for
    example, references have been added since. Imported scores have none.
    """

    setup = models.ForeignKey(EvaluatorSetup, on_delete=models.CASCADE, related_name="scores")
    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="scores")
    dimension = models.CharField(max_length=60)
    value = models.FloatField(null=True, blank=True)
    reason = models.TextField(blank=True)
    explanation = models.TextField(blank=True)
    inputs = models.CharField(max_length=16, blank=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="scores")

    objects = ScoreQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["setup", "dimension", "summary"], name="score_once"),
            models.CheckConstraint(
                condition=Q(value__isnull=False, reason="") | (Q(value__isnull=True) & ~Q(reason="")),
                name="score_value_or_reason",
            ),
        ]
        indexes = [models.Index(fields=["run"], condition=Q(value__isnull=True), name="score_missing")]

    def __str__(self) -> str:
        return f"{self.setup_id}/{self.dimension}: {self.value if self.value is not None else self.reason}"
