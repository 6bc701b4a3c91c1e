"""Confidence intervals of correlations, by name."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from metaeval.stats.arrays import Floats
from metaeval.stats.correlation.constant_scores import LEFT_OUT, coefficient_at
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.correlation.paired import paired
from metaeval.stats.result import Estimate, Interval
from metaeval.stats.rows import THOUSAND_RESAMPLES, Resampling, Rows
from metaeval.stats.uncertainty.always_valid import always_valid_interval
from metaeval.stats.uncertainty.bca_interval import bca_interval
from metaeval.stats.uncertainty.bootstrap import JACKKNIFE_GROUPS, SCHEMES, Bootstrap
from metaeval.stats.uncertainty.delong import delong_interval
from metaeval.stats.uncertainty.fisher_interval import fisher_interval
from metaeval.stats.uncertainty.jackknife_interval import jackknife_interval
from metaeval.stats.uncertainty.percentile_interval import CONFIDENCE, defined_replicates, percentile_interval


def symmetric_interval(value: float, replicates: Floats, *, least: float = -1.0) -> tuple[float, float]:
    """Return the interval v ± q, q the 95% quantile of |v* - v| over the defined replicates v*.

    A correlation of means is the lower the noisier they are, and resampling adds noise, so that its
    replicates lie below the value: the percentile interval does, too, and is the further from the truth.
    This interval reaches as far above the value as below it.

    Parameters
    ----------
    value : the coefficient of the data.
    replicates : (resamples,) nan where undefined.
    least : the lowest possible value; the highest is 1. The interval is cut off at both.

    Raises NoIntervalError as `defined_replicates` does.

    Source: P. Hall, "On symmetric bootstrap confidence intervals", Journal of the Royal Statistical Society B
    50, 1988, without dividing by a standard error.

    >>> symmetric_interval(0.5, np.array([0.4, 0.4, 0.6, 0.6]))
    (0.4, 0.6)
    """
    half = float(np.quantile(np.abs(defined_replicates(replicates) - value), CONFIDENCE))
    return max(least, value - half), min(1.0, value + half)


CORRELATIONS = ("pearson", "spearman", "kendall_b")
"""Coefficients whose intervals are computed on Fisher's scale."""

SHARES = ("roc_auc", "acc_eq", "acc_eq_calibrated")
"""Coefficients that are shares, from 0 to 1."""

INDEPENDENT = ("pooled", "system")
"""Levels of a single coefficient, for which there are formulas."""

ALWAYS_VALID = "always_valid_articles"
"""The interval that holds at every look at a campaign that goes on."""

NONE_OF_SYSTEMS = (
    "over systems' means nothing holds at every look: with few articles noise biases the value, and ranks"
    " of few systems jump"
)

LEAST_SOUND, MOST_SOUND = 0.9, 0.975
"""The least share of studies whose 95% interval may hold the true value, and the most on average."""


class Coverage(NamedTuple):
    """The shares of simulated studies whose interval holds the true value, by coefficient, size and world."""

    lowest: float
    mean: float
    highest: float


@dataclass(frozen=True)
class CoefficientInterval:
    """A kind of interval; `name` is its name on the command line, the rest is for readers."""

    name: str
    label: str
    definition: str
    scheme: str = ""
    """The units that are resampled, one of SCHEMES; else empty."""
    kind: str = ""
    """The way from resamples to ends: percentile, BCa or symmetric; else empty."""
    coverage: Mapping[str, Coverage] = field(default_factory=dict)
    """Level -> what simulated studies of 50 and 100 articles show for the true value of the same systems
    (benchmarks/coverage_intervals.py)."""
    ever_wrong: tuple[float, float] | None = None
    """The least and the greatest share of simulated campaigns, by coefficient and world, in which it is wrong
    at some look (benchmarks/always_valid.py), except over systems' means."""

    def warning(self, level: str) -> str:
        """Return a sentence if the interval is too narrow or too wide at the level; empty if not."""
        found = self.coverage.get(level)
        if found is None or (found.lowest >= LEAST_SOUND and found.mean <= MOST_SOUND):
            return ""
        return (
            f"The interval '{self.label}' is no 95% interval here: in simulated studies it held the true"
            f" value of the same systems in {found.lowest:.0%} to {found.highest:.0%}, {found.mean:.0%} on"
            " average."
        )


def _by_level(*shares: tuple[float, float, float] | None) -> dict[str, Coverage]:
    """Return the coverage by level, given in the order of LEVELS; None where there is no interval."""
    return {level: Coverage(*each) for level, each in zip(LEVELS, shares, strict=True) if each}


