"""The summaries of a project that an evaluator may be trained on."""

from collections.abc import Iterable, Iterator
from typing import TypedDict

from annotation.database.portions import portions
from annotation.labels import answered, unit_label
from annotation.models import Adjudication, Article, Project, Summary
from annotation.protocol import Scale
from scoring.inputs.items import CHUNK, item_id
from scoring.inputs.labelled_pool import project_labels
from scoring.models import CurveModel, Training
from scoring.sealed_labels.seal import unsealed
from scoring.trainers.contract import TrainingItem


class Taught(TypedDict, total=False):
    """People's answers about a summary, by dimension and from 0 to 1; empty if nobody rated it."""

    labels: dict[str, float]
    answers: dict[str, list[float]]
    """Raters' answers, sorted so that they do not tell the raters apart."""
    decided: dict[str, float]
    """Adjudicated answers."""


TrainingPool = dict[int, Taught]
"""Summary id -> people's answers."""


def training_pool(project: Project) -> TrainingPool:
    """Return the summaries that may be learnt from, with people's answers about them.

    Gold items, sealed articles and articles without text are left out. Test articles are among them, so that
    trainers also leave out articles with the same text.
    """
    usable = (
        Summary.objects.filter(project=project, gold__isnull=True).exclude(article__text="").order_by("pk")
    )
    found: TrainingPool = {pk: {} for pk in usable.values_list("pk", flat=True)}
    for pk, labels in project_labels(project).items():
        if pk in found:
            found[pk]["labels"] = labels
    for question in project.questionnaire.questions.all():
        scale, dimension = question.protocol.scale, question.dimension
        given = answered(project, question).values_list("summary_id", "answers__value")
        for pk, number in _numbers(scale, given):
            if pk in found:
                found[pk].setdefault("answers", {}).setdefault(dimension, []).append(number)
        decisions = Adjudication.objects.current().filter(summary__project=project, question=question)
        for pk, number in _numbers(scale, decisions.values_list("summary_id", "value")):
            if pk in found:
                found[pk].setdefault("decided", {})[dimension] = number
    for taught in found.values():
        for numbers in taught.get("answers", {}).values():
            numbers.sort()
    return unsealed(project, found)


def _numbers(scale: Scale, answers: Iterable[tuple[int, str]]) -> Iterator[tuple[int, float]]:
    """Yield summary and number of each answer that is not Unsure; none on a scale without ends."""
    for pk, value in answers:
        number = scale.number(value)
        label = None if number is None else unit_label(scale, number)
        if label is not None:
            yield pk, label


def pool_of(training: Training) -> TrainingPool:
    """Return the summaries and labels at the training's start, which those of a learning curve share."""
    model = CurveModel.objects.select_related("curve").filter(training=training).first()
    stored = model.curve.pool if model else training.pool
    return {int(pk): taught for pk, taught in stored.items()}


def training_items(pool: TrainingPool) -> Iterator[TrainingItem]:
    """Yield the pool's summaries with their texts, in its order. Deleted ones are left out."""
    articles: dict[int, Article] = {}
    references: dict[int, tuple[str, ...]] = {}
    for ids in portions(pool, CHUNK):
        rows = Summary.objects.filter(pk__in=ids).select_related("system").in_bulk()
        new = {row.article_id for row in rows.values()} - articles.keys()
        articles |= Article.objects.in_bulk(new)
        references |= _references(new)
        for pk in ids:
            if (row := rows.get(pk)) is None:
                continue
            article = articles[row.article_id]
            yield TrainingItem(
                id=item_id(article.external_id, row.system.name),
                article_id=article.external_id,
                article=article.text,
                summary=row.text,
                references=references.get(article.pk, ()),
                language=article.language,
                labels=pool[pk].get("labels", {}),
                answers=pool[pk].get("answers", {}),
                decided=pool[pk].get("decided", {}),
                split=article.split,
                article_digest=article.text_digest,
            )


def _references(articles: Iterable[int]) -> dict[int, tuple[str, ...]]:
    """Return all reference summaries of each article, in order."""
    rows = Summary.objects.filter(article__in=articles, system__is_reference=True).order_by("pk")
    found: dict[int, tuple[str, ...]] = {}
    for article, text in rows.values_list("article", "text"):
        if text.strip():
            found[article] = (*found.get(article, ()), text)
    return found
