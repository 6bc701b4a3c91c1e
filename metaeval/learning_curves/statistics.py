"""The estimates of a learning curve: shares, comparators, and their paired differences. Pure."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from metaeval.comparison.human_ceiling import ceiling
from metaeval.snapshot.arrays import Labels
from metaeval.snapshot.label_rules import LABEL_RULES
from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.correlation.constant_scores import coefficient_at
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import Method
from metaeval.stats.result import Estimate, Interval, Result
from metaeval.stats.rows import Rows
from metaeval.stats.uncertainty.article_draws import FEWEST_ARTICLES, TOO_FEW_ARTICLES
from metaeval.stats.uncertainty.bootstrap import Bootstrap
from metaeval.stats.uncertainty.percentile_interval import percentile_interval, undefined_told
from metaeval.stats.uncertainty.seed_draws import drawn_means, seed_stream

MEAN = "The value is the mean over the share's models, which differ in their seeds."
INTERVAL = (
    "95% percentile bootstrap: articles of the test part drawn with replacement, each with all its summaries;"
    " {resampling}."
)
SEEDS = (
    "Within each resample, K − 1 of a share's K models are drawn with replacement, so that the interval holds"
    " what the seeds vary (Rao & Wu 1988); a single model is taken as it is."
)
DIFFERENCE = (
    "The difference is the share's value less the other's on the same summaries, its interval from the same"
    " resamples for both. It is not corrected for the number of differences."
)
WITH_RATER = (
    "Models are compared with one rater in the rater's turns: both with {of_others}, on summaries with two"
    " ratings or more, each turn weighted by its summaries."
)


@dataclass(frozen=True, eq=False)
class CurveRows:
    """The rows of a learning curve: summaries that all models and comparators have scored."""

    rows: Rows
    """(evaluators, n) scores, turned so that higher is better."""
    shares: Sequence[Ints]
    """Places of each share's models among the evaluators, one or more."""
    others: Sequence[int]
    """Places of the comparators among the evaluators."""
    turns: Sequence[Rows]
    """One for each rater: (1 + evaluators, m), the rater's answers and the evaluators' scores. Labels are
    made from the others' answers. All articles are among those of `rows`."""
    rule: str = Labels.rule
    """The rule of the labels."""


@dataclass(frozen=True)
class CurveStatistics:
    """The estimates of a learning curve on one question."""

    models: Sequence[Estimate]
    """(evaluators,) of each model and comparator alone, without interval."""
    shares: Sequence[Estimate]
    others: Sequence[Estimate]
    rater: Estimate
    """One rater against the others."""
    over_others: Sequence[Sequence[Result]]
    """(others, shares) differences, of the share less the other."""
    over_rater: Sequence[Result]
    """(shares,) differences."""


def curve_statistics(data: CurveRows, method: Method) -> CurveStatistics:
    """Return all estimates by the method's level, coefficient and resampling. May take seconds.

    With C(e) the coefficient of evaluator e, and K models of a share:

    - the share is θ = (1 / K) · Σ_k C(k);
    - its difference from a comparator o is θ − C(o);
    - its difference from one rater is Σ_t w_t · ((1 / K) · Σ_k C_t(k) − C_t(rater)) / Σ_t w_t, over the
      raters' turns t with w_t summaries, where both are compared with the mean of the others' ratings.

    In each resample all C are those of the same articles, drawn with replacement, and the mean over k is that
    of `drawn_means`. Intervals are the 2.5% and 97.5% quantiles.
    """
    level, coefficient = (
        LEVELS[method.level],
        coefficient_at(method.level, method.coefficient, method.constant),
    )
    models = level.estimates(coefficient, data.rows)
    rater = ceiling(
        [each.with_scores(each.scores[0]) for each in data.turns],
        level.name,
        coefficient.name,
        method.constant,
        rule=data.rule,
    )
    in_turns = [level.estimates(coefficient, turn) for turn in data.turns]
    drawn = _drawn(data, method, np.array([each[0].n for each in in_turns]))
    gaps = _rater_gaps(data, drawn, in_turns)
    stream = seed_stream(method.resampling)
    ends, turn_ends = (_Intervals(rows, method) for rows in ([data.rows], data.turns))
    shares: list[Estimate] = []
    over_others: list[list[Result]] = [[] for _ in data.others]
    over_rater: list[Result] = []
    for places in data.shares:
        share = _mean([models[place] for place in places])
        means = drawn_means(drawn.evaluators[places], stream)
        shares.append(ends.of(share, means, SEEDS))
        for found, place in zip(over_others, data.others, strict=True):
            value = share.value - models[place].value
            reason = share.reason or models[place].reason
            found.append(ends.difference(value, means - drawn.evaluators[place], reason, DIFFERENCE))
        over_rater.append(
            turn_ends.difference(
                float(gaps.values[places].mean()),
                drawn_means(gaps.drawn[places], stream),
                rater.reason,
                f"{DIFFERENCE} {WITH_RATER.format(of_others=LABEL_RULES[data.rule].of_others)}",
            )
        )
    return CurveStatistics(
        models=models,
        shares=shares,
        others=[ends.of(models[place], drawn.evaluators[place]) for place in data.others],
        rater=turn_ends.of(rater, drawn.rater),
        over_others=over_others,
        over_rater=over_rater,
    )


