"""The jackknife's interval of a coefficient."""

import math
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from metaeval.stats.arrays import Floats
from metaeval.stats.result import NoIntervalError
from metaeval.stats.uncertainty.percentile_interval import ROUNDING, TAILS


class JackknifeSpread(NamedTuple):
    """A value with its standard error by the jackknife, perhaps on Fisher's scale."""

    middle: float
    error: float
    degrees: int
    """Degrees of freedom of the standard error, if all clusters are alike."""
    carried_by: float
    """The number of equal clusters that would make as uncertain a standard error: (Σ d²)² / Σ d⁴ over the
    deviations d of the values without each; about a third of the clusters if these are normal."""


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
    spread = jackknife_spread(value, without, on_fishers_scale=is_correlation)
    half = float(stdtrit(spread.degrees, TAILS[1])) * spread.error
    low, high = spread.middle - half, spread.middle + half
    return (math.tanh(low), math.tanh(high)) if is_correlation else (max(least, low), min(1.0, high))


def jackknife_spread(
    value: float, without: Floats, times: Floats | None = None, *, on_fishers_scale: bool
) -> JackknifeSpread:
    """Return artanh of the value, or the value itself, with its standard error.

    `times`, (g,), are the clusters, or groups, that each value of `without` stands for; one each if None.

    Raises NoIntervalError as `jackknife_interval`.
    """
    is_there = ~np.isnan(without)
    there = without[is_there]
    counts = np.ones(len(there)) if times is None else times[is_there]
    clusters = int(counts.sum())
    if clusters < 2:
        raise NoIntervalError("undefined without any one of what is left out")
    if on_fishers_scale and max(abs(value), np.abs(there).max()) >= 1:
        raise NoIntervalError("there is no interval around -1 or 1")
    middle, each = (math.atanh(value), np.arctanh(there)) if on_fishers_scale else (value, there)
    if np.ptp(each) <= ROUNDING:
        raise NoIntervalError("the value is the same without any article")
    squares = (each - np.average(each, weights=counts)) ** 2
    mean_square = float(np.average(squares, weights=counts))
    return JackknifeSpread(
        middle,
        math.sqrt((clusters - 1) * mean_square),
        clusters - 1,
        clusters * mean_square**2 / float(np.average(squares**2, weights=counts)),
    )


class OpenScale(NamedTuple):
    """The scale without ends of values from `least` to 1: artanh of the value moved to -1 to 1.

    Of correlations it is Fisher's, of shares half the log-odds.
    """

    least: float

    def spread(self, value: float, without: Floats, times: Floats | None = None) -> JackknifeSpread:
        """Return the value on the scale with its standard error; arguments as of `jackknife_spread`.

        Raises NoIntervalError as that does, and for values at an end.
        """
        values = np.append(without, value)
        if np.nanmin(values) <= self.least or np.nanmax(values) >= 1:
            raise NoIntervalError(f"there is no interval around {self.least:g} or 1")
        moved = (value - self._centre) / self._half, (without - self._centre) / self._half
        return jackknife_spread(*moved, times, on_fishers_scale=True)

    def value(self, on_scale: float) -> float:
        """Return the value that lies there on the scale."""
        return self._centre + self._half * math.tanh(on_scale)

    @property
    def _centre(self) -> float:
        return (1 + self.least) / 2

    @property
    def _half(self) -> float:
        return (1 - self.least) / 2
