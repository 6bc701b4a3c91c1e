"""Checks of texts, imports, runs and scores, and of what evaluators have seen."""

from collections.abc import Iterator
from decimal import Decimal
from itertools import chain
from pathlib import Path

from django.conf import settings
from django.db.models import Count, Exists, F, Model, OuterRef, Q, QuerySet, Sum

from annotation.audit.actions import Action
from annotation.database.portions import portions
from annotation.models import Article, AuditEntry, ImportJob, Leased, Project, Summary
from annotation.protocol import LARGEST_NUMBER
from annotation.texts.text_digests import text_digest
from scoring.integrity.check import check, in_project, named
from scoring.models import (
    ApiBatch,
    Batch,
    RecheckScore,
    RegisteredModel,
    Run,
    Score,
    SeenArticle,
    SeenText,
    Setup,
    Training,
)
from scoring.runs.imported_scores import EVALUATOR as IMPORTED

CHUNK = 500
A_TRIFLE = Decimal("0.000001")
"""US dollars: SQLite adds amounts as floating-point numbers."""


@check("article digests", "The digest of an article is that of its text.")
def article_digests(project: Project | None) -> Iterator[str]:
    rows = in_project(Article.objects.all(), "project", project).order_by("pk")
    for pk, text, digest in rows.values_list("pk", "text", "text_digest").iterator(CHUNK):
        if text_digest(text) != digest:
            yield f"article {pk}"


@check(
    "seen articles",
    "Every article whose text an evaluator has seen is marked as seen, so that comparisons leave it out, and "
    "is of the evaluator's project.",
)
def seen_articles(project: Project | None) -> Iterator[str]:
    marks = SeenArticle.objects.filter(
        article=OuterRef("pk"),
        setup=OuterRef(OuterRef("setup")),
        dimension=OuterRef(OuterRef("dimension")),
    )
    unmarked = Article.objects.filter(
        ~Exists(marks), project=OuterRef("setup__project"), text_digest=OuterRef("text_digest")
    )
    texts = SeenText.objects.exclude(text_digest="").filter(Exists(unmarked))
    yield from named(texts, "setup__project", project)
    of_others = SeenArticle.objects.filter(~Q(article__project=F("setup__project")))
    yield from named(of_others, "setup__project", project)


@check("uploads", "The files of an import that has not ended are in UPLOAD_DIR.")
def uploads(project: Project | None) -> Iterator[str]:
    waiting = in_project(ImportJob.objects.unfinished(), "project", project).order_by("pk")
    for pk, *files in waiting.values_list("pk", "file", "articles_file").iterator():
        for file in filter(None, files):
            if not (Path(settings.MEDIA_ROOT) / file).is_file():
                yield f"import {pk}: {file}"


@check(
    "runs",
    "A run has as many summaries as its batches, each batch as many as it says, and a run that is done has "
    "no unfinished batch.",
)
def runs(project: Project | None) -> Iterator[str]:
    # Runs without anything to score used to have an empty batch, which nobody finished.
    unfinished = Count("batches", filter=Q(batches__finished_at__isnull=True, batches__size__gt=0))
    planned = Run.objects.exclude(setup__evaluator=IMPORTED).annotate(
        planned=Sum("batches__size", default=0), unfinished=unfinished
    )
    wrong = ~Q(planned=F("total")) | Q(status=Run.Status.DONE, unfinished__gt=0)
    yield from named(planned.filter(wrong), "setup__project", project)
    batches = in_project(Batch.objects.all(), "run__setup__project", project).order_by("pk")
    for pk, size, summary_ids in batches.values_list("pk", "size", "summary_ids").iterator(CHUNK):
        if size != len(summary_ids):
            yield f"batch {pk}"


WORK: tuple[tuple[type[Model], str, Q], ...] = (
    (Run, "setup__project", Q(status__in=[*Run.UNFINISHED, Run.Status.PAUSED])),
    (ApiBatch, "run__setup__project", Q(state__in=[ApiBatch.State.WAITING, ApiBatch.State.UNDER_WAY])),
    (ImportJob, "project", Q(status__in=[ImportJob.Status.QUEUED, ImportJob.Status.RUNNING])),
    (Training, "project", Q(status__in=Training.UNFINISHED)),
    (RegisteredModel, "project", Q(status__in=RegisteredModel.UNFINISHED)),
)
"""Kinds of work, the way from each to its project, and the condition that it has not ended."""


