"""Assignments of summaries to raters, and raters' flags of articles."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy

from annotation.models.articles import Summary
from annotation.models.gold import QualificationRound
from annotation.models.raters import Rater


class AssignmentQuerySet(models.QuerySet["Assignment"]):
    def held(self) -> Self:
        """Return the assignments that raters have open, for the first time or again."""
        return self.filter(state__in=Assignment.HELD)

    def release(self) -> int:
        """End the leases of those that are held. Return how many.

        A re-opened rating stays as it was. Recount the places of the other summaries afterwards.
        """
        kept = self.filter(state=Assignment.State.REOPENED).update(
            state=Assignment.State.DONE, draft={}, resubmitted=[]
        )
        return kept + self.filter(state=Assignment.State.OPEN).update(state=Assignment.State.RELEASED)


class Assignment(models.Model):
    """A lease on one summary for one rater, in production or, with `round`, in a gold round.

    With `is_check`, the summary is gold and hidden in production: its rater cannot tell, and it never counts.

    A released assignment has expired and may return to the same rater. A skipped one does not. A re-opened
    one has a finished rating, which counts as it was until its rater finishes it anew.

    `stage` is the open stage; the answers of earlier stages are locked. `draft` holds answers that are not
    submitted yet: {question key: {"value": str, "comment": str}}. `resubmitted` holds the stages of a
    re-opened rating that are submitted again: see `annotation.rating.desk.Submission`.
    """

    class State(models.TextChoices):
        OPEN = "open", "open"
        REOPENED = "reopened", "re-opened"
        DONE = "done", "done"
        RELEASED = "released", "released"
        SKIPPED = "skipped", "skipped"

    class SkipReason(models.TextChoices):
        LANGUAGE = "language", gettext_lazy("I do not know the language well enough")
        TEXT = "text", gettext_lazy("The text is broken or incomplete")
        HARD = "hard", gettext_lazy("I cannot judge it")
        CONTENT = "content", gettext_lazy("The content disturbs me")
        OTHER = "other", gettext_lazy("Another reason")

    HELD = (State.OPEN, State.REOPENED)

    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="assignments")
    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="assignments")
    round = models.ForeignKey(
        QualificationRound, on_delete=models.CASCADE, related_name="assignments", null=True, blank=True
    )
    is_check = models.BooleanField(default=False)
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    skip_reason = models.CharField(
        max_length=10,
        choices=SkipReason,
        blank=True,
        default="",
        db_default="",
        help_text="Reason of a skipped assignment.",
    )
    stage = models.PositiveSmallIntegerField(default=1)
    stage_opened_at = models.DateTimeField()
    leased_until = models.DateTimeField()
    draft = models.JSONField(default=dict, blank=True)
    resubmitted = models.JSONField(default=list, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AssignmentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["rater", "summary"], condition=Q(round__isnull=True), name="assignment_once_per_rater"
            ),
            models.UniqueConstraint(
                fields=["round", "summary"],
                condition=Q(round__isnull=False),
                name="assignment_once_per_round",
            ),
            models.CheckConstraint(
                condition=Q(state__in=["open", "reopened", "done", "released", "skipped"]),
                name="assignment_state_known",
            ),
            models.CheckConstraint(condition=Q(stage__gte=1), name="assignment_stage_positive"),
        ]
        indexes = [
            models.Index(
                fields=["leased_until"],
                condition=Q(state__in=["open", "reopened"]),
                name="assignment_open_leases",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.rater} on {self.summary_id}"


class ArticleFlag(models.Model):
    """A rater's note that something is wrong with an article, one per assignment.

    A manager resolves it with a note of their own, and may open it again. The note is then kept.
    """

    assignment = models.OneToOneField(Assignment, on_delete=models.CASCADE, related_name="flag")
    reason = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    resolved_at = models.DateTimeField(null=True, blank=True)
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    note = models.TextField(blank=True)

    def __str__(self) -> str:
        return self.reason
