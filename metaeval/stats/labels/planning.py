"""The number of labelled articles that a narrower interval or a significant difference needs."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from metaeval.stats.arrays import Floats, distinct
from metaeval.stats.correlation.constant_scores import LEFT_OUT, coefficient_at
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.correlation.used_rows import used_rows
from metaeval.stats.result import NoIntervalError
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.significance.compare_pairs import ALWAYS_VALID_TEST, compare_pairs
from metaeval.stats.uncertainty.always_valid import always_valid_quantile
from metaeval.stats.uncertainty.article_draws import FEWEST_ARTICLES, TOO_FEW_ARTICLES
from metaeval.stats.uncertainty.bootstrap import Bootstrap
from metaeval.stats.uncertainty.intervals import ALWAYS_VALID, NONE_OF_SYSTEMS, intervals
from metaeval.stats.uncertainty.percentile_interval import CONFIDENCE, TAILS, defined_replicates

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
    at_every_look: bool = False,
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
    at_every_look : whether the interval holds at every look. It is q(a) / 1.96 times as wide at a articles,
        with q(a) the `always_valid_quantile` on a - 1 degrees of freedom; wanted is the fewest articles at
        which half of it is `target`.
    constant : what becomes of articles with equal scores: a name in CONSTANT.

    Undefined with fewer than ten articles, where the coefficient is undefined as it is now or in more than 5%
    of the resamples, where the resamples give an interval without width, and over systems' means for every
    look. A target is not reached at every look while there is no such interval yet: the plan is undefined.

    Raises ValueError for a `target` not above 0.
    """
    if not target > 0:
        raise ValueError(f"target must be above 0, not {target}")
    own = rows.with_scores(rows.scores[None])
    simulation = _Simulation.of(level, coefficient, own, resampling, constant, at_every_look=at_every_look)
    definition = _width_definition(target, resampling, at_every_look=at_every_look)
    if simulation.reason:
        return simulation.plan(definition)
    if simulation.half_width <= target:
        if at_every_look:
            (interval,) = intervals(ALWAYS_VALID, level, coefficient, own, constant=constant)
            simulation = replace(simulation, reason=interval.reason)
        return simulation.plan(definition)
    doubt = simulation.doubt
    return simulation.plan(
        definition, [simulation.needed(target, times=each) for each in (1, 1 / doubt, doubt)]
    )


def plan_difference(
    level: str,
    coefficient: str,
    rows: Rows,
    *,
    at_every_look: bool = False,
    resampling: Resampling = FEW_RESAMPLES,
    constant: str = LEFT_OUT,
) -> Plan:
    """Return the articles needed until a difference is significant in 4 of 5 such samples.

    As `plan_width`, for the first coefficient minus the second on what counts for both evaluators, with the
    same draws for both: wanted = c * ((1.96 + 0.84) / 1.96 / d)^2 at the present difference d. The low end of
    the range uses the end of d's interval that is further from 0. The high end is inf, since as long as the
    interval holds 0 there may be no difference. Reached if the interval excludes 0.

    With `at_every_look` it is the fewest articles a with (q(a) + 0.84) / 1.96 sqrt(c / a) at most d, so that
    at least 4 of 5 campaigns have found the difference at one of the looks so far, however many there were.
    """
    simulation = _Simulation.of(level, coefficient, rows, resampling, constant, at_every_look=at_every_look)
    definition = _difference_definition(resampling, at_every_look=at_every_look)
    if simulation.reason:
        return simulation.plan(definition)
    low, high = simulation.interval
    if low > 0 or high < 0:
        if at_every_look:
            tests = compare_pairs(ALWAYS_VALID_TEST, level, coefficient, rows, constant=constant)
            simulation = replace(simulation, reason=tests.reasons.get((0, 1), ""))
        return simulation.plan(definition)
    wanted = simulation.needed(abs(simulation.value), power=NORMAL_80)
    fewest = simulation.needed(max(-low, high), power=NORMAL_80, times=1 / simulation.doubt)
    return simulation.plan(definition, [wanted, fewest, math.inf])


