"""The labelled pool of a project, from which evaluators learn, and the part of it that a setup has seen."""

from collections.abc import Collection, Mapping
from statistics import fmean

from annotation.labels import human_labels, unit_label
from annotation.models import Project, Summary
from annotation.protocol import Scale, ScaleKind
from scoring.contract import Evaluator, Member, Need, PoolExample
from scoring.items import items_of
from scoring.models import SetUp

Labels = dict[int, dict[str, float]]
"""Summary id -> dimension -> label from 0 to 1."""


def pool_labels(project: Project, articles: Collection[int] | None = None) -> Labels:
    """Labels of articles of the split `train`, or of all where that split has none; gold items are left out.

    With `articles` (primary keys) those are all there are.
    On a scale without ends, as imported labels have it, labels are taken as they are if they lie from 0 to 1
    and differ; else the dimension is left out, since nothing says what 0 and 1 would be.
    """
    labels = _labels(project)
    usable = Summary.objects.filter(project=project, gold__isnull=True)
    if articles is not None:
        usable = usable.filter(article__in=articles)
    train = set(usable.filter(article__split="train").values_list("pk", flat=True)) & labels.keys()
    chosen = train or set(usable.values_list("pk", flat=True)) & labels.keys()
    return {pk: labels[pk] for pk in sorted(chosen)}


def pool_examples(
    labels: Labels, needs: Collection[Need], members: Collection[Member] = ()
) -> dict[int, PoolExample]:
    """Summary id -> pool example with the texts that an evaluator with these needs is given."""
    return {
        pk: PoolExample(
            item.id,
            item.article_id or "",
            item.summary,
            labels[pk],
            item.article,
            item.references,
            item.scores,
        )
        for pk, item in items_of(labels, needs, members).items()
    }


def seen_labels(evaluator: Evaluator, examples: dict[int, PoolExample]) -> Labels:
    """What of its pool a fitted evaluator has learnt from: enough to fit it again to the same state."""
    seen = set(evaluator.seen.example_ids)
    return {pk: dict(each.labels) for pk, each in examples.items() if each.id in seen}


def stored_pool(setup: SetUp, needs: Collection[Need], members: Collection[Member] = ()) -> list[PoolExample]:
    """The examples from which `setup` was fitted, with their labels of that time."""
    labels = {int(pk): by_dimension for pk, by_dimension in setup.pool.items()}
    return list(pool_examples(labels, needs, members).values())


def _labels(project: Project) -> Labels:
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
