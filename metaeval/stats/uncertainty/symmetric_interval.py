"""The symmetric interval of a bootstrap."""

import numpy as np

from metaeval.stats.arrays import Floats
from metaeval.stats.uncertainty.percentile_interval import CONFIDENCE, defined_replicates


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
