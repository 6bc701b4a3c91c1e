"""Human labels: which answers count, and the mean of several raters' answers."""

import math
from collections.abc import Collection

import numpy as np

from annotation.mean_labels import mean_labels
from annotation.models import Project, Question, Rating
from annotation.models.ratings import RatingQuerySet
from annotation.protocol import Scale


def answered(project: Project, question: Question) -> RatingQuerySet:
    """Return the ratings whose answer to `question` counts. The answer is `answers__value`.

    These are finished ratings outside gold rounds and hidden checks, neither voided nor by removed raters,
    with the latest revision of the answer. Labels, statistics, exports and pools all use this rule.
    """
    return Rating.objects.countable().filter(
        summary__project=project, answers__is_current=True, answers__question=question
    )


def human_labels(project: Project, question: Question) -> dict[int, float]:
    """Return summary id -> mean over raters of `Scale.number`, on the question's own scale.

    Yes counts 1, No 0 and a point k its k. Unsure is left out, and so are summaries with no other answer.
    """
    found = _counted_labels(question, answered(project, question))
    return {summary_id: label for summary_id, (label, _) in found.items() if label is not None}


def counted_labels(
    project: Project, question: Question, summaries: Collection[int]
) -> dict[int, tuple[float | None, int]]:
    """Return summary id -> its label and how many ratings answered `question`, including Unsure.

    Summaries without such a rating are left out. The label is None if all answers are Unsure.
    """
    of_these = Rating.objects.filter(summary__in=summaries)
    # A condition of its own, so that the planner starts from these few rows.
    return _counted_labels(question, answered(project, question).filter(pk__in=of_these))


def _counted_labels(question: Question, ratings: RatingQuerySet) -> dict[int, tuple[float | None, int]]:
    number = question.protocol.scale.number
    rows = [(pk, number(value)) for pk, value in ratings.values_list("summary_id", "answers__value")]
    ids, places = np.unique(np.array([pk for pk, _ in rows], dtype=np.int64), return_inverse=True)
    numbers = np.array([given for _, given in rows], dtype=np.float64)
    counted = np.argsort(numbers, kind="stable")[: np.count_nonzero(~np.isnan(numbers))]  # nan come last
    means = mean_labels(places[counted], numbers[counted], len(ids)).tolist()
    times = np.bincount(places, minlength=len(ids)).tolist()
    return {
        pk: (None if math.isnan(mean) else mean, n)
        for pk, mean, n in zip(ids.tolist(), means, times, strict=True)
    }


def unit_label(scale: Scale, label: float) -> float | None:
    """Return `label` rescaled to [0, 1] from the scale's ends; None on an unbounded scale."""
    if scale.ends is None:
        return None
    low, high = scale.ends
    return min(1.0, max(0.0, (label - low) / (high - low)))
