"""Each rater's answers compared with those of the other raters of the same summaries."""

import numpy as np
import numpy.typing as npt

from metaeval.stats.agreement.agreement_counts import FEWER_THAN_TWO, NOT_PAIRABLE
from metaeval.stats.agreement.answer_numbers import answer_numbers
from metaeval.stats.agreement.rated_pairs import Ratings, by_size, means_of_others, pairable_ratings
from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.groups import Groups
from metaeval.stats.result import Agreement

MAJORITY = (
    "Each rater against the rest: the share of a rater's summaries on which their answer is the commonest"
    " among the other raters of the summary (one of t equally common ones counts 1/t)"
)
CORRELATION = (
    "Each rater against the rest: Pearson's r, over a rater's summaries, of their answers and the means of"
    " the other raters' answers to the same summary"
)
OVER_RATERS = "; the mean over raters, each weighted by their summaries that others rated too."


def rater_against_rest(
    units: npt.ArrayLike,
    raters: npt.ArrayLike,
    answers: npt.ArrayLike,
    *,
    n_answers: int,
    numbers: npt.ArrayLike | None = None,
) -> Agreement:
    """Return how well a rater's answers agree with those of the other raters of the same units, on average.

    Without numbers (a nominal scale), the share of a rater's units on which their answer is the most common
    among the others' (1/t if t answers are equally common). With numbers, Pearson's r of the rater's answers
    and the means of the others', over the rater's units. The result is the mean over raters, each weighted by
    the units of theirs that others rated too.

    Parameters
    ----------
    units, raters, answers : (ratings,) codes; answers 0 to n_answers - 1. A missing rating has no entry.
    numbers : (answers,) the number that each answer stands for, ascending; absent on a nominal scale.

    The share lies in 0 to 1 and is always defined; chance is not taken into account. The correlation is
    undefined for a rater with fewer than two units, or whose answers, or the others' means, are all equal:
    such raters are left out of the mean and counted. Undefined as a whole without a unit of two ratings, and
    where no rater is left.

    Raises ValueError for a rater who rated a unit twice; codes or numbers that do not fit.

    >>> rater_against_rest([0, 0, 0, 1, 1], [0, 1, 2, 0, 1], [1, 1, 0, 0, 0], n_answers=2).value
    0.6
    """
    ratings = pairable_ratings(units, raters, answers, n_answers=n_answers)
    order = np.argsort(ratings.raters, kind="stable")
    present, sizes = np.unique(ratings.raters, return_counts=True)
    groups = Groups(sizes)
    undefined: dict[str, int] = {}
    if not present.size:
        values = np.zeros(0)
    elif numbers is None:
        values = groups.mean(_with_majority(ratings)[order])
    else:
        own = answer_numbers("interval", numbers, n_answers)[ratings.answers]
        rest = means_of_others(ratings, own)
        values, undefined = COEFFICIENTS["pearson"].of_groups(rest[order], own[order], groups)
    return _mean(ratings, values, sizes, undefined, MAJORITY if numbers is None else CORRELATION)


def _with_majority(ratings: Ratings) -> Floats:
    """Return 1 where an answer is the most common of the others', 1/t if t tie, (ratings,)."""
    found = np.zeros(len(ratings.units))
    for places in by_size(ratings):
        answers = ratings.answers[places]
        same = answers[:, :, None] == answers[:, None, :]
        # times[u, i, j]: how many of the others than i give the answer of j.
        times = same.sum(axis=2)[:, None, :] - same
        others = ~np.eye(answers.shape[1], dtype=bool)
        most = np.where(others, times, 0).max(axis=2)
        # An answer given k times by the others is met k times, so each time counts 1/k.
        tied = (others & (times == most[:, :, None])).sum(axis=2) / most
        own = np.einsum("uii->ui", times)
        found[places] = np.where(own == most, 1 / tied, 0.0)
    return found


def _mean(ratings: Ratings, values: Floats, sizes: Ints, undefined: dict[str, int], what: str) -> Agreement:
    defined = ~np.isnan(values)
    reason = ""
    if not values.size:
        reason = NOT_PAIRABLE
    elif not defined.any():
        reason = f"undefined for every rater: {', '.join(undefined)}"
    left_out = {FEWER_THAN_TWO: ratings.left_out} if ratings.left_out else {}
    if not reason:
        left_out |= {f"raters for whom it is undefined: {why}": times for why, times in undefined.items()}
    return Agreement(
        value=float(np.average(values[defined], weights=sizes[defined])) if not reason else np.nan,
        units=ratings.n_units,
        ratings=len(ratings.units),
        definition=what + OVER_RATERS,
        left_out=left_out,
        reason=reason,
    )
