"""The percentile interval of a bootstrap, and which resamples count."""

import numpy as np

from metaeval.stats.arrays import Floats
from metaeval.stats.result import NoIntervalError

CONFIDENCE = 0.95
TAILS = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)
MOST_UNDEFINED = 0.05
"""Share of resamples in which a value may be undefined before there is no interval."""
ROUNDING = 1e-12
"""Replicates that lie no further apart than this differ by rounding alone."""
NO_SPREAD = "every resample gives the same value"


def percentile_interval(replicates: Floats) -> tuple[float, float]:
    """Return the 2.5% and 97.5% quantiles of the defined replicates, interpolated.

    Parameters
    ----------
    replicates : (resamples,) nan where undefined.

    Raises NoIntervalError as `defined_replicates` does.

    Source: B. Efron & R. J. Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.
    """
    low, high = np.quantile(defined_replicates(replicates), TAILS)
    return float(low), float(high)


def defined_replicates(replicates: Floats) -> Floats:
    """Return the replicates that are not nan.

    Raises NoIntervalError if more than `MOST_UNDEFINED` of them are nan, or if all are equal up to rounding:
    an interval without width would claim that no other value is possible.
    """
    defined = replicates[~np.isnan(replicates)]
    undefined = len(replicates) - len(defined)
    if undefined > MOST_UNDEFINED * len(replicates) or not defined.size:
        raise NoIntervalError(f"undefined in {undefined:,} of {len(replicates):,} resamples")
    if np.ptp(defined) <= ROUNDING:
        raise NoIntervalError(NO_SPREAD)
    return defined


def undefined_told(replicates: Floats) -> str:
    """Return a sentence on undefined resamples; empty if there are none."""
    undefined = int(np.isnan(replicates).sum())
    if not undefined:
        return ""
    return f"In {undefined:,} of {len(replicates):,} resamples it is undefined; these are left out."
