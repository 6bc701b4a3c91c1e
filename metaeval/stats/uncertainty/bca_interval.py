"""The bias-corrected and accelerated (BCa) interval of a bootstrap."""

import numpy as np
from scipy.special import ndtr, ndtri

from metaeval.stats.arrays import Floats
from metaeval.stats.result import NoIntervalError
from metaeval.stats.uncertainty.percentile_interval import TAILS, defined_replicates


def bca_interval(
    value: float, replicates: Floats, jackknife: Floats, times: Floats | None = None
) -> tuple[float, float]:
    """Return quantiles of the replicates, corrected for bias and for a spread that varies with the value.

    With z₀ the normal quantile of the share of replicates below the value (those equal to it by half), and
    a = Σ d³ / (6 (Σ d²)^1.5) over the deviations d of the jackknife values from their mean, the quantiles are
    taken at Φ(z₀ + (z₀ ± z) / (1 - a (z₀ ± z))).

    Parameters
    ----------
    value : the coefficient of the data.
    replicates : (resamples,) nan where undefined.
    jackknife : (clusters,) the coefficient without one cluster each; nan where undefined, left out. Groups of
        clusters may take the place of clusters.
    times : (clusters,) how many clusters each of these stands for; one each if None.

    Raises NoIntervalError as `defined_replicates` does, and if all replicates lie on one side of the value or
    the jackknife is undefined throughout.

    Source: B. Efron, "Better bootstrap confidence intervals", Journal of the American Statistical Association
    82, 1987; the acceleration as in Efron & Tibshirani, 1993, equation 14.15.
    """
    defined = defined_replicates(replicates)
    below = float((defined < value).mean() + (defined == value).mean() / 2)
    if not 0 < below < 1:
        raise NoIntervalError("all resamples lie on one side of the value")
    bias = ndtri(below)
    there = ~np.isnan(jackknife)
    if not there.any():
        raise NoIntervalError("undefined without any one of what is drawn")
    counts = np.ones(len(jackknife))[there] if times is None else times[there]
    deviations = np.average(jackknife[there], weights=counts) - jackknife[there]
    squares = float((counts * deviations**2).sum())
    acceleration = float((counts * deviations**3).sum()) / (6 * squares**1.5) if squares > 0 else 0.0
    moved = bias + ndtri(np.array(TAILS))
    low, high = np.quantile(defined, ndtr(bias + moved / (1 - acceleration * moved)))
    return float(low), float(high)
