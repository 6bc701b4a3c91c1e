"""Setups of evaluators in a project, and what they have learnt from."""

from django.conf import settings
from django.db import models

from annotation.models import Article, FailureField, Imported, Project


class SetupBase(models.Model):
    """All that a worker needs to rebuild an evaluator and to verify that it is the planned one."""

    project: models.ForeignKey[Project, Project]
    evaluator = models.CharField(max_length=60)
    params = models.JSONField(default=dict)
    fingerprint = models.CharField(max_length=64)
    pool = models.JSONField(
        default=dict,
        help_text="Labels it has learnt from: summary id to dimension to number.",
    )
    corpus = models.JSONField(
        default=list,
        help_text="Ids of the summaries it read before scoring, if its scores depend on them.",
    )

    class Meta:
        abstract = True


class Setup(SetupBase, Imported):
    """One evaluator with one set of parameters in one project: a column of scores.

    The fingerprint covers all that its scores depend on, so any change makes a new setup and the old scores
    stay. `provenance` holds what the fingerprint was computed from.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="setups")
    label = models.CharField(max_length=120)
    signature = models.CharField(max_length=400)
    provenance = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)
    seen_articles = models.ManyToManyField(Article, through="SeenArticle", related_name="+")

    class Meta:
        ordering = ["label", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["project", "fingerprint"], name="setup_once_in_project")
        ]

    def __str__(self) -> str:
        return self.label


def _dimension() -> "models.CharField[str, str]":
    return models.CharField(
        max_length=60, blank=True, help_text="Dimension of the labels that were seen; empty: every one."
    )


class SeenArticle(models.Model):
    """An article whose labels or text shaped a setup; comparisons leave it out.

    With a dimension, only its labels on this dimension did, and only comparisons with these leave it out.
    """

    setup = models.ForeignKey(Setup, on_delete=models.CASCADE)
    article = models.ForeignKey(Article, on_delete=models.CASCADE)
    dimension = _dimension()
    role = models.CharField(max_length=40, help_text="Use of the article, such as 'in-context example'.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["setup", "article", "dimension"], name="seen_article_once")
        ]

    def __str__(self) -> str:
        return f"{self.article_id} seen by {self.setup_id}"


class SeenText(models.Model):
    """An article's text that shaped a setup, wherever it came from.

    Articles of the project with this text are `SeenArticle`s, also those imported later.
    """

    setup = models.ForeignKey(Setup, on_delete=models.CASCADE, related_name="seen_texts")
    text_digest = models.CharField(max_length=64)
    dimension = _dimension()
    role = models.CharField(max_length=40, help_text="Use of the text, such as 'validation'.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["setup", "text_digest", "dimension"], name="seen_text_once")
        ]

    def __str__(self) -> str:
        return f"{self.text_digest[:8]} seen by {self.setup_id}"


class Probe(SetupBase):
    """A setup tried on a few summaries to estimate how long a run would take. Its scores are discarded."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="probes")
    summary_ids = models.JSONField(help_text="Ids of the summaries to try.")
    total = models.PositiveIntegerField(help_text="Number of summaries that the run would score.")
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    loading_s = models.FloatField(null=True, blank=True, help_text="Seconds until the model was ready.")
    scoring_s = models.FloatField(
        null=True, blank=True, help_text="Seconds to score the summaries after that."
    )
    failure = FailureField(blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"probe {self.pk} of {self.evaluator}"
