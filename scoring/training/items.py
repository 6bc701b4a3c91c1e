"""The summaries of a project that an evaluator may be trained on."""

from collections.abc import Iterable, Iterator

from annotation.database.portions import portions
from annotation.models import Article, Project, Summary
from scoring.inputs.items import CHUNK, item_id
from scoring.inputs.labelled_pool import Labels, project_labels
from scoring.models import CurveModel, Training
from scoring.sealed_labels.seal import unsealed
from scoring.trainers.contract import TrainingItem


def training_pool(project: Project) -> Labels:
    """Return the summaries that may be learnt from, with their labels, if they have any.

    Gold items, sealed articles and articles without text are left out. Test articles are among them, so that
    trainers also leave out articles with the same text.
    """
    usable = (
        Summary.objects.filter(project=project, gold__isnull=True).exclude(article__text="").order_by("pk")
    )
    labels = project_labels(project)
    return unsealed(project, {pk: labels.get(pk, {}) for pk in usable.values_list("pk", flat=True)})


def pool_of(training: Training) -> Labels:
    """Return the summaries and labels at the training's start, which those of a learning curve share."""
    model = CurveModel.objects.select_related("curve").filter(training=training).first()
    stored = model.curve.pool if model else training.pool
    return {int(pk): labels for pk, labels in stored.items()}


def training_items(pool: Labels) -> Iterator[TrainingItem]:
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
                labels=pool[pk],
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
