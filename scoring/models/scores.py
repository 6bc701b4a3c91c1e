"""Scores, or the reasons why there are none."""

from typing import Self

from django.db import models
from django.db.models import Q

from annotation.models import Summary
from scoring.models.runs import Run
from scoring.models.setups import Setup


class ScoreQuerySet(models.QuerySet["Score"]):
    def computed(self) -> Self:
        return self.filter(value__isnull=False)


class ScoreValue(models.Model):
    """One number for one summary on one dimension, or the reason why there is none.

    `inputs` is a digest of the texts the evaluator was given: if they change, the score is computed again.
    Imported scores have none.
    """

    dimension = models.CharField(max_length=60)
    value = models.FloatField(null=True, blank=True)
    reason = models.TextField(blank=True)
    explanation = models.TextField(blank=True)
    inputs = models.CharField(max_length=16, blank=True)

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(
                condition=Q(value__isnull=False, reason="") | (Q(value__isnull=True) & ~Q(reason="")),
                name="%(class)s_value_or_reason",
            )
        ]


class Score(ScoreValue):
    """One score of a setup; there is one for each summary and dimension."""

    setup = models.ForeignKey(Setup, on_delete=models.CASCADE, related_name="scores")
    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="scores")
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="scores")
    part_of = "run"

    objects = ScoreQuerySet.as_manager()

    class Meta(ScoreValue.Meta):
        constraints = [
            models.UniqueConstraint(fields=["setup", "dimension", "summary"], name="score_once"),
            *ScoreValue.Meta.constraints,
        ]
        indexes = [models.Index(fields=["run"], condition=Q(value__isnull=True), name="score_missing")]

    def __str__(self) -> str:
        return f"{self.setup_id}/{self.dimension}: {self.value if self.value is not None else self.reason}"
