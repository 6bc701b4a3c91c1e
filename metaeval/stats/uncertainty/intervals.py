"""Confidence intervals of correlations, by name."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Floats
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.correlation.paired import Paired, paired
from metaeval.stats.result import Estimate, Interval, NoIntervalError
from metaeval.stats.uncertainty.bca_interval import bca_interval
from metaeval.stats.uncertainty.bootstrap import SCHEMES, Bootstrap, Resampling
from metaeval.stats.uncertainty.delong import delong_interval
from metaeval.stats.uncertainty.fisher_interval import fisher_interval
from metaeval.stats.uncertainty.percentile_interval import percentile_interval

JACKKNIFE_GROUPS = 500
"""Of more clusters, groups of them are left out in turn; the acceleration is the same but for noise."""

INDEPENDENT = ("pooled", "system")
"""Levels of one coefficient, for which there are formulas, not of a mean of coefficients."""


@dataclass(frozen=True)
class IntervalMethod:
    """A way to an interval, by its name on the command line; `label` and `definition` are for readers."""

    name: str
    label: str
    definition: str
    scheme: str = ""
    """What is drawn again, one of SCHEMES; empty if nothing is."""
    is_bca: bool = False


def _drawn(name: str, label: str, scheme: str, *, is_bca: bool = False) -> IntervalMethod:
    kind = "BCa bootstrap" if is_bca else "percentile bootstrap"
    return IntervalMethod(name, label, f"95% {kind}: {SCHEMES[scheme]}", scheme, is_bca)


INTERVALS: dict[str, IntervalMethod] = {
    method.name: method
    for method in (
        _drawn("bootstrap_articles", "bootstrap over articles", "articles"),
        _drawn("bootstrap_systems", "bootstrap over systems", "systems"),
        _drawn("bootstrap_both", "bootstrap over articles and systems", "both"),
        _drawn("bca_articles", "BCa bootstrap over articles", "articles", is_bca=True),
        _drawn("bca_systems", "BCa bootstrap over systems", "systems", is_bca=True),
        IntervalMethod("analytic", "by formula", "95% interval by formula"),
    )
}


def intervals(
    name: str,
    level: str,
    coefficient: str,
    labels: npt.ArrayLike,
    scores: npt.ArrayLike,
    articles: npt.ArrayLike,
    systems: npt.ArrayLike,
    *,
    yes_no: bool = False,
    resamples: int = 1000,
    seed: int = 0,
    bootstrap: Bootstrap | None = None,
) -> list[Interval]:
    """One 95% interval for each evaluator's coefficient.

    `bootstrap_*` are percentile intervals, `bca_*` are BCa intervals; what is drawn, and the other arguments,
    are those of `bootstrap_replicates`: the same seed gives the same interval. `analytic` is Fisher's
    interval (with Bonett and Wright's variances) for Pearson's r, Spearman's ρ and Kendall's τ-b, pooled over
    summaries and over systems' means, and DeLong's for ROC AUC pooled over summaries.

    `bootstrap` is that of all the other arguments, for a caller who makes more from it; None draws here.

    There is no interval, but a reason, where the value is undefined, where there are too few articles
    (systems) to draw from, where more than 5% of the resamples leave the value undefined or all give the
    same, and where there is no formula. A few undefined resamples are left out and counted in the definition.

    Simulated (benchmarks/coverage_intervals.py), percentile and BCa intervals over 50 or 100 articles hold
    the true value in 92% to 96% of studies, over 20 articles in 89% to 94%: few articles show too little of
    how articles differ. The formulas take summaries as independent and hold it in 80% to 90%, pooled.

    Raises what `bootstrap_replicates` raises.
    """
    method = INTERVALS[name]
    matrix = np.asarray(scores, dtype=np.float64)
    estimates = [
        LEVELS[level].estimate(COEFFICIENTS[coefficient], labels, row, articles, systems, yes_no=yes_no)
        for row in matrix
    ]
    if not method.scheme:
        return [
            _by_formula(
                method,
                level,
                coefficient,
                estimate,
                paired(labels, row, articles, systems, as_yes_no=yes_no and coefficient == "roc_auc"),
            )
            for estimate, row in zip(estimates, matrix, strict=True)
        ]
    if bootstrap is None:
        data = Resampling(method.scheme, level, coefficient, labels, matrix, articles, systems, yes_no=yes_no)
        bootstrap = Bootstrap(data, resamples, seed)
    data = bootstrap.resampling
    jackknife = data.jackknife(JACKKNIFE_GROUPS) if method.is_bca else np.empty((len(matrix), 0))
    return [
        _bootstrapped(method, estimate, why_not, drawn, without, seed)
        for estimate, why_not, drawn, without in zip(
            estimates, data.why_not, bootstrap.replicates, jackknife, strict=True
        )
    ]


def _bootstrapped(
    method: IntervalMethod, estimate: Estimate, why_not: str, replicates: Floats, jackknife: Floats, seed: int
) -> Interval:
    undefined = int(np.isnan(replicates).sum())
    left_out = f", of which {undefined:,} that leave it undefined are left out" if undefined else ""
    definition = f"{method.definition}; {len(replicates):,} resamples{left_out}; seed {seed}."
    if why_not or estimate.reason:
        return Interval(np.nan, np.nan, definition, _undefined(estimate) or why_not)
    if method.is_bca:
        definition += (
            f" Its acceleration is from leaving out each of them, or {JACKKNIFE_GROUPS} groups, in turn."
        )
        return _interval(definition, lambda: bca_interval(estimate.value, replicates, jackknife))
    return _interval(definition, lambda: percentile_interval(replicates))


def _by_formula(
    method: IntervalMethod, level: str, coefficient: str, estimate: Estimate, pairs: Paired
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
        return _interval(definition, lambda: delong_interval(pairs.labels, pairs.scores))
    return _interval(definition, lambda: fisher_interval(coefficient, estimate.value, n or 0))


def _undefined(estimate: Estimate) -> str:
    return f"the value is undefined: {estimate.reason}" if estimate.reason else ""


def _interval(definition: str, ends: Callable[[], tuple[float, float]]) -> Interval:
    try:
        low, high = ends()
    except NoIntervalError as why_not:
        return Interval(np.nan, np.nan, definition, str(why_not))
    return Interval(low, high, definition)
