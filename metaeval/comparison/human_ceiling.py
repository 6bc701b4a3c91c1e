"""The human ceiling: how well one rater agrees with the others, measured like an evaluator. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from metaeval.snapshot.arrays import HumanRatings, Labels, QuestionRatings, Summaries
from metaeval.snapshot.label_rules import LABEL_RULES, labels_by
from metaeval.stats.agreement.rated_pairs import means_of_others, pairable_ratings
from metaeval.stats.arrays import Bools, Ints
from metaeval.stats.correlation.constant_scores import coefficient_at
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import Method
from metaeval.stats.result import Estimate
from metaeval.stats.rows import Rows
from metaeval.stats.scores import decisions

HELD_OUT = (
    "One rater against the others: each rating of a summary is held out in turn and compared with"
    " {of_others}, on summaries with two ratings or more; the mean over the turns, each weighted by its"
    " summaries. An evaluator is compared with labels from all ratings, which are less noisy than those from"
    " all but one."
)
DECISIONS_HELD_OUT = (
    "One rater against the others: each rating of a summary is held out in turn and compared with the"
    " majority of the summary's other ratings, on summaries with two ratings or more, unless the others are"
    " tied; the mean over the turns, each weighted by its summaries. With three raters, the other two agree"
    " only on the clearer summaries, while an evaluator is compared with the majority of all three on every"
    " summary; one rater's figure is then rather high."
)
ONE_RATING_EACH = "no summary has two ratings or more with a number"
NOT_OFFERED = "one rater is not compared with labels that a model has fitted to that rater's answers, too"


def ceiling(
    turns: Sequence[Rows],
    level: str,
    coefficient: str,
    constant: str = Method.constant,
    *,
    rule: str = Labels.rule,
) -> Estimate:
    """Return one rater's agreement with the others, of the `rater_turns` on one question.

    `rule` is that of the question's labels.
    """
    formula = coefficient_at(level, coefficient, constant)
    of_others = LABEL_RULES[rule].of_others
    if not of_others:
        return replace(_mean([], "One rater against the others.", formula.definition), reason=NOT_OFFERED)
    estimates = [LEVELS[level].estimate(formula, turn) for turn in turns]
    return _mean(estimates, HELD_OUT.format(of_others=of_others), formula.definition)


def decision_ceiling(turns: Sequence[Rows], statistic: str) -> Estimate:
    """Return the same of decisions by one of `decisions.STATISTICS`; undefined unless yes/no."""
    estimates = [decisions.decision_estimate(statistic, turn) for turn in turns]
    return _mean(estimates, DECISIONS_HELD_OUT, decisions.DEFINITIONS[statistic])


class PlacedTurn(NamedTuple):
    """One turn of the raters, and the places (n,) of its rows among all summaries."""

    rows: Rows
    places: Ints


def rater_turns(
    summaries: Summaries,
    human: HumanRatings,
    ratings: QuestionRatings,
    labels: Labels,
    counted: Bools,
    group: str = "",
) -> list[Rows]:
    """Return the rows of the `placed_turns`."""
    return [each.rows for each in placed_turns(summaries, human, ratings, labels, counted, group)]


def placed_turns(
    summaries: Summaries,
    human: HumanRatings,
    ratings: QuestionRatings,
    labels: Labels,
    counted: Bools,
    group: str = "",
) -> list[PlacedTurn]:
    """Return one `Rows` per turn, with a rater's answers as scores and labels made from the others' answers.

    In a turn every summary gives at most one rating; the order of raters is the same for all summaries.
    `labels` are those of the question, whose rule the turns follow; there are none if it has no labels
    `of_others`. `counted` are (summaries,) the ones that count, and `group` selects one group of raters.
    Answers without a number, such as Unsure, are left out.
    """
    if not LABEL_RULES[labels.rule].of_others:
        return []
    numbers = ratings.numbers[ratings.answers]
    kept = np.flatnonzero(human.of_group(ratings, group) & counted[ratings.summaries] & ~np.isnan(numbers))
    # Summaries with a single rating, often most of them, need no sorting.
    rated = ratings.summaries[kept]
    kept = kept[np.bincount(rated)[rated] > 1]
    paired = pairable_ratings(
        ratings.summaries[kept], ratings.raters[kept], ratings.answers[kept], n_answers=len(ratings.values)
    )
    answers = ratings.numbers[paired.answers]
    means = means_of_others(paired, answers) if labels.rule == Labels.rule else None
    rated_by = ratings.summaries * len(human.rater_groups) + ratings.raters
    times = np.bincount(paired.units, minlength=len(summaries))
    turns = np.arange(len(answers)) - (np.cumsum(times) - times)[paired.units]
    found = []
    for turn in range(int(times.max(initial=0))):
        rows = np.flatnonzero(turns == turn)
        places = paired.units[rows]
        if means is None:
            held_out = places * len(human.rater_groups) + paired.raters[rows]
            rest = ratings.only(~np.isin(rated_by, held_out))
            others = labels_by(labels.rule, human, rest, len(summaries), group).values[places]
        else:
            others = means[rows]
        found.append(
            PlacedTurn(
                Rows(
                    others,
                    answers[rows],
                    summaries.articles[places],
                    summaries.systems[places],
                    labels.is_yes_no,
                ),
                places,
            )
        )
    return found


def _mean(turns: list[Estimate], held_out: str, formula: str) -> Estimate:
    defined = [turn for turn in turns if not turn.reason]
    if not defined:
        reason = turns[0].reason if any(turn.n for turn in turns) else ONE_RATING_EACH
        told = f"{held_out} {formula}"
        return Estimate(value=np.nan, n=0, articles=None, systems=None, definition=told, reason=reason)
    n = sum(turn.n for turn in defined)
    largest = max(defined, key=lambda turn: turn.n)
    return replace(
        largest,
        value=sum(turn.value * turn.n for turn in defined) / n,
        definition=f"{held_out} {largest.definition}",
    )
