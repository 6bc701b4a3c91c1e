"""Tags of disagreements, preregistrations of comparisons, and which summaries are rated first."""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import Project, Question, Summary
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


class Preregistration(models.Model):
    """A claim about two evaluators, stated before their comparison's result is known.

    It is never changed. A withdrawn one is kept, with the reason.
    """

    class Claim(models.TextChoices):
        BETTER = "better", "is better than"
        AS_GOOD = "as_good", "is as good as"
        EQUIVALENT = "equivalent", "is equivalent to"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="preregistrations")
    claim = models.CharField(max_length=10, choices=Claim)
    first = models.ForeignKey(Setup, on_delete=models.SET_NULL, null=True, related_name="+")
    second = models.ForeignKey(Setup, on_delete=models.SET_NULL, null=True, related_name="+")
    first_name = models.CharField(max_length=120, help_text="Label of `first`, which may be deleted.")
    second_name = models.CharField(max_length=120)
    question_key = models.CharField(max_length=60)
    level = models.CharField(max_length=20)
    coefficient = models.CharField(max_length=20)
    margin = models.FloatField(default=0, help_text="The loss that still counts as good; 0 for BETTER.")
    language = models.CharField(max_length=12, help_text="A language code, or ALL.")
    group = models.CharField(max_length=40, blank=True, help_text="Group of raters; empty: not chosen.")
    note = models.CharField(max_length=500, blank=True)
    registered_at = models.DateTimeField()
    registered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    ratings_before = models.PositiveIntegerField(help_text="Finished ratings when it was registered.")
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    withdrawn_because = models.CharField(max_length=500, blank=True)
    was_unseen = models.BooleanField(
        default=False, help_text="Withdrawn while there was no rating: its result was not known."
    )

    class Meta:
        ordering = ["registered_at", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(claim="better", margin=0)
                | Q(claim__in=["as_good", "equivalent"], margin__gt=0, margin__lt=1),
                name="preregistered_margin_fits_claim",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.first_name} {self.get_claim_display()} {self.second_name}"


class Priority(models.Model):
    """Summaries of a project are drawn with weights that follow from scores of these evaluators."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="priority")
    question_key = models.CharField(max_length=60)
    evaluators = models.JSONField(help_text="Labels of the setups, which may be deleted.")
    set_at = models.DateTimeField()
    set_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )

    def __str__(self) -> str:
        return f"{', '.join(self.evaluators)} on {self.question_key}"
