"""Ratings in long form, for statistics that depend on who rated."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Floats, Ints, code_vector, order_of, refuse_unequal_lengths


class Ratings(NamedTuple):
    """One entry per rating of the units with two ratings or more, sorted by unit, then by rater."""

    units: Ints  # (ratings,)
    raters: Ints  # (ratings,)
    answers: Ints  # (ratings,)
    n_units: int  # different units among them
    left_out: int  # units with one rating


def pairable_ratings(
    units: npt.ArrayLike, raters: npt.ArrayLike, answers: npt.ArrayLike, *, n_answers: int
) -> Ratings:
    """Return the ratings of units that two raters or more have rated.

    Each argument is (ratings,); answers are 0 to n_answers - 1.

    A missing rating has no entry. Raises ValueError for unequal lengths, codes that are not whole numbers, an
    answer outside its range, and a unit that one rater has rated twice: nobody's agreement with themselves
    may count as agreement between raters, and which of the two answers is theirs is not for a statistic to
    say.
    """
    unit, rater, answer = (
        code_vector(name, codes)
        for name, codes in (("units", units), ("raters", raters), ("answers", answers))
    )
    refuse_unequal_lengths(units=unit, raters=rater, answers=answer)
    outside = (answer < 0) | (answer >= n_answers)
    if outside.any():
        at = int(outside.argmax())
        raise ValueError(f"answers[{at}] is {answer[at]}: it must lie between 0 and {n_answers - 1}")
    # One number for both, since several times faster to sort than two.
    order = order_of(_from_0(unit) * (int(_from_0(rater).max(initial=0)) + 1) + _from_0(rater))
    unit, rater, answer = unit[order], rater[order], answer[order]
    twice = (np.diff(unit) == 0) & (np.diff(rater) == 0)
    if twice.any():
        at = int(twice.argmax())
        raise ValueError(f"rater {rater[at]} rated unit {unit[at]} twice")
    new = np.diff(unit, prepend=unit[:1] - 1) != 0
    sizes = np.diff(np.append(np.flatnonzero(new), len(unit)))
    kept = np.repeat(sizes >= 2, sizes)
    alone = int((sizes == 1).sum())
    return Ratings(unit[kept], rater[kept], answer[kept], len(sizes) - alone, alone)


def by_size(ratings: Ratings) -> Iterator[Ints]:
    """Yield the places of the ratings, (units, m), for units with m ratings, m ascending."""
    starts = np.flatnonzero(np.diff(ratings.units, prepend=ratings.units[:1] - 1) != 0)
    sizes = np.diff(np.append(starts, len(ratings.units)))
    for size in np.unique(sizes).tolist():
        yield starts[sizes == size][:, None] + np.arange(size)


def means_of_others(ratings: Ratings, numbers: Floats) -> Floats:
    """Return, for each rating, the mean number of the unit's other ratings, (ratings,).

    `numbers` is (ratings,).
    """
    means = np.zeros(len(ratings.units))
    for places in by_size(ratings):
        of_unit = numbers[places]
        # Added up without the own number, and in order, so that equal answers have equal means.
        rest = np.sort(of_unit, axis=1)[:, None, :].repeat(of_unit.shape[1], axis=1)
        position = np.argsort(np.argsort(of_unit, axis=1, kind="stable"), axis=1)
        np.put_along_axis(rest, position[:, :, None], 0.0, axis=2)
        means[places] = rest.sum(axis=2) / (of_unit.shape[1] - 1)
    return means


def _from_0(codes: Ints) -> Ints:
    return codes - codes.min(initial=0)


class RaterPairs(NamedTuple):
    """One entry per pair of ratings of the same unit by two raters."""

    first: Ints  # (entries,) place of the one rating, whose rater has the lower code
    second: Ints  # (entries,) place of the other
    pair: Ints  # (entries,) which two raters: 0 to n_pairs - 1
    n_pairs: int


def rater_pairs(ratings: Ratings) -> RaterPairs:
    """Return every two ratings of the same unit and the two raters who gave them."""
    firsts, seconds = [], []
    for places in by_size(ratings):
        one, other = np.triu_indices(places.shape[1], 1)
        firsts.append(places[:, one].ravel())
        seconds.append(places[:, other].ravel())
    first = np.concatenate([np.zeros(0, dtype=np.int64), *firsts])
    second = np.concatenate([np.zeros(0, dtype=np.int64), *seconds])
    rater = _from_0(ratings.raters)
    both = rater[first] * (int(rater.max(initial=0)) + 1) + rater[second]
    present, pair = np.unique(both, return_inverse=True)
    return RaterPairs(first, second, pair, len(present))
