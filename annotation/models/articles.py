"""Articles, the systems that summarised them, and the summaries."""

from collections.abc import Collection
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.expressions import RawSQL

from annotation.models.imported import Imported
from annotation.models.projects import Project
from annotation.texts.text_digests import text_digest


class TextDigestField(models.CharField):
    """The digest of the row's `text`, computed whenever the row is saved."""

    def pre_save(self, model_instance: Any, add: bool) -> Any:
        setattr(model_instance, self.attname, text_digest(model_instance.text))
        return super().pre_save(model_instance, add)


class Article(Imported):
    """A source text. `text` is empty if ratings were imported without their articles."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="articles")
    external_id = models.CharField(max_length=200)
    language = models.CharField(max_length=12)
    dataset = models.CharField(max_length=80, blank=True)
    split = models.CharField(max_length=20, blank=True)
    title = models.CharField(max_length=300, blank=True)
    text = models.TextField(blank=True)
    text_digest = TextDigestField(
        max_length=64, blank=True, editable=False, help_text="Digest that identifies the same text elsewhere."
    )

    class Meta:
        indexes = [models.Index(fields=["project", "text_digest"], name="article_by_text")]
        constraints = [
            models.UniqueConstraint(fields=["project", "external_id"], name="article_once_in_project"),
            models.CheckConstraint(condition=~Q(external_id=""), name="article_has_external_id"),
            models.CheckConstraint(condition=~Q(language=""), name="article_has_language"),
        ]

    def __str__(self) -> str:
        return self.title or self.external_id


class System(Imported):
    """The author of a summary: a model, or people (`is_reference`)."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="systems")
    name = models.CharField(max_length=120)
    is_reference = models.BooleanField(default=False)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["project", "name"], name="system_once_in_project"),
            models.CheckConstraint(condition=~Q(name=""), name="system_has_name"),
        ]

    def __str__(self) -> str:
        return self.name


class SummaryQuerySet(models.QuerySet["Summary"]):
    def with_open_places(self, project: Project, languages: Collection[str]) -> Self:
        """Return production summaries in these languages that need a rating, in shuffled order.

        Summaries whose article has no text cannot be rated and are left out.
        """
        none = RawSQL("0", ())  # written out, since a plan for any number cannot use the index of open places
        return (
            self.filter(
                project=project, open_places__gt=none, gold__isnull=True, article__language__in=languages
            )
            .exclude(article__text="")
            .order_by("shuffle_key", "pk")
        )

    def in_new_rounds(self, project: Project) -> Self:
        """Return gold summaries that new rounds may take: not retired, of an article with a text."""
        return self.filter(project=project, gold__isnull=False, gold__retired_at__isnull=True).exclude(
            article__text=""
        )

    def count_articles(self) -> int:
        """Return of how many articles the summaries are."""
        return self.order_by().values("article").distinct().count()

    def with_wanted_ratings(self) -> Self:
        """Return summaries for people: neither gold nor references that only evaluators read."""
        return self.filter(ratings_wanted__gt=0, gold__isnull=True)

    def rateable(self) -> Self:
        """Return summaries that people rate: `with_wanted_ratings`, and not withdrawn."""
        return self.with_wanted_ratings().filter(withdrawn_at__isnull=True)


class Summary(Imported):
    """One text for one article by one system.

    `ratings_wanted` is how many ratings it needs (0 for references that only evaluators read). `open_places`
    is how many of them are neither given nor leased. Conditional updates of this one column keep the number
    of ratings exact under any concurrency. A withdrawn summary has none, and its ratings count.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="summaries")
    article = models.ForeignKey(Article, on_delete=models.CASCADE, related_name="summaries")
    system = models.ForeignKey(System, on_delete=models.PROTECT, related_name="summaries")
    text = models.TextField(blank=True)
    ratings_wanted = models.PositiveSmallIntegerField(default=1)
    open_places = models.PositiveSmallIntegerField(default=1)
    shuffle_key = models.PositiveIntegerField(default=0)
    draw_weight = models.FloatField(
        default=1.0,
        db_default=1.0,
        editable=False,
        help_text="Weight of the summary among those that are left whenever the next one is drawn.",
    )
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_index=False,  # few are withdrawn, and every import would keep the index
    )

    objects = SummaryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "summaries"
        constraints = [
            models.UniqueConstraint(fields=["article", "system"], name="summary_once_per_article_and_system"),
            models.CheckConstraint(
                condition=Q(open_places__lte=models.F("ratings_wanted")), name="summary_places_within_wanted"
            ),
        ]
        indexes = [
            models.Index(
                fields=["project", "shuffle_key", "id"],
                condition=Q(open_places__gt=0),
                name="summary_open_places",
            )
        ]

    def __str__(self) -> str:
        return f"{self.article} by {self.system}"
