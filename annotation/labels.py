"""Human labels: which answers count, and how the answers of several raters become one number."""

from collections.abc import Collection

from django.db.models import Avg, Case, Count, FloatField, Value, When
from django.db.models.functions import Cast

from annotation.models import Project, Question, Rating
from annotation.models.ratings import RatingQuerySet
from annotation.protocol import Scale, ScaleKind


def answered(project: Project, question: Question) -> RatingQuerySet:
    """The ratings whose answer to `question` counts, one row for each; the answer is `answers__value`.

    Finished ratings outside gold rounds, by raters who were not removed, with the latest revision of their
    answer. The one rule behind labels, statistics, exports and pools.
    """
    return Rating.objects.countable().filter(
        summary__project=project, answers__is_current=True, answers__question=question
    )


def human_labels(project: Project, question: Question) -> dict[int, float]:
    """Summary id -> mean over raters of `Scale.number` of their answers, on the question's own scale.

    Yes counts 1, No 0, a point k its k. Unsure is left out, and so is a summary about which all are unsure.
    """
    scale = question.protocol.scale
    rows = answered(project, question).values_list("summary_id").annotate(label=Avg(_number(scale)))
    return {summary_id: label for summary_id, label in rows if label is not None}


def counted_labels(
    project: Project, question: Question, summaries: Collection[int]
) -> dict[int, tuple[float | None, int]]:
    """Summary id -> its label and the number of ratings that answered `question`, Unsure among them.

    Only of those `summaries` that have such a rating; the label is None where all of them are unsure.
    """
    of_these = Rating.objects.filter(summary__in=summaries)
    rows = (
        answered(project, question)
        .filter(pk__in=of_these)  # as a condition of its own, so that a planner starts from these few
        .values_list("summary_id")
        .annotate(label=Avg(_number(question.protocol.scale)), ratings=Count("pk"))
    )
    return {summary_id: (label, ratings) for summary_id, label, ratings in rows}


def unit_label(scale: Scale, label: float) -> float | None:
    """`label` brought to [0, 1] from the scale's lowest and highest number; None on an unbounded scale."""
    low, high = scale.low, scale.high
    if scale.kind == ScaleKind.NOMINAL:
        numbers = (scale.numbers or {}).values()
        low, high = min(numbers, default=None), max(numbers, default=None)
    if low is None or high is None or low == high:
        return None
    return min(1.0, max(0.0, (label - low) / (high - low)))


def _number(scale: Scale) -> Case | Cast:
    """`Scale.number` of the answer, for the database."""
    if scale.kind != ScaleKind.NOMINAL:
        return Cast("answers__value", FloatField())
    cases = [
        When(answers__value=value, then=Value(scale.number(value)))
        for value in scale.values
        if scale.number(value) is not None
    ]
    return Case(*cases, default=None, output_field=FloatField())
