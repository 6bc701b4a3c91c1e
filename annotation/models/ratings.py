"""Ratings and their answers, which are never overwritten."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.articles import Summary
from annotation.models.assignments import Assignment
from annotation.models.gold import QualificationRound
from annotation.models.guidelines import GuidelinesVersion
from annotation.models.imported import Imported
from annotation.models.projects import Question
from annotation.models.raters import Rater


class RatingQuerySet(models.QuerySet["Rating"]):
    def finished(self) -> Self:
        """Return finished ratings that are neither voided nor of a gold round or a hidden check.

        Those of removed raters are among them.
        """
        return self.filter(
            completed_at__isnull=False, voided_at__isnull=True, round__isnull=True, is_check=False
        )

    def countable(self) -> Self:
        """Return ratings that count: those of `finished` by raters who were not removed."""
        return self.finished().exclude(rater__status=Rater.Status.REMOVED)


class Rating(Imported):
    """One rater's answers to the questionnaire on one summary.

    Begun with the first submitted stage, finished at `completed_at`. `stage_times` lists
    {"stage", "opened_at", "submitted_at"} in ISO 8601. Ratings of gold rounds carry their round, those of
    hidden checks `is_check`, and `gold_shown_at` once their rater has seen the gold answers. A manager who
    voids a rating says why; it is kept and does not count.
    """

    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="ratings")
    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="ratings")
    assignment = models.OneToOneField(
        Assignment, on_delete=models.CASCADE, related_name="rating", null=True, blank=True
    )
    round = models.ForeignKey(
        QualificationRound, on_delete=models.CASCADE, related_name="ratings", null=True, blank=True
    )
    is_check = models.BooleanField(default=False)
    gold_shown_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()
    completed_at = models.DateTimeField(null=True, blank=True)
    stage_times = models.JSONField(default=list, blank=True)
    voided_at = models.DateTimeField(null=True, blank=True)
    voided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,  # few are voided, and every import would keep the index
    )
    void_reason = models.TextField(blank=True)

    objects = RatingQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["rater", "summary"], condition=Q(round__isnull=True), name="rating_once_per_rater"
            ),
            models.UniqueConstraint(
                fields=["round", "summary"], condition=Q(round__isnull=False), name="rating_once_per_round"
            ),
            models.CheckConstraint(
                condition=Q(voided_at__isnull=True) | Q(completed_at__isnull=False),
                name="rating_finished_before_voided",
            ),
        ]
        indexes = [models.Index(fields=["rater", "completed_at"], name="rating_by_rater_and_time")]

    def __str__(self) -> str:
        return f"{self.rater} on {self.summary_id}"

    @property
    def is_reopened(self) -> bool:
        """Return whether its rater is answering it again. Until they finish, it counts as it was."""
        return self.assignment is not None and self.assignment.state == Assignment.State.REOPENED


class AnswerQuerySet(models.QuerySet["Answer"]):
    def current(self) -> Self:
        """Return the latest revision of each answer."""
        return self.filter(is_current=True)


class Answer(models.Model):
    """One revision of the answer to one question. A correction adds a row, and the old one is kept."""

    rating = models.ForeignKey(Rating, on_delete=models.CASCADE, related_name="answers")
    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="+")
    value = models.CharField(max_length=32)
    comment = models.TextField(blank=True)
    revision = models.PositiveSmallIntegerField(default=1)
    is_current = models.BooleanField(default=True)
    after_reveal = models.BooleanField(
        default=False, help_text="True if given after a later stage, perhaps the article, had been shown."
    )
    guidelines = models.ForeignKey(
        GuidelinesVersion,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="answers",
        help_text="The version that the rater followed; empty if there was none or the answer was imported.",
    )
    created_at = models.DateTimeField()

    objects = AnswerQuerySet.as_manager()
    part_of = "rating"

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["rating", "question", "revision"], name="answer_revision_once"),
            models.UniqueConstraint(
                fields=["rating", "question"], condition=Q(is_current=True), name="answer_current_once"
            ),
            models.CheckConstraint(condition=Q(revision__gte=1), name="answer_revision_positive"),
            models.CheckConstraint(condition=~Q(value=""), name="answer_not_empty"),
        ]

    def __str__(self) -> str:
        return f"{self.question_id}: {self.value}"
