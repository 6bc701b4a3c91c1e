"""Kendall's τ-b and ROC AUC of two evaluators under many swaps, as matrix products."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.significance.swaps import Swapped, Swaps

Singles = npt.NDArray[np.float32]

# Far below 2²⁴, to which single precision holds whole numbers: a pair adds at most 4.
MOST_PAIRS = 2**18
MOST_CELLS = 2**22


def fits(swaps: Swaps) -> bool:
    """Return whether the tables of pairs and of members by groups stay small."""
    sizes = swaps.groups.sizes
    cells = swaps.coins.shape[1] ** 2 * len(sizes)
    return int((sizes * (sizes - 1) // 2).sum()) <= MOST_PAIRS and cells <= MOST_CELLS


def kendall_b_swaps(swaps: Swaps) -> Swapped:
    """Return τ-b = (C − D) / √(pairs untied in scores · pairs untied in labels); nan if either is 0."""
    return _swapped(swaps, lambda balance, untied, labels: balance / np.sqrt(untied * labels))


def roc_auc_swaps(swaps: Swaps) -> Swapped:
    """Return AUC = ½ + ½ (C − D) / pairs of a yes (1) and a no (0); nan without such a pair."""
    return _swapped(swaps, lambda balance, _untied, labels: (1 + balance / labels) / 2)


def _swapped(swaps: Swaps, finish: Callable[[Floats, Floats, Floats], Floats]) -> Swapped:
    """Compute all draws as a few matrix products: pair counts are bilinear in the coins.

    For two summaries p, q whose members' coins are c_p and c_q, a term v of their scores becomes
    v(x_p, x_q) + c_p (v(y_p, x_q) − v(x_p, x_q)) + c_q (v(x_p, y_q) − v(x_p, x_q)) + c_p c_q (v(x_p, x_q) −
    v(x_p, y_q) − v(y_p, x_q) + v(y_p, y_q)). For the second evaluator x and y are exchanged, which leaves the
    last bracket as it is. All are whole numbers, so nothing is lost to rounding.
    """
    p, q, group = _pairs(swaps.groups.sizes)
    labels, x, y, members = swaps.labels, swaps.x, swaps.y, swaps.members
    order = np.sign(labels[p] - labels[q])
    signs = [np.sign(a[p] - b[q]) for a, b in ((x, x), (y, x), (x, y), (y, y))]
    coins: Singles = swaps.coins.astype(np.float32)
    count, (draws, width) = len(swaps.groups.sizes), coins.shape

    def per_group(terms: Floats) -> Floats:
        return np.bincount(group, terms, minlength=count).astype(np.float64)

    def per_member(of_p: Floats, of_q: Floats) -> Singles:
        total = np.bincount(members[p] * count + group, of_p, minlength=width * count)
        total += np.bincount(members[q] * count + group, of_q, minlength=width * count)
        return total.reshape(width, count).astype(np.float32)

    places = (members[p] * width + members[q]) * count + group

    def counts(terms: list[Floats]) -> tuple[Floats, Floats]:
        """Return sums of the terms v for the first and the second evaluator, (draws, groups)."""
        xx, yx, xy, yy = terms
        both = np.bincount(places, xx - xy - yx + yy, minlength=width * width * count).astype(np.float32)
        product = (coins @ both.reshape(width, width * count)).reshape(draws, width, count)
        shared = np.matmul(coins[:, None, :], product)[:, 0]
        return (
            per_group(xx) + (coins @ per_member(yx - xx, xy - xx)) + shared,
            per_group(yy) + (coins @ per_member(xy - yy, yx - yy)) + shared,
        )

    balance = counts([order * sign for sign in signs])
    untied = counts([np.abs(sign) for sign in signs])
    untied_labels = per_group(np.abs(order))
    with np.errstate(divide="ignore", invalid="ignore"):
        return Swapped(
            finish(balance[0], untied[0], untied_labels), finish(balance[1], untied[1], untied_labels)
        )


def _pairs(sizes: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the earlier row, the later row and the group of each pair of rows, (pairs,) each."""
    ends = np.repeat(np.cumsum(sizes), sizes)
    row = np.arange(len(ends))
    later = ends - row - 1
    p = np.repeat(row, later)
    q = p + 1 + np.arange(len(p)) - np.repeat(np.cumsum(later) - later, later)
    return p, q, np.repeat(np.arange(len(sizes)), sizes)[p]
