"""Scores and schedules of rechecks, which measure a language model's noise and drift."""

from typing import Self

from django.conf import settings
from django.db import models

from annotation.models import Summary
from scoring.models.runs import Run
from scoring.models.scores import Score, ScoreValue
from scoring.models.setups import Setup


class RecheckScore(ScoreValue):
    """A score from one repetition of a recheck, or the original that it is compared with.

    Never one of the setup's own scores. Scores are comparable if their `inputs` are equal.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="recheck_scores")
    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="+")
    repetition = models.PositiveSmallIntegerField(
        help_text="Number of the repetition, from 1; 0 for the setup's own score."
    )

    class Meta(ScoreValue.Meta):
        ordering = ["summary", "dimension", "repetition"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "summary", "dimension", "repetition"], name="recheck_score_once"
            ),
            *ScoreValue.Meta.constraints,
        ]

    @classmethod
    def copy_of(cls, score: Score, run: Run, repetition: int) -> Self:
        """Return an unsaved copy of `score`."""
        return cls(
            run=run,
            repetition=repetition,
            summary_id=score.summary_id,
            dimension=score.dimension,
            value=score.value,
            reason=score.reason,
            explanation=score.explanation,
            inputs=score.inputs,
        )

    def __str__(self) -> str:
        return f"repetition {self.repetition} on {self.dimension} of {self.summary_id}"


class RecheckSchedule(models.Model):
    """The schedule by which a setup's model is checked for drift."""

    setup = models.OneToOneField(Setup, on_delete=models.CASCADE, related_name="recheck_schedule")
    every_days = models.PositiveSmallIntegerField()
    budget = models.DecimalField(
        max_digits=12,
        decimal_places=4,
        null=True,
        blank=True,
        help_text="US dollars for each check; null: no limit.",
    )
    set_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(every_days__gte=1), name="recheck_schedule_some_days")
        ]

    def __str__(self) -> str:
        return f"{self.setup} every {self.every_days} days"
