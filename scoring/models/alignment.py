"""Judges in versions, the parts of labels that may align them, and who looked at the sealed part."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from annotation.models import Project
from scoring.models.runs import Run
from scoring.models.setups import EvaluatorSetup


class LabelSplit(models.Model):
    """How a project's articles, with their labels, fall into pool, tuning and sealed; sealed is the rest.

    Which part an article is in follows from these numbers and its external id alone
    (`scoring.alignment.parts`), so articles that come later fall by the same rule.
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
    """A language model as a judge that is brought nearer to people, version by version."""

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
    """One state of a judge: all parameters of its evaluator. Never changed: the database refuses it."""

    judge = models.ForeignKey(Judge, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    parent = models.ForeignKey(
        "self", on_delete=models.RESTRICT, null=True, blank=True, related_name="children"
    )
    params = models.JSONField()
    note = models.CharField(max_length=500, blank=True, help_text="Why it was made.")
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
    """A version tried on the tuning part. It stays when its run is deleted: the labels were looked at."""

    version = models.ForeignKey(JudgeVersion, on_delete=models.CASCADE, related_name="trials")
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="trials")
    setup = models.ForeignKey(EvaluatorSetup, on_delete=models.SET_NULL, null=True, related_name="trials")
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    started_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-started_at", "-pk"]

    def __str__(self) -> str:
        return f"trial of {self.version}"


class SealedOpening(models.Model):
    """Somebody had a version judged on the sealed part. It stays when its run is deleted."""

    class How(models.TextChoices):
        CONFIRMED = "confirmed", "opened on the judge's page"
        RUN = "run", "by an ordinary run of the same judge"

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