@check("ended work", "Runs, imports, trainings and other work have an end exactly if they are over.")
def ended_work(project: Project | None) -> Iterator[str]:
    for model, path, goes_on in WORK:
        has_end = Q(finished_at__isnull=False)
        wrong = model._default_manager.filter((goes_on & has_end) | (~goes_on & ~has_end))
        yield from named(wrong, path, project)


@check("claims", "No worker holds work that is finished.")
def claims(project: Project | None) -> Iterator[str]:
    leased: list[tuple[type[Leased], str]] = [(Batch, "run__setup__project")]
    leased += [(model, path) for model, path, _ in WORK if issubclass(model, Leased)]
    for model, path in leased:
        held = model._default_manager.filter(finished_at__isnull=False, leased_until__isnull=False)
        yield from named(held, path, project)


@check(
    "complete scores",
    "Each summary of a finished batch has a score, or the reason why there is none, on every dimension of "
    "its evaluator, unless a run of the evaluator was deleted.",
)
def complete_scores(project: Project | None) -> Iterator[str]:
    deleted = AuditEntry.objects.filter(action=Action.RUN_DELETED)
    shortened = set(deleted.values_list("details__setup_id", flat=True)) - {None}
    setups = in_project(Setup.objects.exclude(evaluator=IMPORTED), "project", project)
    finished = Batch.objects.filter(finished_at__isnull=False).order_by("pk")
    for pk in setups.exclude(pk__in=shortened).order_by("pk").values_list("pk", flat=True).iterator():
        batches = finished.filter(run__setup=pk, run__kind=Run.Kind.SCORES)
        yield from _incomplete(f"setup {pk}", Score.objects.filter(setup=pk), batches)
    repeated = in_project(Batch.objects.filter(repetition__gt=0), "run__setup__project", project)
    for run, repetition in repeated.order_by("run", "repetition").values_list("run", "repetition").distinct():
        batches = finished.filter(run=run, repetition=repetition)
        scores = RecheckScore.objects.filter(run=run, repetition=repetition)
        yield from _incomplete(f"run {run}, repetition {repetition}", scores, batches)


def _incomplete(
    whose: str, scores: "QuerySet[Score] | QuerySet[RecheckScore]", batches: "QuerySet[Batch]"
) -> Iterator[str]:
    """Yield the names of the batches' summaries that lack one of the dimensions of the scores."""
    dimensions = list(scores.order_by().values_list("dimension", flat=True).distinct())
    scored = chain.from_iterable(batches.values_list("summary_ids", flat=True).iterator(CHUNK))
    for ids in portions(scored, CHUNK):
        found = scores.filter(dimension__in=dimensions, summary__in=ids).order_by().values_list("summary")
        rows = dict(found.annotate(Count("pk")))
        for pk in Summary.objects.filter(pk__in=ids).order_by("pk").values_list("pk", flat=True):
            if rows.get(pk, 0) < max(1, len(dimensions)):
                yield f"summary {pk} of {whose}"


@check(
    "scores",
    f"Every score is a finite number within {LARGEST_NUMBER:g}, of a run of its evaluator and of a summary "
    "of the same project.",
)
def scores(project: Project | None) -> Iterator[str]:
    beyond = Q(value__gt=LARGEST_NUMBER) | Q(value__lt=-LARGEST_NUMBER)  # also NaN, on PostgreSQL
    strange = ~Q(run__setup=F("setup")) | ~Q(summary__project=F("setup__project"))
    yield from named(Score.objects.filter(beyond | strange), "setup__project", project)
    strange = ~Q(summary__project=F("run__setup__project"))
    yield from named(RecheckScore.objects.filter(beyond | strange), "run__setup__project", project)


@check("money", "A run has spent at least what the replies that it paid for cost.")
def money(project: Project | None) -> Iterator[str]:
    dearer = Run.objects.annotate(paid=Sum("replies__cost")).filter(paid__gt=F("spent") + A_TRIFLE)
    yield from named(dearer, "setup__project", project)


SCORE_CHECKS = (
    article_digests,
    seen_articles,
    uploads,
    runs,
    ended_work,
    claims,
    complete_scores,
    scores,
    money,
)
