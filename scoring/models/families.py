"""Run families: setups of which one thing differs, shown as one experiment."""

from django.conf import settings
from django.db import models

from annotation.models import Project
from scoring.models.setups import EvaluatorSetup


class RunFamily(models.Model):
    """An experiment: what varies, and what stays as it is.

    It holds no runs and no scores. A setup may be in several families, and outlives them all.
    """

    class Kind(models.TextChoices):
        SAMPLING = "sampling", "how examples are drawn"
        SEEDS = "seeds", "seeds"
        EXAMPLES = "examples", "number of examples"
        MODELS = "models", "models or evaluators"
        PARAMETER = "parameter", "another parameter"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="run_families")
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=10, choices=Kind)
    evaluator = models.CharField(
        max_length=60, blank=True, help_text="Empty: it was put together of setups that were there."
    )
    parameter = models.CharField(max_length=60, blank=True, help_text="The parameter that varies.")
    params = models.JSONField(default=dict, help_text="What was given for the others.")
    setups = models.ManyToManyField(EvaluatorSetup, through="FamilyMember", related_name="families")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name_plural = "run families"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind__in=["sampling", "seeds", "examples", "models", "parameter"]),
                name="family_kind_known",
            ),
            models.UniqueConstraint(fields=["project", "name"], name="family_name_once"),
        ]

    def __str__(self) -> str:
        return self.name


class FamilyMember(models.Model):
    """One setup of a family, named by what is special about it."""

    family = models.ForeignKey(RunFamily, on_delete=models.CASCADE, related_name="members")
    setup = models.ForeignKey(EvaluatorSetup, on_delete=models.CASCADE, related_name="memberships")
    label = models.CharField(max_length=500, help_text="The value that varies, in words.")
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["family", "setup"], name="family_setup_once"),
            models.UniqueConstraint(fields=["family", "label"], name="family_label_once"),
        ]

    def __str__(self) -> str:
        return f"{self.label} in {self.family}"
