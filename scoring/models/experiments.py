"""Experiments: setups that differ in one setting, compared together."""

from django.conf import settings
from django.db import models

from annotation.models import Project
from scoring.models.setups import Setup


class Experiment(models.Model):
    """Setups that differ in one setting.

    An experiment owns no runs or scores. A setup may belong to several experiments and outlives them.
    """

    class Kind(models.TextChoices):
        SAMPLING = "sampling", "sampling of examples"
        SEEDS = "seeds", "seeds"
        EXAMPLES = "examples", "number of examples"
        MODELS = "models", "models or evaluators"
        PARAMETER = "parameter", "another parameter"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="experiments")
    name = models.CharField(max_length=120)
    kind = models.CharField(max_length=10, choices=Kind)
    evaluator = models.CharField(
        max_length=60,
        blank=True,
        help_text="Name of the evaluator; empty if the experiment was made of existing setups.",
    )
    parameter = models.CharField(max_length=60, blank=True, help_text="The parameter that varies.")
    params = models.JSONField(default=dict, help_text="Values of the other parameters.")
    setups = models.ManyToManyField(Setup, through="ExperimentMember", related_name="experiments")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        verbose_name_plural = "experiments"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind__in=["sampling", "seeds", "examples", "models", "parameter"]),
                name="experiment_kind_known",
            ),
            models.UniqueConstraint(fields=["project", "name"], name="experiment_name_once"),
        ]

    def __str__(self) -> str:
        return self.name


class ExperimentMember(models.Model):
    """One setup of an experiment, labelled by its value of the setting that varies."""

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="members")
    setup = models.ForeignKey(Setup, on_delete=models.CASCADE, related_name="memberships")
    label = models.CharField(max_length=500, help_text="The value that varies, in words.")
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["experiment", "setup"], name="experiment_setup_once"),
            models.UniqueConstraint(fields=["experiment", "label"], name="experiment_label_once"),
        ]

    def __str__(self) -> str:
        return f"{self.label} in {self.experiment}"
