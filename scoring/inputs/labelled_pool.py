"""The labelled pool of a project, from which evaluators learn."""

from collections.abc import Collection, Mapping
from statistics import fmean

from annotation.labels import human_labels, unit_label
from annotation.models import Project, Summary
from annotation.protocol import Scale, ScaleKind
from scoring.contract.evaluator import Evaluator, Member, Need
from scoring.contract.items import PoolExample
from scoring.inputs.items import items_of
from scoring.models import SetupBase

Labels = dict[int, dict[str, float]]
"""Summary id -> dimension -> label from 0 to 1."""


def pool_labels(project: Project, articles: Collection[int] | None = None) -> Labels:
    """Return the labels of articles in the split `train`, or of all articles if it has none; no gold items.

    `articles` (primary keys) restricts the articles. On an open scale, as of imported labels, labels are
    used if they differ and are between 0 and 1; else the dimension is left out, since 0 and 1 are undefined.
    """
    labels = project_labels(project)
    usable = Summary.objects.filter(project=project, gold__isnull=True)
    if articles is not None:
        usable = usable.filter(article__in=articles)
    train = set(usable.filter(article__split="train").values_list("pk", flat=True)) & labels.keys()
    chosen = train or set(usable.values_list("pk", flat=True)) & labels.keys()
    return {pk: labels[pk] for pk in sorted(chosen)}


def pool_examples(
    labels: Labels, needs: Collection[Need], members: Collection[Member] = ()
) -> dict[int, PoolExample]:
    """Return the pool examples for an evaluator with these needs, by summary id."""
    return {
        pk: PoolExample(
            item.id,
            item.article_id or "",
            item.summary,
            labels[pk],
            item.article,
            item.references,
            item.scores,
            item.article_digest,
        )
        for pk, item in items_of(labels, needs, members).items()
    }


def seen_labels(evaluator: Evaluator, examples: dict[int, PoolExample]) -> Labels:
    """Return the labels that a fitted evaluator has learnt from, enough to fit it again."""
    seen = set(evaluator.seen.example_ids)
    return {pk: dict(each.labels) for pk, each in examples.items() if each.id in seen}


def stored_pool(
    setup: SetupBase, needs: Collection[Need], members: Collection[Member] = ()
) -> list[PoolExample]:
    """Return the examples that `setup` was fitted to, with their labels at that time."""
    labels = {int(pk): by_dimension for pk, by_dimension in setup.pool.items()}
    return list(pool_examples(labels, needs, members).values())


def project_labels(project: Project) -> Labels:
    """Return the labels of all summaries with a countable rating, gold items and sealed ones included."""
    found: dict[int, dict[str, list[float]]] = {}
    for question in project.questionnaire.questions.all():
        labels = _unit_labels(question.protocol.scale, human_labels(project, question))
        for summary_id, label in labels.items():
            found.setdefault(summary_id, {}).setdefault(question.dimension, []).append(label)
    return {
        pk: {dimension: fmean(several) for dimension, several in by_dimension.items()}
        for pk, by_dimension in found.items()
    }


def _unit_labels(scale: Scale, labels: Mapping[int, float]) -> dict[int, float]:
    if scale.kind == ScaleKind.INTERVAL and scale.low is None and scale.high is None:
        lowest, highest = min(labels.values(), default=0.0), max(labels.values(), default=0.0)
        return dict(labels) if 0 <= lowest < highest <= 1 else {}
    scaled = {summary_id: unit_label(scale, label) for summary_id, label in labels.items()}
    return {summary_id: label for summary_id, label in scaled.items() if label is not None}
