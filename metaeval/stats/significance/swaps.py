"""Two evaluators with part of their scores swapped, as permutation tests need them.

Each summary in a group belongs to a member: a system if the group is an article, an article if the group is a
system. In each draw, a member's coin decides whether its summaries' scores x of the first and y of the second
evaluator are swapped.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.correlation.coefficients import Coefficient
from metaeval.stats.correlation.reweighted_rows import Draws, ReweightedRows
from metaeval.stats.groups import Groups

CELLS_AT_ONCE = 2**22


@dataclass(frozen=True, eq=False)
class Swaps:
    """n summaries, sorted by group, and which of them are swapped in each draw."""

    labels: Floats
    """(n,) finite."""
    x: Floats
    """(n,) the first evaluator's scores; finite."""
    y: Floats
    """(n,) the second's."""
    groups: Groups
    members: Ints
    """(n,) the column of `coins` that stands for the summary."""
    coins: Bools
    """(draws, members) whether a member's scores are swapped."""


class Swapped(NamedTuple):
    """The two evaluators' coefficients after the swaps, nan where undefined."""

    first: Floats
    """(draws, groups)."""
    second: Floats


def reweighted_swaps(coefficient: Coefficient, swaps: Swaps) -> Swapped:
    """Return any coefficient after the swaps.

    Each summary occurs twice, with x and with y; a draw counts one of the two.

    Sorted once; every draw then takes time in proportion to n.
    """
    draws, members = swaps.coins.shape
    order = np.argsort(np.tile(swaps.groups.of_row, 2), kind="stable")
    rows = ReweightedRows(
        labels=np.tile(swaps.labels, 2)[order],
        scores=np.concatenate([swaps.x, swaps.y])[order],
        groups=Groups(2 * swaps.groups.sizes),
        units=np.concatenate([swaps.members, swaps.members + members])[order],
        unit_count=2 * members + 1,
        group_units=np.full(len(swaps.groups.sizes), 2 * members),
    )
    values = coefficient.reweigh(rows)
    once = np.ones((1, draws))
    first, second = [], []
    at_once = max(1, CELLS_AT_ONCE // len(rows.labels))
    for begin in range(0, draws, at_once):
        y = swaps.coins[begin : begin + at_once].T.astype(np.float64)
        block = once[:, : y.shape[1]]
        first.append(values(Draws(np.concatenate([1 - y, y, block]))))
        second.append(values(Draws(np.concatenate([y, 1 - y, block]))))
    return Swapped(np.concatenate(first, axis=1).T, np.concatenate(second, axis=1).T)