class _Drawn(NamedTuple):
    """Coefficients in the same resamples of articles; nan where undefined."""

    evaluators: Floats
    """(evaluators, resamples)"""
    in_turns: Floats
    """(turns, 1 + evaluators, resamples)"""
    weights: Floats
    """(turns,) the summaries of each turn."""

    @property
    def rater(self) -> Floats:
        """Return the rater's values over the turns, (resamples,)."""
        return _over_turns(self.in_turns[:, 0], self.weights)


class _Gaps(NamedTuple):
    """Evaluators less the rater over the turns, both with the others' labels."""

    values: Floats
    """(evaluators,)"""
    drawn: Floats
    """(evaluators, resamples)"""


def _drawn(data: CurveRows, method: Method, weights: Floats) -> _Drawn:
    def bootstrap(rows: Rows) -> Bootstrap:
        return Bootstrap(
            "articles", method.level, method.coefficient, rows, method.resampling, constant=method.constant
        )

    whole, of_turns = bootstrap(data.rows), [bootstrap(turn) for turn in data.turns]
    articles = _articles(data.rows)
    # Unit 0 counts always; the articles follow in ascending order of their codes.
    units = [np.append(0, 1 + np.searchsorted(articles, _articles(turn))) for turn in data.turns]
    evaluators, in_turns = [], []
    for times in whole.draws():
        evaluators.append(whole.values(times))
        own = [turn.values(times[chosen]) for turn, chosen in zip(of_turns, units, strict=True)]
        in_turns.append(np.array(own).reshape(len(own), 1 + len(data.rows.scores), times.shape[1]))
    return _Drawn(np.concatenate(evaluators, axis=1), np.concatenate(in_turns, axis=2), weights)


def _rater_gaps(data: CurveRows, drawn: _Drawn, in_turns: Sequence[Sequence[Estimate]]) -> _Gaps:
    values = np.array([[each.value for each in turn] for turn in in_turns])
    values = values.reshape(len(in_turns), 1 + len(data.rows.scores))
    return _Gaps(
        _over_turns(values[:, 1:] - values[:, :1], drawn.weights),
        _over_turns(drawn.in_turns[:, 1:] - drawn.in_turns[:, :1], drawn.weights),
    )


def _articles(rows: Rows) -> Ints:
    """Return the articles that a bootstrap draws from, ascending."""
    return np.unique(rows.own_articles[~np.isnan(rows.labels)])


def _over_turns(values: Floats, weights: Floats) -> Floats:
    """Return the weighted mean over the turns, the first axis, where it is defined."""
    shaped = weights.reshape(-1, *[1] * (values.ndim - 1))
    counted = np.where(np.isnan(values), 0.0, shaped)
    total = counted.sum(axis=0)
    means: Floats = (counted * np.nan_to_num(values)).sum(axis=0) / np.where(total > 0, total, np.nan)
    return means


def _mean(models: Sequence[Estimate]) -> Estimate:
    """Return the mean of a share's models; undefined where one of them is."""
    undefined = next((each for each in models if each.reason), None)
    if undefined is not None:
        return undefined
    value = float(np.mean([each.value for each in models]))
    return replace(models[0], value=value, definition=f"{MEAN} {models[0].definition}")


class _Intervals:
    """The percentile intervals of resamples of the articles of one or several `rows`."""

    def __init__(self, rows: Sequence[Rows], method: Method) -> None:
        articles = {article for each in rows for article in _articles(each).tolist()}
        self._is_enough = len(articles) >= FEWEST_ARTICLES
        self._definition = INTERVAL.format(resampling=method.resampling)

    def of(self, estimate: Estimate, drawn: Floats, further: str = "") -> Estimate:
        """Return the estimate with its interval from `drawn`, (resamples,)."""
        return replace(estimate, interval=self._interval(drawn, estimate.reason, further))

    def difference(self, value: float, drawn: Floats, reason: str, definition: str) -> Result:
        """Return a difference with its interval; undefined, with the `reason`, if there is one."""
        if not reason and math.isnan(value):
            reason = "one of the two is undefined in the rater's turns"
        return Result(
            value=math.nan if reason else value,
            definition=definition,
            reason=reason,
            interval=self._interval(drawn, reason, SEEDS),
        )

    def _interval(self, drawn: Floats, reason: str, further: str) -> Interval:
        told = " ".join(filter(None, (self._definition, further, undefined_told(drawn))))
        if reason or not self._is_enough:
            why = f"the value is undefined: {reason}" if reason else TOO_FEW_ARTICLES
            return Interval(math.nan, math.nan, told, why)
        return Interval.found(told, lambda: percentile_interval(drawn))
