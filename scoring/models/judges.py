"""Judges and their versions, the label split, trials, and openings of the sealed labels."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from annotation.models import Project
from scoring.models.runs import Run
from scoring.models.setups import Setup


class LabelSplit(models.Model):
    """The split of a project's labelled articles into pool, tuning and sealed; sealed is the rest.

    The part of an article depends only on these numbers and its external id
    (`scoring.sealed_labels.label_parts`), so later imports follow the same split.
    """

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="label_split")
    seed = models.PositiveIntegerField(default=0)
    pool_share = models.FloatField(default=0.2, help_text="Share of articles that examples come from.")
    tuning_share = models.FloatField(default=0.4, help_text="Share of articles that trials are measured on.")
    set_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    set_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(pool_share__gt=0, tuning_share__gt=0) & Q(pool_share__lt=1 - F("tuning_share")),
                name="label_split_has_three_parts",
            )
        ]

    def __str__(self) -> str:
        return f"split of {self.project_id}, seed {self.seed}"


class Judge(models.Model):
    """An evaluator that asks a language model, improved in versions of its prompt."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="judges")
    name = models.CharField(max_length=60)
    evaluator = models.CharField(max_length=60)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="judge_name_once"),
            models.CheckConstraint(condition=~Q(name=""), name="judge_has_name"),
        ]

    def __str__(self) -> str:
        return self.name


class JudgeVersion(models.Model):
    """All parameters of a judge's evaluator. Never changed: the database refuses it."""

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    parent = models.ForeignKey(
        "self", on_delete=models.RESTRICT, null=True, blank=True, related_name="children"
    )
    params = models.JSONField()
    note = models.CharField(max_length=500, blank=True, help_text="The reason for the version.")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint(fields=["judge", "number"], name="judge_version_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="judge_version_from_one"),
        ]

    def __str__(self) -> str:
        return f"{self.judge.name} v{self.number}"


class Trial(models.Model):
    """A version scored on the tuning part. Kept when its run is deleted: the labels were seen."""

    version = models.ForeignKey(JudgeVersion, on_delete=models.CASCADE, related_name="trials")
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="trials")
    setup = models.ForeignKey(Setup, on_delete=models.SET_NULL, null=True, related_name="trials")
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    started_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-started_at", "-pk"]

    def __str__(self) -> str:
        return f"trial of {self.version}"


class SealedOpening(models.Model):
    """A version scored on the sealed part. Kept when its run is deleted."""

    class How(models.TextChoices):
        CONFIRMED = "confirmed", "opened on the judge's page"
        RUN = "run", "ordinary run of the same judge"

    version = models.ForeignKey(JudgeVersion, on_delete=models.CASCADE, related_name="openings")
    how = models.CharField(max_length=10, choices=How, default=How.CONFIRMED)
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="sealed_openings")
    opened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    opened_at = models.DateTimeField()

    class Meta:
        ordering = ["opened_at", "pk"]
        constraints = [
            models.CheckConstraint(condition=Q(how__in=["confirmed", "run"]), name="sealed_opening_how_known")
        ]

    def __str__(self) -> str:
        return f"{self.version} on sealed labels"
