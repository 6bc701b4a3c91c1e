"""One value from several data sets: the mean of random effects, and how far data sets differ."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq
from scipy.special import chdtrc, stdtr, stdtrit

from metaeval.stats.arrays import Floats, number_vector, refuse_unequal_lengths
from metaeval.stats.uncertainty.percentile_interval import TAILS

FEWEST_TO_PREDICT = 3
"""Two data sets say too little about how far a third may lie."""


@dataclass(frozen=True)
class RandomEffects:
    """The mean of the true effects that k data sets are drawn from, and their spread."""

    mean: float
    error: float
    """Standard error of the mean."""
    low: float
    """Lower end of the mean's 95% interval."""
    high: float
    lowest: float
    """Lower end of the 95% prediction interval, in which the true effect of one more data set lies; nan for
    fewer than FEWEST_TO_PREDICT data sets."""
    highest: float
    tau_squared: float
    """Variance of the true effects between data sets."""
    i_squared: float
    """Share, 0 to 1, of the variance of a typical estimate that is due to `tau_squared`."""
    q: float
    """Cochran's Q, the weighted squared distances from the mean of equal effects."""
    heterogeneity_p: float
    """p-value of Q, of equal true effects."""
    p_value: float
    """Two-sided p-value of a mean of 0."""


def random_effects(effects: npt.ArrayLike, errors: npt.ArrayLike) -> RandomEffects:
    """Return the random-effects mean of independent estimates.

    Estimate y_i has the variance s_i² of its own and τ² of the differences between data sets, so it weighs
    w_i = 1 / (s_i² + τ²). τ² is the one with Σ w_i (y_i - μ)² = k - 1, where μ = Σ w_i y_i / Σ w_i is the
    mean, or 0 if the sum is smaller even then. The mean's standard error is 1 / √Σ w_i; its interval is that
    of Student's t with k - 1 degrees, and the prediction interval takes √(τ² + 1 / Σ w_i) in its place.
    I² = τ² / (τ² + s²) with s² = (k - 1) Σ v_i / ((Σ v_i)² - Σ v_i²) and v_i = 1 / s_i².

    Parameters
    ----------
    effects : (k,) the estimates, on a scale on which they are about normal.
    errors : (k,) their standard errors, above 0.

    Raises ValueError for fewer than two data sets, and for an error that is not above 0.

    Source: R. C. Paule & J. Mandel, "Consensus values and weighting factors", Journal of Research of the
    National Bureau of Standards 87, 1982. The interval: J. Hartung & G. Knapp, "On tests of the overall
    treatment effect in meta-analysis with normally distributed responses", Statistics in Medicine 20, 2001;
    with this τ² their factor is at most 1, and it is taken as 1. The prediction interval: J. IntHout, J. P.
    A. Ioannidis, M. M. Rovers & J. J. Goeman, "Plea for routinely presenting prediction intervals in
    meta-analysis", BMJ Open 6, 2016. I²: J. P. T. Higgins & S. G. Thompson, "Quantifying heterogeneity in a
    meta-analysis", Statistics in Medicine 21, 2002.

    >>> found = random_effects([0.2, 0.4, 0.9], [0.1, 0.1, 0.1])
    >>> [round(value, 3) for value in (found.mean, found.tau_squared, found.i_squared)]
    [0.5, 0.12, 0.923]
    """
    y, s = number_vector("effects", effects), number_vector("errors", errors)
    refuse_unequal_lengths(effects=y, errors=s)
    k = len(y)
    if k < 2:
        raise ValueError(f"{k} data sets: at least two are needed")
    if np.isnan(y).any() or not (s > 0).all():
        raise ValueError("each data set needs an effect, and a standard error above 0")
    variances = s**2
    q = _spread(y, variances)
    tau_squared = _tau_squared(y, variances)
    weights = 1 / (variances + tau_squared)
    total = float(weights.sum())
    mean, error = float(weights @ y / total), 1 / math.sqrt(total)
    quantile = float(stdtrit(k - 1, TAILS[1]))
    ahead = quantile * math.sqrt(tau_squared + error**2) if k >= FEWEST_TO_PREDICT else math.nan
    own = 1 / variances
    typical = (k - 1) * own.sum() / (own.sum() ** 2 - (own**2).sum())
    return RandomEffects(
        mean=mean,
        error=error,
        low=mean - quantile * error,
        high=mean + quantile * error,
        lowest=mean - ahead,
        highest=mean + ahead,
        tau_squared=tau_squared,
        i_squared=float(tau_squared / (tau_squared + typical)),
        q=q,
        heterogeneity_p=float(chdtrc(k - 1, q)),
        p_value=2 * float(stdtr(k - 1, -abs(mean) / error)),
    )


def _spread(y: Floats, variances: Floats) -> float:
    """Return the weighted squared distances from the weighted mean."""
    weights = 1 / variances
    return float(weights @ (y - weights @ y / weights.sum()) ** 2)


def _tau_squared(y: Floats, variances: Floats) -> float:
    expected = len(y) - 1

    def excess(tau_squared: float) -> float:
        return _spread(y, variances + tau_squared) - expected

    if excess(0.0) <= 0:
        return 0.0
    # With τ² alone in the weights' denominator, the spread is (k - 1) times the effects' variance over τ².
    most = float(np.var(y, ddof=1))
    return float(brentq(excess, 0.0, most, xtol=1e-15 * most, rtol=1e-14))
