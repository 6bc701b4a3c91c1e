"""Intervals of agreement on one question: all statistics of a place from the same draws."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from hashlib import blake2b

from metaeval.agreement.method import INTERVALS, AgreementMethod
from metaeval.agreement.rated_twice import RatedTwice
from metaeval.method import NONE
from metaeval.stats.agreement.agreement_bootstrap import (
    rater_draws,
    replicates,
    unit_draws,
    units_left_out,
)
from metaeval.stats.agreement.count_statistic import CountStatistic
from metaeval.stats.agreement.rated_units import RatedUnits
from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.result import Agreement, Interval
from metaeval.stats.uncertainty.bca_interval import bca_interval
from metaeval.stats.uncertainty.percentile_interval import CONFIDENCE, percentile_interval, undefined_told

KEPT = 128
"""Places (a question in a language) whose intervals are kept."""
VALUE_UNDEFINED = "the value is undefined"
BY_RATERS = "intervals are for statistics to which it does not matter who gave a rating"
ONE_SUMMARY = "an interval needs two summaries with two ratings or more"


def intervals(
    twice: RatedTwice,
    found: Mapping[str, Agreement],
    counted: Mapping[str, CountStatistic | None],
    scale: str,
    numbers: Floats,
    method: AgreementMethod,
) -> dict[str, Interval]:
    """By the statistic's name, of those in `found`; empty where the method wants none.

    `counted` has the statistics by name, None for one that is not computed from counts; `numbers`, (answers,)
    are those that answers stand for on the scale.
    """
    if method.interval == NONE:
        return {}
    reasons = {name: _why_none(twice, each, counted[name]) for name, each in found.items()}
    drawn = {name: each for name, each in counted.items() if each and not reasons[name]}
    none = {name: Interval(math.nan, math.nan, "", reason) for name, reason in reasons.items() if reason}
    if not drawn:
        return none
    values = tuple(found[name].value for name in drawn)
    asked = _Asked(tuple(drawn), tuple(drawn.values()), values, twice, scale, numbers, method)
    return none | dict(zip(drawn, _computed(asked), strict=True))


def _why_none(twice: RatedTwice, agreement: Agreement, statistic: CountStatistic | None) -> str:
    if agreement.reason:
        return VALUE_UNDEFINED
    if statistic is None:
        return BY_RATERS
    return ONE_SUMMARY if twice.n_units < 2 else ""


@dataclass(frozen=True, eq=False)
class _Asked:
    """Intervals of some statistics; equal where the same numbers must come out."""

    names: tuple[str, ...]
    statistics: tuple[CountStatistic, ...]
    values: tuple[float, ...]
    twice: RatedTwice
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
        digest = blake2b(repr((self.names, self.scale, self.method, self.twice.n_answers)).encode())
        for array in arrays:
            digest.update(f"{array.shape}".encode())
            digest.update(array.tobytes())
        return digest.digest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and self._digest == other._digest

    def __hash__(self) -> int:
        return hash(self._digest)


# A new rating changes its own language and all together; the other languages' intervals stay as they are.
@lru_cache(maxsize=KEPT)
def _computed(asked: _Asked) -> tuple[Interval, ...]:
    method = asked.method
    definition = (
        f"Interval: {CONFIDENCE:.0%}, {INTERVALS[method.interval].drawn}; {method.resamples:,} resamples,"
        f" seed {method.seed}."
    )
    drawn = replicates(asked.statistics, _draws(asked.twice, method), asked.scale, asked.numbers)
    definitions = [f"{definition} {undefined_told(each)}".rstrip() for each in drawn]
    if method.interval != "units_bca":
        return tuple(
            Interval.found(told, partial(percentile_interval, each))
            for told, each in zip(definitions, drawn, strict=True)
        )
    units = asked.twice.units.only(asked.twice.units.times[:, 0] > 0)
    left_out = replicates(asked.statistics, units_left_out(units), asked.scale, asked.numbers)
    return tuple(
        Interval.found(told, partial(bca_interval, value, each, without, units.times[:, 0]))
        for told, value, each, without in zip(definitions, asked.values, drawn, left_out, strict=True)
    )


def forget_intervals() -> None:
    """Compute all intervals anew from now on, as a benchmark must."""
    _computed.cache_clear()


def _draws(twice: RatedTwice, method: AgreementMethod) -> Iterator[RatedUnits]:
    if method.interval != "raters":
        return unit_draws(twice.units, method.resamples, method.seed)
    units, raters, answers = twice.long
    return rater_draws(
        units,
        raters,
        answers,
        n_answers=twice.n_answers,
        resamples=method.resamples,
        seed=method.seed,
    )
