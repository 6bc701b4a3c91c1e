"""The difference of two evaluators' coefficients, at every level, under many swaps."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse

from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.correlation.coefficients import VARIED_LABELS, Coefficient
from metaeval.stats.correlation.levels import SYSTEM_MEAN_DECIMALS
from metaeval.stats.groups import Groups
from metaeval.stats.significance import pair_count_swaps
from metaeval.stats.significance.swaps import Swapped, Swaps, reweighted_swaps

NONE_MARKED: Bools = np.zeros((1, 1), dtype=bool)
# Members by draws by groups that are worked on together, which bounds the memory taken.
CELLS_AT_ONCE = 2**22


class Coins(NamedTuple):
    """The articles or systems that each draw marks."""

    codes: Ints
    """(n,) the summaries' articles or systems."""
    places: Ints
    """(n,) the column of `marked` that stands for the summary's article or system."""
    marked: Bools
    """(draws, columns); one row, which marks none, if these are not drawn."""

    def at(self, rows: Ints) -> "Coins":
        """Return the coins of some of the summaries."""
        return Coins(self.codes[rows], self.places[rows], self.marked)


@dataclass(frozen=True, eq=False)
class Permuted:
    """n summaries of two evaluators, and the marks that decide which are swapped.

    A summary is swapped if either its article or its system is marked, but not both.
    """

    labels: Floats
    """(n,) finite, as are the scores."""
    x: Floats
    y: Floats
    articles: Coins
    systems: Coins


QUICK: dict[str, Callable[[Swaps], Swapped]] = {
    "kendall_b": pair_count_swaps.kendall_b_swaps,
    "roc_auc": pair_count_swaps.roc_auc_swaps,
}
"""Faster computations of some coefficients in small groups."""


def _swapped(coefficient: Coefficient, swaps: Swaps) -> Swapped:
    if coefficient.name in QUICK and pair_count_swaps.fits(swaps):
        found = QUICK[coefficient.name](swaps)
        if not coefficient.is_zero_if_constant:
            return found
        varied = VARIED_LABELS.holds(swaps.labels, swaps.labels, swaps.groups)
        return Swapped(*(np.where(np.isnan(values) & varied, 0.0, values) for values in found))
    return reweighted_swaps(coefficient, swaps)


def _pooled(coefficient: Coefficient, permuted: Permuted) -> Floats:
    cells = _cells(permuted)
    one = np.zeros_like(cells.places)
    return _mean_over_groups(coefficient, permuted, Coins(one, one, NONE_MARKED), cells)


def _by_article(coefficient: Coefficient, permuted: Permuted) -> Floats:
    return _by(permuted.articles, permuted.systems, coefficient, permuted)


def _by_system(coefficient: Coefficient, permuted: Permuted) -> Floats:
    return _by(permuted.systems, permuted.articles, coefficient, permuted)


def _by(grouping: Coins, within: Coins, coefficient: Coefficient, permuted: Permuted) -> Floats:
    if coefficient.is_fitted_to_all:
        # The groups hang together, so that none can be exchanged on its own.
        unmarked = Coins(grouping.codes, np.zeros_like(grouping.places), NONE_MARKED)
        return _mean_over_groups(coefficient, permuted, unmarked, _cells(permuted))
    return _mean_over_groups(coefficient, permuted, grouping, within)


def _cells(permuted: Permuted) -> Coins:
    """Return the summaries that are always swapped together, as codes with their marks."""
    articles, systems = permuted.articles, permuted.systems
    codes = articles.places * systems.marked.shape[1] + systems.places
    cells, places = np.unique(codes, return_inverse=True)
    of_article, of_system = np.divmod(cells, systems.marked.shape[1])
    return Coins(codes, places, articles.marked[:, of_article] ^ systems.marked[:, of_system])


def _mean_over_groups(coefficient: Coefficient, permuted: Permuted, grouping: Coins, within: Coins) -> Floats:
    """Return the difference of means over the groups where both are defined, (draws,).

    A marked group swaps the two evaluators as a whole, so only the members' coins are worked through.
    """
    order = np.argsort(grouping.codes, kind="stable")
    groups = Groups(np.unique(grouping.codes, return_counts=True)[1])
    marked = grouping.marked[:, grouping.places[order][groups.starts]]
    columns, members = np.unique(within.places[order], return_inverse=True)
    coins = within.marked[:, columns]
    draws = max(len(marked), len(coins))
    totals, defined = np.zeros(draws), np.zeros(draws)
    at_once = max(1, CELLS_AT_ONCE // (len(columns) * max(draws, len(columns))))
    if coefficient.is_fitted_to_all:
        at_once = len(groups.sizes)
    for begin in range(0, len(groups.sizes), at_once):
        block = slice(begin, begin + at_once)
        own_groups = Groups(groups.sizes[block])
        own_rows = slice(groups.starts[begin], groups.starts[begin] + own_groups.sizes.sum())
        rows = order[own_rows]
        swaps = Swaps(
            permuted.labels[rows], permuted.x[rows], permuted.y[rows], own_groups, members[own_rows], coins
        )
        first, second = _swapped(coefficient, swaps)
        gaps = np.where(marked[:, block], second - first, first - second)
        totals += np.nansum(gaps, axis=1)
        defined += (~np.isnan(gaps)).sum(axis=1)
    with np.errstate(invalid="ignore"):
        return totals / defined


def _of_system_means(coefficient: Coefficient, permuted: Permuted) -> Floats:
    """Return the difference over systems' means, (draws,).

    The mean scores of all draws are one product of the articles' marks and the gaps between scores.
    """
    articles, systems = permuted.articles, permuted.systems
    order = np.argsort(systems.codes, kind="stable")
    groups = Groups(np.unique(systems.codes, return_counts=True)[1])
    gaps = (permuted.y - permuted.x)[order]
    of_article = scipy.sparse.csr_array(
        (gaps, (articles.places[order], groups.of_row)),
        shape=(articles.marked.shape[1], len(groups.sizes)),
    )
    gained = articles.marked.astype(np.float64) @ of_article
    marked = systems.marked[:, systems.places[order][groups.starts]]
    gained = np.where(marked, groups.total(gaps) - gained, gained)
    labels = np.round(groups.mean(permuted.labels[order]), SYSTEM_MEAN_DECIMALS)

    def coefficients(totals: Floats) -> Floats:
        means = np.round(totals / groups.sizes, SYSTEM_MEAN_DECIMALS)
        if coefficient.is_fitted_to_all:
            return np.array([coefficient.of(labels, of_draw).value for of_draw in means])
        stacked = Groups(np.full(len(means), len(labels)))
        return coefficient.of_groups(np.tile(labels, len(means)), means.ravel(), stacked).values

    return coefficients(groups.total(permuted.x[order]) + gained) - coefficients(
        groups.total(permuted.y[order]) - gained
    )


DIFFERENCES: dict[str, Callable[[Coefficient, Permuted], Floats]] = {
    "pooled": _pooled,
    "article": _by_article,
    "within_system": _by_system,
    "system": _of_system_means,
}
"""Functions by level: (draws,) coefficient of the first evaluator minus that of the second, or nan.

Time grows as draws times summaries. 1,000 draws by article and system of 88,000 pooled summaries take about
8 s for two evaluators and 0.4 GB, of which a byte for each summary and draw; those of 100 articles by 16
systems 9 ms at the article level and 0.2 s pooled. Calibrating ties works through all pairs in every draw:
1 s at the article level, minutes pooled.
"""
