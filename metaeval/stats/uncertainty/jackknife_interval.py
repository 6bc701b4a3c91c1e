"""The jackknife's interval of a coefficient."""

import numpy as np
from scipy.special import stdtrit

from metaeval.stats.arrays import Floats
from metaeval.stats.result import NoIntervalError
from metaeval.stats.uncertainty.percentile_interval import TAILS


def jackknife_interval(
    value: float, without: Floats, *, is_correlation: bool, least: float = -1.0
) -> tuple[float, float]:
    """Return the interval v ± t √((g - 1)/g Σ (v_j - v̄)²), t the quantile of Student's t with g - 1 degrees.

    Parameters
    ----------
    value : the coefficient of the data.
    without : (g,) the coefficient without each cluster, or each group of clusters; nan where it is undefined
        or there is nothing to leave out, left out.
    is_correlation : whether the interval is computed of atanh(v), so that it stays within -1 and 1.
    least : the lowest possible value; the highest is 1. The interval is cut off at both.

    Raises NoIntervalError for fewer than two values, for equal ones, and for correlations of -1 or 1.

    Source: J. W. Tukey, "Bias and confidence in not-quite large samples", Annals of Mathematical Statistics
    29, 1958; on Fisher's scale as R. A. Fisher, Metron 1, 1921.

    >>> ends = jackknife_interval(0.2, np.array([0.15, 0.2, 0.25]), is_correlation=False)
    >>> tuple(round(end, 4) for end in ends)
    (-0.0484, 0.4484)
    """
    there = without[~np.isnan(without)]
    if len(there) < 2:
        raise NoIntervalError("undefined without any one of what is left out")
    if is_correlation and max(abs(value), np.abs(there).max()) >= 1:
        raise NoIntervalError("there is no interval around -1 or 1")
    middle, each = (np.arctanh(value), np.arctanh(there)) if is_correlation else (value, there)
    variance = (len(each) - 1) * each.var()
    if variance == 0:
        raise NoIntervalError("the value is the same without any article")
    half = float(stdtrit(len(each) - 1, TAILS[1])) * np.sqrt(variance)
    if is_correlation:
        return float(np.tanh(middle - half)), float(np.tanh(middle + half))
    return max(least, float(middle - half)), min(1.0, float(middle + half))
