"""Projects and their questionnaires."""

from functools import cached_property

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models, transaction
from django.db.models import Q, Value

from annotation import protocol
from annotation.database.joined_rows import insert, prepared_cursor
from annotation.models.changes import KEPT_CHANGES, Changed, ProjectChange

LICENCE_PATTERN = r"[a-z0-9][a-z0-9.-]{0,39}"
"""Regular expression for the identifier of a licence as Hugging Face writes it."""


# Not `closed_at IS NOT NULL`, which SQLite 3.40 takes for true when it returns it from an update.
BUMP = "UPDATE annotation_project SET revision = revision + 1 WHERE id = %s RETURNING revision, closed_at"


class Questionnaire(models.Model):
    """A stored `protocol.Questionnaire`. Never edited; a change makes a new questionnaire."""

    key = models.SlugField(max_length=60, unique=True)
    title = models.CharField(max_length=200)
    stage_titles = models.JSONField()

    def __str__(self) -> str:
        return self.title

    @cached_property
    def protocol(self) -> protocol.Questionnaire:
        return protocol.Questionnaire(
            key=self.key,
            title=self.title,
            stage_titles=tuple(self.stage_titles),
            questions=tuple(question.protocol for question in self.questions.all()),
        )


class Question(models.Model):
    questionnaire = models.ForeignKey(Questionnaire, on_delete=models.CASCADE, related_name="questions")
    position = models.PositiveSmallIntegerField()
    key = models.SlugField(max_length=60)
    dimension = models.SlugField(max_length=60)
    title = models.CharField(max_length=80)
    wording = models.TextField()
    stage = models.PositiveSmallIntegerField(validators=[MinValueValidator(1)])
    scale_kind = models.CharField(max_length=10, choices=[(kind, kind) for kind in protocol.ScaleKind])
    scale_values = models.JSONField(default=list, blank=True)
    scale_numbers = models.JSONField(default=dict, blank=True)
    scale_low = models.FloatField(null=True, blank=True)
    scale_high = models.FloatField(null=True, blank=True)
    needs_article = models.BooleanField(default=False)
    stops_rating_on = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["position"]
        constraints = [
            models.UniqueConstraint(fields=["questionnaire", "key"], name="question_key_once"),
            models.UniqueConstraint(fields=["questionnaire", "position"], name="question_position_once"),
            models.CheckConstraint(
                condition=Q(scale_kind__in=[kind.value for kind in protocol.ScaleKind]),
                name="question_scale_known",
            ),
        ]

    def __str__(self) -> str:
        return self.title

    @cached_property
    def protocol(self) -> protocol.Question:
        return protocol.Question(
            key=self.key,
            dimension=self.dimension,
            title=self.title,
            wording=self.wording,
            stage=self.stage,
            scale=protocol.Scale(
                protocol.ScaleKind(self.scale_kind),
                tuple(self.scale_values),
                self.scale_numbers or None,
                self.scale_low,
                self.scale_high,
            ),
            needs_article=self.needs_article,
            stops_rating_on=tuple(self.stops_rating_on),
        )