def _drawn(
    name: str, label: str, scheme: str, kind: str, coverage: dict[str, Coverage] | None = None
) -> CoefficientInterval:
    definition = f"95% {kind} bootstrap: {SCHEMES[scheme]}"
    return CoefficientInterval(name, label, definition, scheme, kind, coverage or {})


INTERVALS: dict[str, CoefficientInterval] = {
    method.name: method
    for method in (
        _drawn(
            "bootstrap_articles",
            "bootstrap over articles",
            "articles",
            "percentile",
            _by_level((0.93, 0.94, 0.96), (0.91, 0.94, 0.96), (0.71, 0.93, 1.0), (0.93, 0.95, 0.98)),
        ),
        _drawn("bootstrap_systems", "bootstrap over systems", "systems", "percentile"),
        _drawn("bootstrap_both", "bootstrap over articles and systems", "both", "percentile"),
        _drawn(
            "symmetric_articles",
            "symmetric bootstrap over articles",
            "articles",
            "symmetric",
            _by_level((0.91, 0.94, 0.96), (0.92, 0.94, 0.96), (0.92, 0.96, 1.0), (0.94, 0.95, 0.97)),
        ),
        _drawn(
            "bca_articles",
            "BCa bootstrap over articles",
            "articles",
            "BCa",
            _by_level((0.93, 0.94, 0.96), (0.92, 0.94, 0.96), (0.74, 0.85, 0.96), (0.92, 0.95, 0.97)),
        ),
        _drawn("bca_systems", "BCa bootstrap over systems", "systems", "BCa"),
        CoefficientInterval(
            "jackknife_articles",
            "jackknife over articles",
            "95% jackknife: articles left out in turn, each with all its summaries",
            "articles",
            coverage=_by_level((0.94, 0.95, 0.98), (0.93, 0.95, 0.97), (0.79, 0.94, 1.0), (0.94, 0.96, 0.97)),
            ever_wrong=(0.32, 0.62),
        ),
        CoefficientInterval(
            ALWAYS_VALID,
            "always-valid over articles",
            "95% always-valid interval, which holds however often one looks while articles come in: articles"
            " left out in turn, each with all its summaries",
            "articles",
            ever_wrong=(0.0, 0.05),
        ),
        CoefficientInterval(
            "analytic",
            "by formula, summaries independent",
            "95% interval by formula",
            coverage=_by_level((0.7, 0.83, 0.92), None, (0.92, 0.99, 1.0), None),
        ),
    )
}


def intervals(
    name: str,
    level: str,
    coefficient: str,
    rows: Rows,
    resampling: Resampling = THOUSAND_RESAMPLES,
    *,
    bootstrap: Bootstrap | None = None,
    constant: str = LEFT_OUT,
) -> list[Interval]:
    """Return a 95% interval of each evaluator's coefficient.

    `bootstrap_*` are percentile, `symmetric_*` symmetric and `bca_*` BCa intervals of the resamples of
    `Bootstrap`.
    `jackknife_articles` is the jackknife's over articles, on Fisher's scale for correlations: as fast as a
    formula, at any level but over systems' means, and right for summaries that resemble others of an article.
    `always_valid_articles` is as much wider as it takes to hold at every look at a campaign that goes on.
    `analytic` is Fisher's interval, with Bonett and Wright's variances, for Pearson's r, Spearman's ρ and
    Kendall's τ-b, pooled and over systems' means, and DeLong's interval for pooled ROC AUC.

    Parameters
    ----------
    rows : of one or more evaluators.
    bootstrap : one of all the other arguments, if the caller has drawn it already.
    constant : what becomes of articles with equal scores: a name in `CONSTANT`.

    There is no interval, but a reason, where the value is undefined; where there are too few articles or
    systems; where more than 5% of the resamples leave the value undefined, or all give the same; and where
    there is no formula. Fewer undefined resamples are left out and counted in the definition.

    How often each holds the true value in simulations is its `coverage`; where that is far from 95%, the
    definition says so.

    Raises what `Bootstrap` raises.
    """
    method, chosen = INTERVALS[name], coefficient_at(level, coefficient, constant)
    estimates = [LEVELS[level].estimate(chosen, own) for own in rows.each]
    if method.scheme and bootstrap is None:
        bootstrap = Bootstrap(method.scheme, level, coefficient, rows, resampling, constant=constant)
    if bootstrap is None:
        by_majority = coefficient == "roc_auc"
        found = [
            _by_formula(method, level, coefficient, estimate, paired(own, by_majority=by_majority).rows)
            for estimate, own in zip(estimates, rows.each, strict=True)
        ]
    elif name == "jackknife_articles":
        found = [
            _jackknifed(method, coefficient, *each)
            for each in zip(estimates, bootstrap.why_not, bootstrap.jackknife, strict=True)
        ]
    elif name == ALWAYS_VALID:
        found = [
            _always_valid(method, level, coefficient, *each)
            for each in zip(
                estimates, bootstrap.why_not, bootstrap.jackknife, bootstrap.unit_counts, strict=True
            )
        ]
    else:
        is_bca = method.kind == "BCa"
        without = bootstrap.jackknife if is_bca else np.empty((len(rows.scores), 0))
        found = [
            _bootstrapped(method, coefficient, *each, resampling.seed)
            for each in zip(estimates, bootstrap.why_not, bootstrap.replicates, without, strict=True)
        ]
    warning = method.warning(level)
    return [replace(each, definition=f"{each.definition} {warning}".rstrip()) for each in found]


