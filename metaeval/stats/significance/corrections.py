"""Corrections of p-values for the number of tests."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Floats, number_vector


def holm(p_values: npt.ArrayLike) -> Floats:
    """Return Holm's adjusted p-values, which control the chance of any false finding.

    The k-th smallest of m becomes the largest of (m - i + 1) p_i over i <= k, at most 1.

    Parameters
    ----------
    p_values : (m,) 0 to 1; nan stays nan and does not count in m.

    Raises ValueError for a p-value outside 0 to 1.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6, 1979.

    >>> holm([0.01, 0.04, np.nan, 0.03]).tolist()
    [0.03, 0.06, nan, 0.06]
    """
    return _adjusted(p_values, lambda p: np.maximum.accumulate(p * np.arange(len(p), 0, -1)))


def benjamini_hochberg(p_values: npt.ArrayLike) -> Floats:
    """Return Benjamini and Hochberg's adjusted p-values, which control the share of false findings.

    The k-th smallest of m becomes the smallest of m p_i / i over i >= k, at most 1.

    Parameters
    ----------
    p_values : (m,) 0 to 1; nan stays nan and does not count in m.

    Raises ValueError for a p-value outside 0 to 1.

    Source: Y. Benjamini & Y. Hochberg, "Controlling the false discovery rate", Journal of the Royal
    Statistical Society B 57, 1995. The same as `scipy.stats.false_discovery_control`.

    >>> benjamini_hochberg([0.01, 0.04, np.nan, 0.03]).tolist()
    [0.03, 0.04, nan, 0.04]
    """
    return _adjusted(
        p_values, lambda p: np.minimum.accumulate((p * len(p) / np.arange(1, len(p) + 1))[::-1])[::-1]
    )


def _adjusted(p_values: npt.ArrayLike, adjust_ascending: Callable[[Floats], Floats]) -> Floats:
    given = number_vector("p_values", p_values)
    if ((given < 0) | (given > 1)).any():
        raise ValueError("a p-value lies between 0 and 1")
    known = np.flatnonzero(~np.isnan(given))
    ascending = known[np.argsort(given[known])]
    adjusted = np.full(len(given), np.nan)
    adjusted[ascending] = np.minimum(adjust_ascending(given[ascending]), 1.0)
    return adjusted


CORRECTIONS: dict[str, Callable[[npt.ArrayLike], Floats]] = {
    "holm": holm,
    "benjamini_hochberg": benjamini_hochberg,
}


def corrected_pairs(p_values: Floats, correction: str) -> Floats:
    """Return the p-values of all pairs, (n, n) and symmetric, corrected together; the diagonal is nan."""
    upper = np.triu_indices(len(p_values), 1)
    corrected = np.full_like(p_values, np.nan)
    corrected[upper] = CORRECTIONS[correction](p_values[upper])
    corrected.T[upper] = corrected[upper]
    return corrected