@dataclass(frozen=True, eq=False)
class _Simulation:
    """Resamples of a coefficient, or of the difference of two, at several sizes."""

    value: float
    n_articles: int
    n_summaries: int
    replicates: tuple[Floats, ...]
    """One array for each of `TIMES_AS_MANY` that was tried, without undefined values."""
    reason: str
    at_every_look: bool

    @classmethod
    def of(
        cls,
        level: str,
        coefficient: str,
        given: Rows,
        resampling: Resampling,
        constant: str,
        *,
        at_every_look: bool,
    ) -> "_Simulation":
        formula = coefficient_at(level, coefficient, constant)
        rows = given.at(~np.isnan(given.labels) & ~np.isnan(given.scores).any(axis=0) & (given.articles >= 0))
        used = used_rows(LEVELS[level], formula, rows)
        rows = rows.at((used == used[0]).all(axis=0))  # articles in which only one has a coefficient
        n, n_articles = len(rows), len(distinct(rows.articles))
        if n_articles < FEWEST_ARTICLES:
            return cls(np.nan, n_articles, n, (), TOO_FEW_ARTICLES, at_every_look)
        values = [LEVELS[level].estimate(formula, own) for own in rows.each]
        undefined = next((each.reason for each in values if each.reason), "")
        value = values[0].value - (values[1].value if len(values) > 1 else 0.0)
        if undefined:
            return cls(np.nan, n_articles, n, (), undefined, at_every_look)
        if at_every_look and level == "system":
            return cls(value, n_articles, n, (), NONE_OF_SYSTEMS, at_every_look)
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
                return cls(value, n_articles, n, (), str(why_not), at_every_look)
        if any(_half_width(row) == 0 for row in replicates):
            return cls(value, n_articles, n, (), "the same in nearly all resamples", at_every_look)
        return cls(value, n_articles, n, tuple(replicates), "", at_every_look)

    @property
    def interval(self) -> tuple[float, float]:
        low, high = np.quantile(self.replicates[0], TAILS)
        wider = self._errors(self.n_articles) / NORMAL_95
        return self.value - wider * (self.value - float(low)), self.value + wider * (float(high) - self.value)

    @property
    def half_width(self) -> float:
        low, high = self.interval if self.replicates else (np.nan, np.nan)
        return (high - low) / 2

    @cached_property
    def _logs(self) -> Floats:
        """The logarithm of the articles at which half an interval for one look is 1, by each size."""
        sizes = self.n_articles * np.array(TIMES_AS_MANY[: len(self.replicates)])
        return 2 * np.log([_half_width(row) for row in self.replicates]) + np.log(sizes)

    @property
    def doubt(self) -> float:
        """The factor by which the number of articles may be off."""
        return math.exp(NORMAL_95 * math.sqrt(4 / (2 * (self.n_articles - 1)) + float(self._logs.var())))

    def needed(self, most: float, *, power: float = 0.0, times: float = 1.0) -> float:
        """Return the articles at which half the interval, and `power` standard errors more, are `most`.

        `times` is how many times as many articles as expected an interval's width needs.
        """
        spread = times * math.exp(float(self._logs.mean())) / NORMAL_95**2  # a squared error at one article
        if not self.at_every_look:
            return spread * ((NORMAL_95 + power) / most) ** 2 if most else math.inf
        numbers = range(2, BEYOND_REACH * self.n_articles + 1)
        place = bisect_left(
            numbers, True, key=lambda each: spread * (self._errors(each) + power) ** 2 <= most**2 * each
        )
        return float(numbers[place]) if place < len(numbers) else math.inf

    def _errors(self, articles: int) -> float:
        """Return half of an interval over so many articles, in standard errors."""
        if not self.at_every_look:
            return NORMAL_95
        return always_valid_quantile(1 - CONFIDENCE, articles, articles - 1)

    def plan(self, definition: str, wanted: Sequence[float] = ()) -> Plan:
        """Return the plan for more articles, `wanted` and its range; empty if there are enough already."""
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


def _width_definition(target: float, resampling: Resampling, *, at_every_look: bool) -> str:
    return (
        f"Articles until half of {_which(at_every_look)} is {target:g} or less: with articles drawn with"
        f" replacement ({_sizes(resampling)}), half the width times the square root of the number of"
        " articles is assumed to be constant. The range covers the sampling error of an interval's width"
        " from so few articles, and deviations from this assumption at the simulated sizes. Further articles"
        " are assumed to be of the same kind, with as many summaries and ratings"
        f" each.{_wider(at_every_look)}"
    )


def _difference_definition(resampling: Resampling, *, at_every_look: bool) -> str:
    return (
        f"Articles until {_which(at_every_look)} of the difference excludes 0 with a probability of 80%, if"
        f" the difference stays as it is: with articles drawn with replacement ({_sizes(resampling)}; the"
        " same for both evaluators), half the width times the square root of the number of articles is"
        " assumed to be constant. The lowest number assumes the largest difference in the present interval."
        f" There is no highest number as long as there may be no difference.{_wider(at_every_look)}"
    )


def _which(at_every_look: bool) -> str:
    return "the 95% interval that holds at every look" if at_every_look else "the 95% interval"


def _wider(at_every_look: bool) -> str:
    if not at_every_look:
        return ""
    return (
        " The interval that holds at every look is wider than that of the resamples by the ratio of its"
        " quantile at as many articles (Wang & Ramdas, 2024) to 1.96."
    )


def _sizes(resampling: Resampling) -> str:
    return (
        "1, 2 and 4 times as many as there are, or only as many with more than 20,000 summaries;"
        f" {resampling.resamples:,} resamples each, seed {resampling.seed}"
    )
