"""Letters beside ranks: evaluators with a letter in common do not differ significantly."""

import numpy as np
import numpy.typing as npt

from metaeval.stats.arrays import Floats, Ints, number_vector

ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def rank_clusters(values: npt.ArrayLike, significant: npt.ArrayLike) -> list[str]:
    """Return the compact letter display: two share a letter unless they differ significantly.

    Parameters
    ----------
    values : (evaluators,) what ranks them, best first; nan comes last.
    significant : (evaluators, evaluators) symmetric, whether the two differ; the diagonal is ignored.

    For each evaluator its letters in order, such as 'ab'; 'a' goes to the best. After z come aa, ab ..., and
    letters are then parted by spaces.

    Raises ValueError unless `significant` is square and symmetric.

    Source: H.-P. Piepho, "An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons",
    Journal of Computational and Graphical Statistics 13, 2004 (insert and absorb).

    >>> differ = np.zeros((3, 3), dtype=bool)
    >>> differ[0, 2] = differ[2, 0] = True
    >>> rank_clusters([0.3, 0.2, 0.1], differ)
    ['a', 'ab', 'b']
    """
    value = number_vector("values", values)
    apart = np.asarray(significant, dtype=bool)
    if apart.shape != (len(value), len(value)) or (apart != apart.T).any():
        raise ValueError(f"significant must be symmetric, {len(value)} by {len(value)}")
    places = np.argsort(-value, kind="stable")

    columns = [frozenset(range(len(value)))] if len(value) else []
    for better in range(len(value)):
        for worse in range(better + 1, len(value)):
            if apart[places[better], places[worse]]:
                columns = _split(columns, better, worse)

    names = _names(len(columns))
    letters: list[list[str]] = [[] for _ in range(len(value))]
    for name, column in zip(names, sorted(columns, key=sorted), strict=True):
        for place in column:
            letters[places[place]].append(name)
    return [(" " if len(columns) > len(ALPHABET) else "").join(own) for own in letters]


def tested_with_each_other(p_values: Floats, ranked: Ints) -> Ints:
    """Return the evaluators that remain of `ranked` when those with the most untested pairs are left out.

    They are left out again and again until every two have been tested; none remain if only one would.

    Parameters
    ----------
    p_values : (evaluators, evaluators) nan where the two were not tested; the diagonal is ignored.
    ranked : (n,) places of evaluators.
    """
    untested = np.isnan(p_values)
    np.fill_diagonal(untested, False)
    rest = ranked
    while (counts := untested[np.ix_(rest, rest)].sum(axis=1)).any():
        rest = rest[counts < counts.max()]
    return rest if len(rest) > 1 else rest[:0]


def _split(columns: list[frozenset[int]], first: int, second: int) -> list[frozenset[int]]:
    """Split each column that holds both: one without the first, one without the second.

    A column that another contains says nothing new and is absorbed.
    """
    kept = [column for column in columns if not {first, second} <= column]
    for column in columns:
        if {first, second} <= column:
            for half in (column - {second}, column - {first}):
                if not any(half <= other for other in kept):
                    kept = [other for other in kept if not other <= half] + [half]
    return kept


def _names(count: int) -> list[str]:
    """Return a, b ... z, aa, ab ..."""
    names = []
    for number in range(count):
        name, rest = "", number + 1
        while rest:
            rest, digit = divmod(rest - 1, len(ALPHABET))
            name = ALPHABET[digit] + name
        names.append(name)
    return names