def _bootstrapped(
    method: CoefficientInterval,
    coefficient: str,
    estimate: Estimate,
    why_not: str,
    replicates: Floats,
    jackknife: Floats,
    seed: int,
) -> Interval:
    undefined = int(np.isnan(replicates).sum())
    left_out = f", of which {undefined:,} that leave it undefined are left out" if undefined else ""
    definition = f"{method.definition}; {len(replicates):,} resamples{left_out}; seed {seed}."
    if why_not or estimate.reason:
        return Interval(np.nan, np.nan, definition, _undefined(estimate) or why_not)
    if method.kind == "symmetric":
        definition += " The value ± the 95% quantile of the resamples' distances from it."
        return Interval.found(
            definition, lambda: symmetric_interval(estimate.value, replicates, least=_least(coefficient))
        )
    if method.kind == "BCa":
        definition += (
            f" Its acceleration is from leaving out each of them, or {JACKKNIFE_GROUPS} groups, in turn."
        )
        return Interval.found(definition, lambda: bca_interval(estimate.value, replicates, jackknife))
    return Interval.found(definition, lambda: percentile_interval(replicates))


def _jackknifed(
    method: CoefficientInterval, coefficient: str, estimate: Estimate, why_not: str, without: Floats
) -> Interval:
    is_correlation = coefficient in CORRELATIONS
    scale = ", on Fisher's scale" if is_correlation else ""
    definition = f"{method.definition}{_grouped(without)}{scale}; Student's t."
    if why_not or estimate.reason:
        return Interval(np.nan, np.nan, definition, _undefined(estimate) or why_not)
    return Interval.found(
        definition,
        lambda: jackknife_interval(
            estimate.value,
            without,
            is_correlation=is_correlation,
            least=_least(coefficient),
        ),
    )


def _always_valid(
    method: CoefficientInterval,
    level: str,
    coefficient: str,
    estimate: Estimate,
    why_not: str,
    without: Floats,
    articles: int,
) -> Interval:
    scale = "on the scale of log-odds" if coefficient in SHARES else "on Fisher's scale"
    definition = (
        f"{method.definition}{_grouped(without)}, {scale}; the mixture of Wang & Ramdas (2024) with"
        " Satterthwaite's degrees of freedom."
    )
    if level == "system":
        why_not = NONE_OF_SYSTEMS
    if why_not or estimate.reason:
        return Interval(np.nan, np.nan, definition, _undefined(estimate) or why_not)
    return Interval.found(
        definition,
        lambda: always_valid_interval(estimate.value, without, articles, least=_least(coefficient)),
    )


def _grouped(without: Floats) -> str:
    return f", in {JACKKNIFE_GROUPS} groups if there are more" if len(without) == JACKKNIFE_GROUPS else ""


def _by_formula(
    method: CoefficientInterval, level: str, coefficient: str, estimate: Estimate, pairs: Rows
) -> Interval:
    if level not in INDEPENDENT:
        reason = "there is no formula for a mean of coefficients"
        return Interval(np.nan, np.nan, f"{method.definition}.", _undefined(estimate) or reason)
    what, n = ("systems", estimate.systems) if level == "system" else ("summaries", estimate.n)
    source = "DeLong" if coefficient == "roc_auc" else "Fisher, Bonett & Wright"
    definition = f"{method.definition} ({source}), which takes the {what} as independent of each other."
    if estimate.reason:
        return Interval(np.nan, np.nan, definition, _undefined(estimate))
    if coefficient == "roc_auc":
        return Interval.found(definition, lambda: delong_interval(pairs.labels, pairs.scores))
    return Interval.found(definition, lambda: fisher_interval(coefficient, estimate.value, n or 0))


def _least(coefficient: str) -> float:
    return 0.0 if coefficient in SHARES else -1.0


def _undefined(estimate: Estimate) -> str:
    return f"the value is undefined: {estimate.reason}" if estimate.reason else ""
