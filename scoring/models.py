"""Evaluators as set up in a project, their runs, the runs' batches, and the scores."""

from datetime import datetime
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from annotation.models import Article, Project, Summary


class SetUp(models.Model):
    """What it takes to make an evaluator anew on a worker and to know it for the one that was planned."""

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


class Worker(models.Model):
    """A worker that says from time to time that it is there, and which queues it serves."""

    name = models.CharField(max_length=200, unique=True)
    queues = models.JSONField(default=list)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class Run(models.Model):
    """One pass of one setup over a selection of summaries."""

    class Status(models.TextChoices):
        QUEUED = "queued", "waiting"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    UNFINISHED = (Status.QUEUED, Status.RUNNING)

    setup = models.ForeignKey(EvaluatorSetup, on_delete=models.CASCADE, related_name="runs")
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED)
    total = models.PositiveIntegerField(default=0, help_text="Summaries to be scored in this run.")
    reused = models.PositiveIntegerField(default=0, help_text="Summaries whose score was there already.")
    failure = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=["queued", "running", "done", "failed", "cancelled"]),
                name="run_status_known",
            ),
            models.UniqueConstraint(
                fields=["setup"],
                condition=Q(status__in=["queued", "running"]),
                name="one_unfinished_run_per_setup",
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk} of {self.setup}"

    @property
    def is_unfinished(self) -> bool:
        return self.status in self.UNFINISHED


class BatchQuerySet(models.QuerySet["Batch"]):
    def claimable(self, now: datetime) -> Self:
        """Waiting and due, or claimed by a worker that has not renewed its claim.

        Looks at the batch's own columns alone: an UPDATE with this filter is then decided anew for a row that
        another worker has just changed, on every database.
        """
        due = Q(not_before__isnull=True) | Q(not_before__lte=now)
        return self.filter(
            Q(state=Batch.State.WAITING) & due | Q(state=Batch.State.CLAIMED, claimed_until__lt=now)
        )

    def unfinished(self) -> Self:
        return self.filter(state__in=[Batch.State.WAITING, Batch.State.CLAIMED])


class Batch(models.Model):
    """Some of a run's summaries, claimed by one worker at a time; a claim expires."""

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        CLAIMED = "claimed", "claimed"
        DONE = "done", "done"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="batches")
    number = models.PositiveIntegerField()
    summary_ids = models.JSONField()
    size = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    claimed_by = models.CharField(
        max_length=36, blank=True, help_text="A token of the worker's present claim."
    )
    claimed_until = models.DateTimeField(null=True, blank=True)
    not_before = models.DateTimeField(
        null=True, blank=True, help_text="After a failure that may pass, when it may be tried again."
    )
    attempts = models.PositiveSmallIntegerField(default=0)
    unscored = models.PositiveIntegerField(
        default=0, help_text="Summaries that this batch left without a score on some dimension."
    )
    reasons = models.JSONField(default=dict, help_text="Why: reason to number of summaries.")
    cut = models.PositiveIntegerField(
        default=0, help_text="Summaries judged without the end of some text, which a model's limit cut."
    )
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = BatchQuerySet.as_manager()

    class Meta:
        ordering = ["number"]
        verbose_name_plural = "batches"
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="batch_number_once"),
            models.CheckConstraint(
                condition=Q(state__in=["waiting", "claimed", "done"]), name="batch_state_known"
            ),
        ]
        indexes = [models.Index(fields=["run", "state", "number"], name="batch_by_state")]

    def __str__(self) -> str:
        return f"batch {self.number} of run {self.run_id}"


class ScoreQuerySet(models.QuerySet["Score"]):
    def computed(self) -> Self:
        return self.filter(value__isnull=False)


class Score(models.Model):
    """One number a setup gave one summary on one dimension, or the reason why there is none.

    `inputs` is a digest of the texts that the evaluator was given, so that a score is computed anew when, for
    example, references have been added since. Imported scores have none.
    """

    setup = models.ForeignKey(EvaluatorSetup, on_delete=models.CASCADE, related_name="scores")
    summary = models.ForeignKey(Summary, on_delete=models.CASCADE, related_name="scores")
    dimension = models.CharField(max_length=60)
    value = models.FloatField(null=True, blank=True)
    reason = models.TextField(blank=True)
    explanation = models.TextField(blank=True)
    inputs = models.CharField(max_length=16, blank=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="scores")

    objects = ScoreQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["setup", "dimension", "summary"], name="score_once"),
            models.CheckConstraint(
                condition=Q(value__isnull=False, reason="") | (Q(value__isnull=True) & ~Q(reason="")),
                name="score_value_or_reason",
            ),
        ]
        indexes = [models.Index(fields=["run"], condition=Q(value__isnull=True), name="score_missing")]

    def __str__(self) -> str:
        return f"{self.setup_id}/{self.dimension}: {self.value if self.value is not None else self.reason}"
