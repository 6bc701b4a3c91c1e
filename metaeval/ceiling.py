"""How well one rater agrees with the others, by the same coefficient as an evaluator: its ceiling."""

from dataclasses import replace

import numpy as np

from metaeval.judgements import HumanRatings, Labels, QuestionRatings, Summaries
from metaeval.stats.agreement.rated_pairs import means_of_others, pairable_ratings
from metaeval.stats.arrays import Bools
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.result import Estimate

HELD_OUT = (
    "One rater against the others: each rating of a summary is held out in turn and compared with the mean of"
    " the summary's other ratings, on summaries with two ratings or more; the mean over the turns, each"
    " weighted by its summaries. An evaluator is compared with the mean of all ratings instead, which is less"
    " noisy than the mean of all but one."
)
ONE_RATING_EACH = "no summary has two ratings or more with a number"


def ceiling(
    summaries: Summaries,
    human: HumanRatings,
    ratings: QuestionRatings,
    labels: Labels,
    counted: Bools,
    *,
    level: str,
    coefficient: str,
    group: str = "",
) -> Estimate:
    """What one rater reaches against the others on one question.

    In a turn every summary gives at most one rating; the raters take their turns in one order, the same for
    all summaries. Answers without a number, such as Unsure, do not take part.

    Parameters
    ----------
    labels : those of the question, for their scale.
    counted : (summaries,) those that count.
    group : takes the ratings of one group of raters alone.
    """
    numbers = ratings.numbers[ratings.answers]
    kept = np.flatnonzero(human.of_group(ratings, group) & counted[ratings.summaries] & ~np.isnan(numbers))
    # Most summaries may have one rating: not to sort these saves most of the time.
    rated = ratings.summaries[kept]
    kept = kept[np.bincount(rated)[rated] > 1]
    paired = pairable_ratings(
        ratings.summaries[kept],
        ratings.raters[kept],
        ratings.answers[kept],
        n_answers=len(ratings.values),
    )
    answers = ratings.numbers[paired.answers]
    others = means_of_others(paired, answers)
    times = np.bincount(paired.units, minlength=len(summaries))
    turns = np.arange(len(answers)) - (np.cumsum(times) - times)[paired.units]
    estimates = []
    for turn in range(int(times.max(initial=0))):
        rows = np.flatnonzero(turns == turn)
        places = paired.units[rows]
        estimates.append(
            LEVELS[level].estimate(
                COEFFICIENTS[coefficient],
                others[rows],
                answers[rows],
                summaries.articles[places],
                summaries.systems[places],
                yes_no=labels.is_yes_no,
            )
        )
    return _mean(estimates, COEFFICIENTS[coefficient].definition)


def _mean(turns: list[Estimate], formula: str) -> Estimate:
    defined = [turn for turn in turns if not turn.reason]
    if not defined:
        reason = turns[0].reason if any(turn.n for turn in turns) else ONE_RATING_EACH
        return Estimate(np.nan, 0, None, None, f"{HELD_OUT} {formula}", reason=reason)
    n = sum(turn.n for turn in defined)
    largest = max(defined, key=lambda turn: turn.n)
    return replace(
        largest,
        value=sum(turn.value * turn.n for turn in defined) / n,
        definition=f"{HELD_OUT} {largest.definition}",
    )
