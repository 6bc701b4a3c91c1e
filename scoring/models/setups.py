"""Evaluators as set up in a project, and what they have learnt from."""

from django.conf import settings
from django.db import models

from annotation.models import Article, Project


class SetUp(models.Model):
    """What it takes to make an evaluator anew on a worker and to know it for the one that was planned."""

    project: models.ForeignKey[Project, Project]
    evaluator = models.CharField(max_length=60)
    params = models.JSONField(default=dict)
    fingerprint = models.CharField(max_length=64)
    pool = models.JSONField(
        default=dict,
        help_text="Labels of the examples it has learnt from: summary id to dimension to number.",
    )
    corpus = models.JSONField(
        default=list,
        help_text="Ids of all summaries it looked through before scoring, where its numbers depend on them.",
    )

    class Meta:
        abstract = True


class EvaluatorSetup(SetUp):
    """One evaluator with one set of parameters in one project: a column of scores.

    The fingerprint names all that its numbers depend on, so a change of any of it is a new setup and the
    old scores stay. `provenance` holds what the fingerprint was made of.
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


class SeenArticle(models.Model):
    """An article whose labels or text shaped a setup; the meta-evaluation leaves it out."""

    setup = models.ForeignKey(EvaluatorSetup, on_delete=models.CASCADE)
    article = models.ForeignKey(Article, on_delete=models.CASCADE)
    role = models.CharField(max_length=40, help_text="For example 'in-context example'.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["setup", "article"], name="seen_article_once")]

    def __str__(self) -> str:
        return f"{self.article_id} seen by {self.setup_id}"


class Probe(SetUp):
    """A setup tried on a few summaries, whose scores are not kept, to tell how long a run would take."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="probes")
    summary_ids = models.JSONField(help_text="Those that are tried.")
    total = models.PositiveIntegerField(help_text="Summaries that the run would score.")
    started_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    loading_s = models.FloatField(null=True, blank=True, help_text="Seconds until the model was ready.")
    scoring_s = models.FloatField(null=True, blank=True, help_text="Seconds for the summaries thereafter.")
    failure = models.TextField(blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"probe {self.pk} of {self.evaluator}"
