"""The number of labelled articles that a narrower interval or a significant difference needs."""

import math
from dataclasses import dataclass, replace

import numpy as np

from metaeval.stats.arrays import Floats, distinct
from metaeval.stats.correlation.constant_scores import LEFT_OUT, coefficient_at
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.correlation.used_rows import used_rows
from metaeval.stats.result import NoIntervalError
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.uncertainty.article_draws import FEWEST_ARTICLES, TOO_FEW_ARTICLES
from metaeval.stats.uncertainty.bootstrap import Bootstrap
from metaeval.stats.uncertainty.percentile_interval import TAILS, defined_replicates

TIMES_AS_MANY = (1, 2, 4)
"""Sizes that are tried, as multiples of the articles there are."""
MOST_SUMMARIES = 20_000
"""The most summaries in a planned sample; larger multiples of the articles are not tried."""
BEYOND_REACH = 100
"""Times the articles there are: larger needs are reported as inf."""
FEW_RESAMPLES = Resampling(400)
NORMAL_95 = 1.959964
NORMAL_80 = 0.841621
"""The normal quantile at 80%, the power of the planned test."""


@dataclass(frozen=True)
class Plan:
    """The present interval and the articles needed. Raises ValueError without a value or a reason."""

    value: float
    """The coefficient, or the difference of two."""
    half_width: float
    """Half the width of its present 95% interval."""
    articles: int
    """Labelled articles."""
    summaries: int
    """Summaries of these articles with a label and all the scores that are needed."""
    wanted: float
    """Articles needed, including those there are; inf if more than 100 times as many."""
    wanted_low: float
    wanted_high: float
    """The ends of the 95% range of `wanted`; inf if no number of articles may suffice."""
    definition: str
    reason: str = ""
    """The reason why nothing can be planned; else empty."""

    def __post_init__(self) -> None:
        if math.isnan(self.wanted) != bool(self.reason):
            raise ValueError("a plan needs either a number of articles or a reason for none")

    @property
    def is_reached(self) -> bool:
        """Return whether there are enough articles already."""
        return self.wanted <= self.articles


def plan_width(
    level: str,
    coefficient: str,
    rows: Rows,
    *,
    target: float,
    resampling: Resampling = FEW_RESAMPLES,
    constant: str = LEFT_OUT,
) -> Plan:
    """Return the articles needed until half of a coefficient's 95% interval is `target` or less.

    Larger samples are simulated: articles are drawn with replacement, each with all its summaries, 1, 2 and 4
    times as many as there are. Half the distance from the 2.5th to the 97.5th percentile of the coefficient
    is h(a) at a articles. It is assumed to fall with the square root of a: c = geometric mean of h(a)^2 * a;
    wanted = c / target^2. The range is wanted times exp(+-1.96 s), with s^2 = 2 / (articles - 1) + the
    variance of log(h(a)^2 * a) over the sizes. The first term is the sampling variance of the logarithm of a
    variance estimated from as many independent normal terms. The second shows where the assumption fails.

    Further articles are assumed to be of the same kind, with as many summaries and ratings each, and systems
    to stay the same. The target is reached if the interval is narrow enough already; wanted is inf beyond 100
    times as many articles.

    Parameters
    ----------
    level, coefficient : names from LEVELS and COEFFICIENTS.
    rows : of one evaluator; summaries without label, score or article are left out.
    target : half the width of the interval, above 0.
    constant : what becomes of articles with equal scores: a name in CONSTANT.

    Undefined with fewer than ten articles, where the coefficient is undefined as it is now or in more than 5%
    of the resamples, and where the resamples give an interval without width.

    Raises ValueError for a `target` not above 0.
    """
    if not target > 0:
        raise ValueError(f"target must be above 0, not {target}")
    simulation = _Simulation.of(level, coefficient, rows.with_scores(rows.scores[None]), resampling, constant)
    definition = _width_definition(target, resampling)
    if simulation.reason or simulation.half_width <= target:
        return simulation.plan(definition)
    spread, doubt = simulation.spread
    wanted = spread / target**2
    return simulation.plan(definition, (wanted, wanted / doubt, wanted * doubt))


def plan_difference(
    level: str,
    coefficient: str,
    rows: Rows,
    *,
    resampling: Resampling = FEW_RESAMPLES,
    constant: str = LEFT_OUT,
) -> Plan:
    """Return the articles needed until a difference is significant in 4 of 5 such samples.

    As `plan_width`, for the first coefficient minus the second on what counts for both evaluators, with the
    same draws for both: wanted = c * ((1.96 + 0.84) / 1.96 / d)^2 at the present difference d. The low end of
    the range uses the end of d's interval that is further from 0. The high end is inf, since as long as the
    interval holds 0 there may be no difference. Reached if the interval excludes 0.
    """
    simulation = _Simulation.of(level, coefficient, rows, resampling, constant)
    definition = _difference_definition(resampling)
    if simulation.reason:
        return simulation.plan(definition)
    low, high = simulation.interval
    if low > 0 or high < 0:
        return simulation.plan(definition)
    spread, doubt = simulation.spread
    power = ((NORMAL_95 + NORMAL_80) / NORMAL_95) ** 2 * spread
    wanted = power / simulation.value**2 if simulation.value else np.inf
    return simulation.plan(definition, (wanted, power / doubt / max(low**2, high**2), np.inf))


