"""The summaries on which raters disagree, and by how much. Pure."""

import numpy as np
import numpy.typing as npt

from annotation import protocol
from metaeval.snapshot.arrays import HumanRatings, QuestionRatings
from metaeval.stats.arrays import Floats

DEFINITION = (
    "Raters disagree on a question if two of them gave different answers to the same summary. A question"
    " weighs the mean distance between two raters' answers: 1 for two different answers, a half if one of"
    " them has no number, such as Unsure, and between points their difference divided by the length of the"
    " scale. A summary weighs the sum over its questions. The heaviest come first, and among equals those"
    " with more ratings."
)
UNCOUNTED = 0.5
"""The distance of an answer without a number, such as Unsure, from one with a number."""


def distances(human: HumanRatings, ratings: QuestionRatings, n_summaries: int, group: str = "") -> Floats:
    """Return the mean distance between two raters' answers to one question, (summaries,) from 0 to 1.

    0 where all agree or fewer than two raters answered. `group` restricts it to its raters. On a scale
    without ends, points are divided by the range of all answers. See `DEFINITION`.
    """
    own = human.of_group(ratings, group)
    summaries, answers = ratings.summaries[own], ratings.answers[own]
    times = np.bincount(summaries, minlength=n_summaries)
    if ratings.question.scale.kind == protocol.ScaleKind.NOMINAL:
        sums = _between_words(summaries, answers, ratings.numbers, n_summaries)
    else:
        sums = _between_points(summaries, ratings.numbers[answers], times)
        sums /= _length(ratings)
    return sums / np.maximum(times * (times - 1) / 2, 1)


def answered_both(
    human: HumanRatings, ratings: QuestionRatings, n_summaries: int, one: str, other: str, group: str = ""
) -> npt.NDArray[np.bool_]:
    """Return the summaries to which one rater gave the answer `one` and another `other`, (summaries,)."""
    own = human.of_group(ratings, group)
    given = []
    for answer in (one, other):
        gave = own & (ratings.answers == ratings.values.index(answer))
        given.append(np.bincount(ratings.summaries[gave], minlength=n_summaries))
    return (given[0] > 0) & (given[1] > 0) if one != other else given[0] > 1


def _between_words(
    summaries: npt.NDArray[np.int64], answers: npt.NDArray[np.int64], numbers: Floats, n_summaries: int
) -> Floats:
    """Return the sum of distances over pairs of ratings, (summaries,)."""
    n_answers = len(numbers)
    counts = np.bincount(summaries * n_answers + answers, minlength=n_summaries * n_answers)
    counts = counts.reshape(n_summaries, n_answers)
    counted = ~np.isnan(numbers)
    between = np.where(np.not_equal.outer(counted, counted), UNCOUNTED, 1.0) - np.eye(n_answers)
    return ((counts @ between) * counts).sum(axis=1) / 2


def _between_points(
    summaries: npt.NDArray[np.int64], numbers: Floats, times: npt.NDArray[np.int64]
) -> Floats:
    """Return the sum of absolute differences over pairs of ratings, (summaries,).

    In ascending order the k-th of n numbers is added in k - 1 pairs and subtracted in n - k.
    """
    order = np.lexsort((numbers, summaries))
    summaries, numbers = summaries[order], numbers[order]
    starts = np.cumsum(times) - times
    place = np.arange(len(summaries)) - starts[summaries]
    weights = 2 * place - times[summaries] + 1
    sums = np.bincount(summaries, weights=weights * numbers, minlength=len(times))
    return np.maximum(sums, 0.0)


def _length(ratings: QuestionRatings) -> float:
    ends = ratings.question.scale.ends
    if ends is not None:
        return ends[1] - ends[0]
    return float(np.ptp(ratings.numbers)) if len(ratings.numbers) > 1 else 1.0
