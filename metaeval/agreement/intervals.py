"""Intervals of agreement on one question: all statistics of a language use the same resamples."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from hashlib import blake2b

import numpy as np

from metaeval.agreement.method import ALWAYS_VALID, ARTICLES, INTERVALS, OVER_ARTICLES, AgreementMethod
from metaeval.agreement.ratings_per_unit import RatingsPerUnit
from metaeval.stats.agreement.agreement_bootstrap import (
    article_draws,
    articles_left_out,
    rater_draws,
    replicates,
    unit_draws,
    units_left_out,
)
from metaeval.stats.agreement.count_statistic import CountStatistic
from metaeval.stats.agreement.rated_units import RatedUnits
from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.method import NONE
from metaeval.stats.result import Agreement, Interval, NoIntervalError
from metaeval.stats.uncertainty.always_valid import always_valid_interval
from metaeval.stats.uncertainty.article_draws import FEWEST_ARTICLES, TOO_FEW_ARTICLES
from metaeval.stats.uncertainty.bca_interval import bca_interval
from metaeval.stats.uncertainty.percentile_interval import CONFIDENCE, percentile_interval, undefined_told

CACHE_SIZE = 128
"""Intervals kept, one set for each question and language."""
VALUE_UNDEFINED = "the value is undefined"
NEEDS_RATERS = "the statistic depends on who gave each rating"
UNDEFINED_WITHOUT = "undefined without one of the articles"
ONE_SUMMARY = "an interval needs two summaries with two ratings or more"


def intervals(
    twice: RatingsPerUnit,
    found: Mapping[str, Agreement],
    counted: Mapping[str, CountStatistic | None],
    scale: str,
    numbers: Floats,
    method: AgreementMethod,
) -> dict[str, Interval]:
    """Return the interval of each statistic in `found`, by name; empty if the method computes none.

    `counted` maps names to statistics, None for one that is not computed from counts. `numbers`, (answers,),
    are the values of the answers on the scale.
    """
    if method.interval == NONE:
        return {}
    reasons = {name: _why_none(twice, each, counted[name], method) for name, each in found.items()}
    drawn = {name: each for name, each in counted.items() if each and not reasons[name]}
    none = {name: Interval(math.nan, math.nan, "", reason) for name, reason in reasons.items() if reason}
    if not drawn:
        return none
    values = tuple(found[name].value for name in drawn)
    request = _Request(tuple(drawn), tuple(drawn.values()), values, twice, scale, numbers, method)
    return none | dict(zip(drawn, _computed(request), strict=True))


def _why_none(
    twice: RatingsPerUnit, agreement: Agreement, statistic: CountStatistic | None, method: AgreementMethod
) -> str:
    if agreement.reason:
        return VALUE_UNDEFINED
    if statistic is None:
        return NEEDS_RATERS
    if method.interval in OVER_ARTICLES and twice.n_articles < FEWEST_ARTICLES:
        return TOO_FEW_ARTICLES
    return ONE_SUMMARY if twice.n_units < 2 else ""


@dataclass(frozen=True, eq=False)
class _Request:
    """A request for intervals. Two requests are equal if their results must be."""

    names: tuple[str, ...]
    statistics: tuple[CountStatistic, ...]
    values: tuple[float, ...]
    twice: RatingsPerUnit
    scale: str
    numbers: Floats
    method: AgreementMethod

    @cached_property
    def _digest(self) -> bytes:
        units = self.twice.units
        arrays: list[Floats | Ints] = [units.cells.units, units.cells.answers]
        arrays += [units.counts, units.times, self.numbers]
        if self.method.interval == "raters":
            arrays += self.twice.long
        if self.method.interval in OVER_ARTICLES:
            arrays += _arrays(self.twice.articles)
        if self.method.interval == ALWAYS_VALID:
            arrays += _arrays(self.twice.left_out)
        digest = blake2b(repr((self.names, self.scale, self.method, self.twice.n_answers)).encode())
        for array in arrays:
            digest.update(f"{array.shape}".encode())
            digest.update(array.tobytes())
        return digest.digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Request) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)


def _arrays(articles: RatedUnits) -> list[Floats | Ints]:
    return [articles.cells.units, articles.cells.answers, articles.counts, articles.times]


# A new rating changes its own language and the total; the intervals of other languages stay in the cache.
@lru_cache(maxsize=CACHE_SIZE)
def _computed(request: _Request) -> tuple[Interval, ...]:
    method = request.method
    if method.interval == ALWAYS_VALID:
        return _always_valid(request)
    definition = (
        f"Interval: {CONFIDENCE:.0%} for a single look, {INTERVALS[method.interval].drawn};"
        f" {method.resamples:,} resamples, seed {method.seed}."
    )
    drawn = replicates(request.statistics, _draws(request.twice, method), request.scale, request.numbers)
    definitions = [f"{definition} {undefined_told(each)}".rstrip() for each in drawn]
    if method.interval != "units_bca":
        return tuple(
            Interval.found(told, partial(percentile_interval, each))
            for told, each in zip(definitions, drawn, strict=True)
        )
    units = request.twice.units.only(request.twice.units.times[:, 0] > 0)
    left_out = replicates(request.statistics, units_left_out(units), request.scale, request.numbers)
    return tuple(
        Interval.found(told, partial(bca_interval, value, each, without, units.times[:, 0]))
        for told, value, each, without in zip(definitions, request.values, drawn, left_out, strict=True)
    )


def _always_valid(request: _Request) -> tuple[Interval, ...]:
    twice = request.twice
    draws = articles_left_out(twice.units, twice.left_out)
    without = replicates(request.statistics, draws, request.scale, request.numbers)
    groups = "" if twice.left_out is twice.articles else f"; in {len(twice.left_out)} groups of articles"
    definition = f"Interval: {CONFIDENCE:.0%}, {INTERVALS[ALWAYS_VALID].drawn}{groups}."
    return tuple(
        Interval.found(definition, partial(_always_valid_ends, statistic, value, each, twice))
        for statistic, value, each in zip(request.statistics, request.values, without, strict=True)
    )


def _always_valid_ends(
    statistic: CountStatistic, value: float, without: Floats, twice: RatingsPerUnit
) -> tuple[float, float]:
    # The others would say nothing of an article that alone makes the value defined.
    if np.isnan(without).any():
        raise NoIntervalError(UNDEFINED_WITHOUT)
    times = twice.left_out.times[:, 0]
    return always_valid_interval(value, without, twice.n_articles, least=statistic.least, times=times)


def _draws(twice: RatingsPerUnit, method: AgreementMethod) -> Iterator[RatedUnits]:
    if method.interval == ARTICLES:
        return article_draws(twice.units, twice.articles, method.resamples, method.seed)
    if method.interval != "raters":
        return unit_draws(twice.units, method.resamples, method.seed)
    units, raters, answers = twice.long
    return rater_draws(
        units, raters, answers, n_answers=twice.n_answers, resamples=method.resamples, seed=method.seed
    )
