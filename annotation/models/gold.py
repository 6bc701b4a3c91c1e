"""The gold set, and the rounds that teach and qualify raters."""

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models.articles import Summary
from annotation.models.imported import Imported
from annotation.models.projects import Question
from annotation.models.raters import Rater


class GoldRating(Imported):
    """The agreed answers of one summary, which is then never assigned in production.

    New rounds leave out a retired one. Past rounds are still decided by it.
    """

    summary = models.OneToOneField(Summary, on_delete=models.CASCADE, related_name="gold")
    created_at = models.DateTimeField(auto_now_add=True)
    retired_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"gold of {self.summary_id}"


class GoldAnswer(models.Model):
    gold = models.ForeignKey(GoldRating, on_delete=models.CASCADE, related_name="answers")
    question = models.ForeignKey(Question, on_delete=models.PROTECT)
    value = models.CharField(max_length=32)
    explanation = models.TextField()
    part_of = "gold"

    class Meta:
        ordering = ["question__position"]
        constraints = [
            models.UniqueConstraint(fields=["gold", "question"], name="gold_answer_once"),
            models.CheckConstraint(condition=~Q(value=""), name="gold_answer_not_empty"),
        ]

    def __str__(self) -> str:
        return f"{self.question}: {self.value}"


class GoldAnswerChange(models.Model):
    """A change of one agreed answer. `before` or `after` is empty if the question was not to be asked."""

    gold = models.ForeignKey(GoldRating, on_delete=models.CASCADE, related_name="changes")
    question = models.ForeignKey(Question, on_delete=models.PROTECT, related_name="+")
    before = models.CharField(max_length=32, blank=True)
    after = models.CharField(max_length=32, blank=True)
    changed_at = models.DateTimeField()
    changed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, related_name="+", null=True, blank=True
    )

    class Meta:
        ordering = ["changed_at", "pk"]

    def __str__(self) -> str:
        return f"{self.question}: {self.before} to {self.after}"


class QualificationRound(models.Model):
    """A round of gold summaries in one language for one rater. `passed` is null until it is decided.

    Numbers count a rater's rounds in all languages. `allowed_by` is the manager who let the rater try again
    after the last of the rounds that the project's settings allow. `results` keeps what decided the round,
    since gold answers may change: {question key: [matched, asked, threshold]}. Older rounds have none.
    """

    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="rounds")
    language = models.CharField(max_length=12)
    number = models.PositiveSmallIntegerField()
    started_at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    passed = models.BooleanField(null=True, blank=True)
    results = models.JSONField(default=dict, blank=True)
    allowed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, related_name="+", null=True, blank=True
    )

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["rater", "number"], name="round_number_once"),
            models.UniqueConstraint(
                fields=["rater", "language"],
                condition=Q(decided_at__isnull=True),
                name="one_open_round_in_language",
            ),
            models.CheckConstraint(
                condition=Q(decided_at__isnull=True, passed__isnull=True)
                | Q(decided_at__isnull=False, passed__isnull=False),
                name="round_decided_with_result",
            ),
        ]

    def __str__(self) -> str:
        return f"round {self.number} of {self.rater}"


class Qualification(models.Model):
    """A language in which a rater gets production summaries.

    A passed `round` or a manager, `decided_by`, gave it. Both are empty if it is older than qualification by
    language.
    """

    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="qualifications")
    language = models.CharField(max_length=12)
    since = models.DateTimeField()
    round = models.ForeignKey(
        QualificationRound, on_delete=models.SET_NULL, related_name="+", null=True, blank=True
    )
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, related_name="+", null=True, blank=True
    )

    class Meta:
        ordering = ["language"]
        constraints = [
            models.UniqueConstraint(fields=["rater", "language"], name="qualified_once_in_language"),
        ]

    def __str__(self) -> str:
        return f"{self.rater} in {self.language}"


class CheckSuspension(models.Model):
    """A rater's suspension by the platform, because their hidden checks in a language were too often wrong.

    Of the gold answers of the last `checks`, `matched` of `asked` were given; `threshold` is the least share.
    """

    rater = models.ForeignKey(Rater, on_delete=models.CASCADE, related_name="check_suspensions")
    language = models.CharField(max_length=12)
    suspended_at = models.DateTimeField()
    lifted_at = models.DateTimeField(null=True, blank=True)
    checks = models.PositiveSmallIntegerField()
    matched = models.PositiveIntegerField()
    asked = models.PositiveIntegerField()
    threshold = models.FloatField()

    class Meta:
        ordering = ["suspended_at"]

    def __str__(self) -> str:
        return f"{self.rater}: {self.matched} of {self.asked}"

    @property
    def share(self) -> float:
        """Return the share of answers that match the gold answers, 0 to 1."""
        return self.matched / self.asked