class Project(models.Model):
    """One evaluation campaign."""

    slug = models.SlugField(max_length=60, unique=True)
    name = models.CharField(max_length=120)
    description = models.TextField(blank=True)
    licence = models.CharField(
        max_length=40,
        blank=True,
        help_text="Licence of exported ratings as Hugging Face writes it, such as cc-by-4.0.",
        validators=[
            RegexValidator(rf"^{LICENCE_PATTERN}\Z", "Enter an identifier in lower case, such as cc-by-4.0.")
        ],
    )
    questionnaire = models.ForeignKey(Questionnaire, on_delete=models.PROTECT, related_name="projects")
    created_at = models.DateTimeField(auto_now_add=True)
    default_language = models.CharField(
        max_length=12,
        default="en",
        help_text="Language of the guidelines for raters who have none in their own.",
    )

    redundancy = models.PositiveSmallIntegerField(
        default=1, help_text="Ratings that each summary gets.", validators=[MinValueValidator(1)]
    )
    extra_redundancy = models.PositiveSmallIntegerField(
        default=3,
        help_text="Ratings that summaries of the shared part get, for agreement.",
        validators=[MinValueValidator(1)],
    )
    extra_share = models.FloatField(
        default=0,
        help_text="Share of summaries in the shared part, from 0 to 1.",
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )
    lease_minutes = models.PositiveSmallIntegerField(
        default=60, help_text="Minutes after which an unfinished summary goes to another rater."
    )
    daily_goal = models.PositiveSmallIntegerField(
        default=60, help_text="Summaries a rater is asked to rate in a day."
    )
    allow_corrections = models.BooleanField(
        default=True, help_text="Raters may correct a finished rating; the first answer is kept for audit."
    )
    articles_once = models.BooleanField(
        default=False, help_text="No rater gets a second summary of an article."
    )
    pair_evenly = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Each two raters share about the same number of summaries.",
    )
    contradiction_notice = models.BooleanField(
        default=False, help_text="Raters are asked once to check answers that contradict each other."
    )
    gold_round_size = models.PositiveSmallIntegerField(
        default=20, help_text="Gold summaries in the first round."
    )
    gold_retry_size = models.PositiveSmallIntegerField(
        default=10, help_text="Gold summaries in each further round."
    )
    gold_rounds = models.PositiveSmallIntegerField(
        default=0, help_text="Failed rounds after which a manager decides; 0 for no limit."
    )
    gold_threshold = models.FloatField(
        default=0.8,
        help_text="Minimum agreement with gold on each question, from 0 to 1.",
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )
    gold_thresholds = models.JSONField(
        default=dict, blank=True, help_text="Questions with a threshold of their own: key to share."
    )
    check_rate = models.FloatField(
        default=0,
        help_text="Share of a qualified rater's work that is a hidden check, from 0 to 1.",
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )
    check_feedback = models.BooleanField(
        default=False, help_text="Raters see the gold answers after a check."
    )
    check_threshold = models.FloatField(
        default=0,
        help_text="Share of gold answers below which a rater is suspended, from 0 to 1.",
        validators=[MinValueValidator(0), MaxValueValidator(1)],
    )
    check_window = models.PositiveSmallIntegerField(
        default=20, help_text="Number of a rater's last checks that count."
    )
    check_minimum = models.PositiveSmallIntegerField(
        default=10, help_text="Checks before a rater can be suspended."
    )

    results_published_at = models.DateTimeField(
        null=True, blank=True, help_text="Time since which anybody may see the results."
    )

    closed_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="Time since which the ratings are final: none are added or corrected.",
    )

    archived_at = models.DateTimeField(
        null=True, blank=True, editable=False, help_text="Time since which the project is read-only."
    )
    archived_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
    )

    wanted_events = models.JSONField(
        default=list,
        db_default=Value([], models.JSONField()),
        editable=False,
        help_text="Kinds of events that the project's webhooks want.",
    )

    revision = models.PositiveBigIntegerField(default=0, editable=False)

    reader_may: frozenset[str] = frozenset()
    """The reader's permissions, so that their page need not ask again. Set by `project_for`."""
    only_published = False
    """True if the reader may only see published results. Set by `project_for`."""

    class Meta:
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(condition=Q(redundancy__gte=1), name="project_redundancy_positive"),
            models.CheckConstraint(
                condition=Q(extra_redundancy__gte=1), name="project_extra_redundancy_positive"
            ),
            models.CheckConstraint(
                condition=Q(extra_share__range=(0, 1)), name="project_extra_share_is_share"
            ),
            models.CheckConstraint(
                condition=Q(gold_threshold__range=(0, 1)), name="project_gold_threshold_is_share"
            ),
            models.CheckConstraint(
                condition=Q(check_rate__range=(0, 1), check_threshold__range=(0, 1)),
                name="project_check_shares_are_shares",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def wants_event(self, kind: str) -> bool:
        """Return whether one of the project's webhooks wants events of this kind, without a query."""
        return kind in self.wanted_events

    def bump_revision(self, changed: Changed | None = None) -> bool:
        """Record that the project's numbers have changed. Must be the last write of a transaction.

        With `changed`, readers only reload that one thing. The update locks the project's row until the end
        of the transaction, so revisions are in the order of commits. Return whether the campaign is closed,
        which nobody can change before then.
        """
        with transaction.atomic(savepoint=False):
            with prepared_cursor() as cursor:
                cursor.execute(BUMP, [self.pk])
                revision, closed_at = cursor.fetchone()
            if changed is not None:
                insert(
                    [ProjectChange(project=self, revision=revision, kind=changed.kind, changed_id=changed.id)]
                )
            if revision % KEPT_CHANGES == 0:
                self.changes.filter(revision__lte=revision - KEPT_CHANGES).delete()
        return closed_at is not None
