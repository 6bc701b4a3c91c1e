"""How well one rater agrees with the others, by the same measure as an evaluator: its ceiling."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from metaeval.judgements import HumanRatings, Labels, QuestionRatings, Summaries
from metaeval.stats.agreement.rated_pairs import means_of_others, pairable_ratings
from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.result import Estimate
from metaeval.stats.scores import decisions

HELD_OUT = (
    "One rater against the others: each rating of a summary is held out in turn and compared with the mean of"
    " the summary's other ratings, on summaries with two ratings or more; the mean over the turns, each"
    " weighted by its summaries. An evaluator is compared with the mean of all ratings instead, which is less"
    " noisy than the mean of all but one."
)
DECISIONS_HELD_OUT = (
    "One rater against the others: each rating of a summary is held out in turn and compared with what most"
    " of the summary's other ratings say, on summaries with two ratings or more of which the others are not"
    " halved; the mean over the turns, each weighted by its summaries. Of three raters the other two agree on"
    " the clearer summaries alone, while an evaluator is compared with most of all three on every one: then"
    " one rater's figure is rather high."
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

    Parameters
    ----------
    labels : those of the question, for their scale.
    counted : (summaries,) those that count.
    group : takes the ratings of one group of raters alone.
    """
    formula = COEFFICIENTS[coefficient]

    def measured(others: Floats, answers: Floats, articles: Ints, systems: Ints) -> Estimate:
        return LEVELS[level].estimate(formula, others, answers, articles, systems, yes_no=labels.is_yes_no)

    turns = _turns(summaries, human, ratings, counted, group, measured)
    return _mean(turns, HELD_OUT, formula.definition)


def decision_ceiling(
    summaries: Summaries,
    human: HumanRatings,
    ratings: QuestionRatings,
    labels: Labels,
    counted: Bools,
    *,
    statistic: str,
) -> Estimate:
    """As `ceiling`, of decisions on a yes/no question, by one of `decisions.STATISTICS`; else undefined."""

    def measured(others: Floats, answers: Floats, articles: Ints, systems: Ints) -> Estimate:
        return decisions.decision_estimate(
            statistic, others, answers, articles, systems, yes_no=labels.is_yes_no
        )

    turns = _turns(summaries, human, ratings, counted, "", measured)
    return _mean(turns, DECISIONS_HELD_OUT, decisions.DEFINITIONS[statistic])


def _turns(
    summaries: Summaries,
    human: HumanRatings,
    ratings: QuestionRatings,
    counted: Bools,
    group: str,
    measured: Callable[[Floats, Floats, Ints, Ints], Estimate],
) -> list[Estimate]:
    """What is `measured` of means of others, answers, articles and systems, all (rows,), in each turn.

    In a turn every summary gives at most one rating; the raters take their turns in one order, the same for
    all summaries. Answers without a number, such as Unsure, do not take part.
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
            measured(others[rows], answers[rows], summaries.articles[places], summaries.systems[places])
        )
    return estimates


def _mean(turns: list[Estimate], held_out: str, formula: str) -> Estimate:
    defined = [turn for turn in turns if not turn.reason]
    if not defined:
        reason = turns[0].reason if any(turn.n for turn in turns) else ONE_RATING_EACH
        return Estimate(np.nan, 0, None, None, f"{held_out} {formula}", reason=reason)
    n = sum(turn.n for turn in defined)
    largest = max(defined, key=lambda turn: turn.n)
    return replace(
        largest,
        value=sum(turn.value * turn.n for turn in defined) / n,
        definition=f"{held_out} {largest.definition}",
    )
