"""How many labelled articles it would take until a figure is as sure as one wishes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Floats, code_vector, distinct, number_vector, refuse_unequal_lengths
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.result import NoIntervalError
from metaeval.stats.uncertainty.article_draws import FEWEST_ARTICLES, TOO_FEW_ARTICLES
from metaeval.stats.uncertainty.bootstrap import bootstrap_replicates
from metaeval.stats.uncertainty.percentile_interval import TAILS, defined_replicates

TIMES_AS_MANY = (1, 2, 4)
"""Sizes that are tried, as multiples of the articles there are."""
MOST_SUMMARIES = 20_000
"""With more, only as many articles are drawn as there are: the rule of the root needs no proof there."""
BEYOND_REACH = 100
"""Times the articles there are: what is further away is not told as a number."""
NORMAL_95 = 1.959964
NORMAL_80 = 0.841621
"""The quantile of the normal distribution at 80%: the power with which a difference is to be found."""


@dataclass(frozen=True)
class Plan:
    """What is known now and what it would take. Raises ValueError if it tells nothing and not why."""

    value: float
    """The coefficient, or the difference of two."""
    half_width: float
    """Half the width of its 95% interval now."""
    articles: int
    """Labelled articles that it stands on now."""
    summaries: int
    """Their summaries with a label and all the scores that are needed."""
    wanted: float
    """Articles that it would take, those there are included; inf if more than 100 times as many."""
    wanted_low: float
    wanted_high: float
    """Between these two `wanted` lies with about 95% confidence; inf if no number of articles might do."""
    definition: str
    reason: str = ""
    """Why nothing can be said; empty if it can."""

    def __post_init__(self) -> None:
        if math.isnan(self.wanted) != bool(self.reason):
            raise ValueError("a plan that tells nothing needs a reason, and one that tells has none")

    @property
    def is_reached(self) -> bool:
        """Whether the articles there are do already."""
        return self.wanted <= self.articles


def plan_width(
    level: str,
    coefficient: str,
    labels: npt.ArrayLike,
    scores: npt.ArrayLike,
    articles: npt.ArrayLike,
    systems: npt.ArrayLike,
    *,
    wished: float,
    yes_no: bool = False,
    resamples: int = 400,
    seed: int = 0,
) -> Plan:
    """Articles until half the 95% interval of a coefficient is no wider than `wished`.

    Larger samples are simulated: articles are drawn with replacement, each with all its summaries, 1, 2 and 4
    times as many as there are (only as many with more than 20,000 summaries), and half the distance from the
    2.5th to the 97.5th percentile of the coefficient is h(a) at a articles. It is taken to fall with the root
    of a: c = geometric mean of h(a)^2 * a; wanted = c / wished^2. The range is that times exp(+-1.96 s), with
    s^2 = 2 / (articles - 1), the sampling variance of the logarithm of a variance estimated from as many
    independent normal terms, + the variance of log(h(a)^2 * a) over the sizes, which shows where the rule of
    the root does not hold.

    Further articles are taken to be of the same kind, with as many summaries and ratings each, and systems to
    stay the same. Said to be reached if the interval is narrow enough already; inf beyond 100 times as many.

    Parameters
    ----------
    level, coefficient : names from LEVELS and COEFFICIENTS.
    labels, scores : (n,) nan for none; such summaries are left out.
    articles, systems : (n,) codes; summaries whose article is not known (negative) are left out.
    wished : half the width of the interval, above 0.

    Returns
    -------
    Undefined with fewer than ten articles, where the coefficient is undefined as it is now or in more than 5%
    of the resamples, and where the resamples give an interval without width.

    Raises
    ------
    ValueError : `wished` not above 0; unequal lengths, infinite numbers, codes that are not whole numbers.
    """
    if not wished > 0:
        raise ValueError(f"wished must be above 0, not {wished}")
    drawn = _Drawn.of(level, coefficient, labels, [scores], articles, systems, yes_no, resamples, seed)
    definition = _width_definition(wished, resamples, seed)
    if drawn.reason:
        return drawn.plan(np.nan, np.nan, np.nan, definition, drawn.reason)
    if drawn.half_width <= wished:
        return drawn.plan(drawn.n_articles, drawn.n_articles, drawn.n_articles, definition)
    spread, doubt = drawn.spread
    wanted = spread / wished**2
    more = drawn.n_articles + 1  # since those that are there do not do, whatever the formula says
    return drawn.plan(max(wanted, more), max(wanted / doubt, more), max(wanted * doubt, more), definition)


def plan_difference(
    level: str,
    coefficient: str,
    labels: npt.ArrayLike,
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    articles: npt.ArrayLike,
    systems: npt.ArrayLike,
    *,
    yes_no: bool = False,
    resamples: int = 400,
    seed: int = 0,
) -> Plan:
    """Articles until the 95% interval of two evaluators' difference leaves out 0 in 4 of 5 such samples.

    As `plan_width`, of the difference first minus second on the summaries that both have scored, with the
    same draws for both: wanted = c * ((1.96 + 0.84) / 1.96 / d)^2 at the present difference d. The difference
    may be another: the low end of the range takes the end of its interval that is further from 0; as long as
    the interval holds 0 there may be no difference at all, and the high end is inf. Reached if the interval
    leaves out 0 already.

    Parameters, returns and errors as for `plan_width`.
    """
    drawn = _Drawn.of(level, coefficient, labels, [first, second], articles, systems, yes_no, resamples, seed)
    definition = _difference_definition(resamples, seed)
    if drawn.reason:
        return drawn.plan(np.nan, np.nan, np.nan, definition, drawn.reason)
    low, high = drawn.interval
    if low > 0 or high < 0:
        return drawn.plan(drawn.n_articles, drawn.n_articles, drawn.n_articles, definition)
    spread, doubt = drawn.spread
    power = ((NORMAL_95 + NORMAL_80) / NORMAL_95) ** 2 * spread
    wanted = power / drawn.value**2 if drawn.value else np.inf
    more = drawn.n_articles + 1
    at_best = power / doubt / max(low**2, high**2)
    return drawn.plan(max(wanted, more), max(at_best, more), np.inf, definition)


@dataclass(frozen=True, eq=False)
class _Drawn:
    """What the resamples of a coefficient, or of the difference of two, tell."""

    value: float
    n_articles: int
    n_summaries: int
    replicates: tuple[Floats, ...]
    """By size, one for each of `TIMES_AS_MANY` that was tried; without undefined ones."""
    reason: str

    @classmethod
    def of(
        cls,
        level: str,
        coefficient: str,
        labels: npt.ArrayLike,
        scores: Sequence[npt.ArrayLike],
        articles: npt.ArrayLike,
        systems: npt.ArrayLike,
        yes_no: bool,
        resamples: int,
        seed: int,
    ) -> "_Drawn":
        label = number_vector("labels", labels)
        matrix = np.array([number_vector("scores", each) for each in scores])
        article, system = code_vector("articles", articles), code_vector("systems", systems)
        refuse_unequal_lengths(labels=label, scores=matrix[0], articles=article, systems=system)
        kept = ~np.isnan(label) & ~np.isnan(matrix).any(axis=0) & (article >= 0)
        label, matrix, article, system = label[kept], matrix[:, kept], article[kept], system[kept]
        n_articles = len(distinct(article))
        if n_articles < FEWEST_ARTICLES:
            return cls(np.nan, n_articles, len(label), (), TOO_FEW_ARTICLES)
        values = [
            LEVELS[level].estimate(COEFFICIENTS[coefficient], label, row, article, system, yes_no=yes_no)
            for row in matrix
        ]
        undefined = next((each.reason for each in values if each.reason), "")
        value = values[0].value - (values[1].value if len(values) > 1 else 0.0)
        if undefined:
            return cls(np.nan, n_articles, len(label), (), undefined)
        replicates = []
        for times in TIMES_AS_MANY:
            if times > 1 and times * len(label) > MOST_SUMMARIES:
                break
            again = np.repeat(np.arange(times), len(label))
            drawn = bootstrap_replicates(
                "articles",
                level,
                coefficient,
                np.tile(label, times),
                np.tile(matrix, times),
                np.tile(article, times) * times + again,
                np.tile(system, times),
                yes_no=yes_no,
                resamples=resamples,
                seed=seed + times,
            )
            row = drawn[0] - drawn[1] if len(drawn) > 1 else drawn[0]
            try:
                replicates.append(defined_replicates(row))
            except NoIntervalError as why_not:
                return cls(value, n_articles, len(label), (), str(why_not))
        if any(_half_width(row) == 0 for row in replicates):
            return cls(value, n_articles, len(label), (), "the same in nearly all resamples")
        return cls(value, n_articles, len(label), tuple(replicates), "")

    @property
    def interval(self) -> tuple[float, float]:
        low, high = np.quantile(self.replicates[0], TAILS)
        return float(low), float(high)

    @property
    def half_width(self) -> float:
        return _half_width(self.replicates[0]) if self.replicates else np.nan

    @property
    def spread(self) -> tuple[float, float]:
        """Articles until half the interval is 1, by the rule of the root; and the factor it may be off by."""
        sizes = self.n_articles * np.array(TIMES_AS_MANY[: len(self.replicates)])
        logs = 2 * np.log([_half_width(row) for row in self.replicates]) + np.log(sizes)
        variance = 4 / (2 * (self.n_articles - 1)) + logs.var()
        return float(np.exp(logs.mean())), float(np.exp(NORMAL_95 * np.sqrt(variance)))

    def plan(self, wanted: float, low: float, high: float, definition: str, reason: str = "") -> Plan:
        reach = BEYOND_REACH * self.n_articles
        ends = [np.inf if each > reach else float(np.ceil(each)) for each in (wanted, low, high)]
        return Plan(
            value=self.value,
            half_width=self.half_width,
            articles=self.n_articles,
            summaries=self.n_summaries,
            wanted=ends[0],
            wanted_low=ends[1],
            wanted_high=ends[2],
            definition=definition,
            reason=reason,
        )


def _half_width(replicates: Floats) -> float:
    return float(np.ptp(np.quantile(replicates, TAILS)) / 2)


def _width_definition(wished: float, resamples: int, seed: int) -> str:
    return (
        f"Articles until half of the 95% interval is {wished:g} or less: with articles drawn with replacement"
        f" ({_sizes()}; {resamples:,} resamples each, seed {seed}), half the width times the root of the"
        f" number of articles is taken as constant. {_RANGE}"
    )


def _difference_definition(resamples: int, seed: int) -> str:
    return (
        "Articles until the 95% interval of the difference leaves out 0 with a probability of 80%, if the"
        f" difference is as it is now: with articles drawn with replacement ({_sizes()}; {resamples:,}"
        f" resamples each, seed {seed}; the same for both evaluators), half the width times the root of the"
        " number of articles is taken as constant. The least number takes the greatest difference that the"
        " present interval allows; there is no greatest number as long as there may be no difference."
    )


def _sizes() -> str:
    return "1, 2 and 4 times as many as there are; only as many with more than 20,000 summaries"


_RANGE = (
    "The range is for the sampling error of an interval's width from so few articles, and for what the sizes"
    " say against the rule of the root. Further articles are taken to be of the same kind, with as many"
    " summaries and ratings each."
)