@dataclass(frozen=True, eq=False)
class _Simulation:
    """Resamples of a coefficient, or of the difference of two, at several sizes."""

    value: float
    n_articles: int
    n_summaries: int
    replicates: tuple[Floats, ...]
    """One array for each of `TIMES_AS_MANY` that was tried, without undefined values."""
    reason: str

    @classmethod
    def of(
        cls, level: str, coefficient: str, given: Rows, resampling: Resampling, constant: str
    ) -> "_Simulation":
        formula = coefficient_at(level, coefficient, constant)
        rows = given.at(~np.isnan(given.labels) & ~np.isnan(given.scores).any(axis=0) & (given.articles >= 0))
        used = used_rows(LEVELS[level], formula, rows)
        rows = rows.at((used == used[0]).all(axis=0))  # articles in which only one has a coefficient
        n, n_articles = len(rows), len(distinct(rows.articles))
        if n_articles < FEWEST_ARTICLES:
            return cls(np.nan, n_articles, n, (), TOO_FEW_ARTICLES)
        values = [LEVELS[level].estimate(formula, own) for own in rows.each]
        undefined = next((each.reason for each in values if each.reason), "")
        value = values[0].value - (values[1].value if len(values) > 1 else 0.0)
        if undefined:
            return cls(np.nan, n_articles, n, (), undefined)
        replicates = []
        for times in TIMES_AS_MANY:
            if times > 1 and times * n > MOST_SUMMARIES:
                break
            repeated = rows.at(np.tile(np.arange(n), times))
            copies = np.repeat(np.arange(times), n)
            larger = replace(repeated, articles=repeated.articles * times + copies)
            of_size = replace(resampling, seed=resampling.seed + times)
            drawn = Bootstrap("articles", level, coefficient, larger, of_size, constant=constant).replicates
            row = drawn[0] - drawn[1] if len(drawn) > 1 else drawn[0]
            try:
                replicates.append(defined_replicates(row))
            except NoIntervalError as why_not:
                return cls(value, n_articles, n, (), str(why_not))
        if any(_half_width(row) == 0 for row in replicates):
            return cls(value, n_articles, n, (), "the same in nearly all resamples")
        return cls(value, n_articles, n, tuple(replicates), "")

    @property
    def interval(self) -> tuple[float, float]:
        low, high = np.quantile(self.replicates[0], TAILS)
        return float(low), float(high)

    @property
    def half_width(self) -> float:
        return _half_width(self.replicates[0]) if self.replicates else np.nan

    @property
    def spread(self) -> tuple[float, float]:
        """Articles at which half the interval is 1, and the factor by which they may be off."""
        sizes = self.n_articles * np.array(TIMES_AS_MANY[: len(self.replicates)])
        logs = 2 * np.log([_half_width(row) for row in self.replicates]) + np.log(sizes)
        variance = 4 / (2 * (self.n_articles - 1)) + logs.var()
        return float(np.exp(logs.mean())), float(np.exp(NORMAL_95 * np.sqrt(variance)))

    def plan(self, definition: str, wanted: tuple[float, float, float] | None = None) -> Plan:
        """Return the plan for more articles, `wanted` and its range; None if there are enough already."""
        ends = [np.nan if self.reason else float(self.n_articles)] * 3
        if wanted:
            # At least one more, since those that are there do not do, whatever the formula says.
            more, reach = self.n_articles + 1, BEYOND_REACH * self.n_articles
            ends = [np.inf if each > reach else float(np.ceil(max(each, more))) for each in wanted]
        return Plan(
            value=self.value,
            half_width=self.half_width,
            articles=self.n_articles,
            summaries=self.n_summaries,
            wanted=ends[0],
            wanted_low=ends[1],
            wanted_high=ends[2],
            definition=definition,
            reason=self.reason,
        )


def _half_width(replicates: Floats) -> float:
    return float(np.ptp(np.quantile(replicates, TAILS)) / 2)


def _width_definition(target: float, resampling: Resampling) -> str:
    return (
        f"Articles until half of the 95% interval is {target:g} or less: with articles drawn with replacement"
        f" ({_sizes(resampling)}), half the width times the square root of the number of articles is assumed"
        " to be constant. The range covers the sampling error of an interval's width from so few articles,"
        " and deviations from this assumption at the simulated sizes. Further articles are assumed to be of"
        " the same kind, with as many summaries and ratings each."
    )


def _difference_definition(resampling: Resampling) -> str:
    return (
        "Articles until the 95% interval of the difference excludes 0 with a probability of 80%, if the"
        f" difference stays as it is: with articles drawn with replacement ({_sizes(resampling)}; the same"
        " for both evaluators), half the width times the square root of the number of articles is assumed to"
        " be constant. The lowest number assumes the largest difference in the present interval. There is no"
        " highest number as long as there may be no difference."
    )


def _sizes(resampling: Resampling) -> str:
    return (
        "1, 2 and 4 times as many as there are, or only as many with more than 20,000 summaries;"
        f" {resampling.resamples:,} resamples each, seed {resampling.seed}"
    )
