"""Learning curves: one method trained on growing shares of the articles, with several seeds."""

from django.conf import settings
from django.db import models

from annotation.models import FailureField, Project
from scoring.models.setups import Setup
from scoring.models.trainings import Training


class LearningCurve(models.Model):
    """Trainings that differ in their share of the training articles and in their seed.

    All of them leave out the same test articles, on which their models are compared.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="learning_curves")
    name = models.CharField(max_length=120)
    method = models.CharField(max_length=60)
    params = models.JSONField(default=dict, help_text="Parameters that all trainings share.")
    pool = models.JSONField(
        default=dict, help_text="Summaries to learn from: id to what people said at the start."
    )
    test_articles = models.JSONField(
        default=list, help_text="Text digests of the articles that no training sees."
    )
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="learning_curve_name_once"),
        ]

    def __str__(self) -> str:
        return self.name


class CurveModel(models.Model):
    """One model of a learning curve: its training, and the setup that scores the test articles with it."""

    curve = models.ForeignKey(LearningCurve, on_delete=models.CASCADE, related_name="models")
    training = models.OneToOneField(Training, on_delete=models.CASCADE, related_name="curve_model")
    share = models.FloatField(help_text="Share of the training articles, above 0 and at most 1.")
    seed = models.PositiveIntegerField()
    examples = models.PositiveIntegerField(help_text="Training examples.")
    is_handed_over = models.BooleanField(
        default=False, help_text="True if scoring was started after the training."
    )
    setup = models.ForeignKey(
        Setup, on_delete=models.SET_NULL, null=True, blank=True, related_name="curve_models"
    )
    failure = FailureField(blank=True, help_text="The reason why scoring could not be started.")

    class Meta:
        ordering = ["share", "seed"]
        constraints = [
            models.UniqueConstraint(fields=["curve", "share", "seed"], name="curve_model_once"),
        ]

    def __str__(self) -> str:
        return f"{self.share:.4g} with seed {self.seed} of {self.curve}"
