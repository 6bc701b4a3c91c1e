"""Resamples of articles, summaries or raters, and units left out, for agreement computed from counts."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from scipy import sparse

from metaeval.stats.agreement.count_statistic import CountStatistic
from metaeval.stats.agreement.rated_units import Cells, RatedUnits, indicator
from metaeval.stats.arrays import Floats, Ints

LARGEST_BLOCK = 500_000
"""Numbers in one table of cells by draws; beyond it the draws are worked on in turn."""


def unit_draws(units: RatedUnits, resamples: int, seed: int) -> Iterator[RatedUnits]:
    """Yield resamples of units (summaries), drawn with replacement with all their ratings.

    `units` are patterns, each counting `times` (patterns, 1). How often a resample has each pattern is one
    multinomial draw, which is the same in distribution as drawing units one by one, but takes no more time
    for many units than for few. Yields blocks of draws, in order; all of them together are `resamples`.
    """
    rng = np.random.default_rng(seed)
    present = np.flatnonzero(units.times[:, 0])
    times = units.times[present, 0]
    n = int(times.sum())
    for size in _blocks(resamples, len(units.counts)):
        drawn = np.zeros((len(units), size))
        drawn[present] = rng.multinomial(n, times / n, size=size).T
        yield units.with_times(drawn)


def article_draws(units: RatedUnits, articles: RatedUnits, resamples: int, seed: int) -> Iterator[RatedUnits]:
    """Yield resamples of articles, drawn with replacement with all their units (summaries).

    `units` are patterns. `articles` are patterns of these patterns: their answers are the places among
    `units`, and each counts `times` (patterns of articles, 1). Yields blocks of draws, in order; all of them
    together are `resamples`. If each article has one unit, they are the draws of `unit_draws`.
    """
    times_in = _times_in(units, articles)
    for drawn in unit_draws(articles, resamples, seed):
        yield units.with_times(times_in @ drawn.times)


def rater_draws(
    units: Ints, raters: Ints, answers: Ints, *, n_answers: int, resamples: int, seed: int
) -> Iterator[RatedUnits]:
    """Yield resamples of raters, drawn with replacement with all their ratings.

    A rater drawn k times counts as k raters who gave these ratings, except that nobody is compared with a
    copy of themselves: pairs of ratings are by two different raters, and a rater drawn k and another drawn l
    times make k l of them in each direction. Units left without such a pair are left out of the resample.

    Parameters
    ----------
    units, raters, answers : (ratings,) codes from 0; no rater has rated a unit twice.

    Yields blocks of draws, in order; all of them together are `resamples`.
    """
    rng = np.random.default_rng(seed)
    present, rater = np.unique(raters, return_inverse=True)
    cells, cell = np.unique(units * n_answers + answers, return_inverse=True)
    n_units = int(units.max(initial=-1)) + 1
    rated = Cells(cells // n_answers, cells % n_answers, n_units, n_answers)
    in_cell = indicator(cell, len(cells))
    in_unit = indicator(units, n_units)
    for size in _blocks(resamples, len(units)):
        drawn = rng.multinomial(len(present), np.full(len(present), 1 / len(present)), size=size)
        weights = drawn.T.astype(np.float64)[rater]
        counts = in_cell @ weights
        pairs = (rated.by_unit @ counts) ** 2 - in_unit @ weights**2
        yield RatedUnits(rated, counts, pairs, times=(pairs > 0).astype(np.float64))


def replicates(
    statistics: Sequence[CountStatistic], draws: Iterable[RatedUnits], scale: str, numbers: Floats
) -> Floats:
    """Return each statistic of each draw, (statistics, resamples); nan where it is undefined.

    All statistics share the draws.
    """
    blocks = [[each.values(block, scale, numbers) for each in statistics] for block in draws]
    return np.concatenate([np.array(block) for block in blocks], axis=1)


def units_left_out(units: RatedUnits) -> Iterator[RatedUnits]:
    """Yield blocks of draws, each draw leaving out one unit of one pattern, pattern by pattern.

    Every pattern must occur.
    """
    start = 0
    for size in _blocks(len(units), len(units.counts)):
        yield units.with_times(units.times - np.eye(len(units), size, -start))
        start += size


def articles_left_out(units: RatedUnits, articles: RatedUnits) -> Iterator[RatedUnits]:
    """Yield blocks of draws, each leaving out one article with all its units, pattern by pattern.

    `units` and `articles` are those of `article_draws`. Each pattern of articles is left out once, however
    many articles have it; whoever uses the draws weighs them by the articles' `times`. So it takes no more
    time for 20,000 articles than for 200 of the same patterns. `articles` may also be groups of articles,
    where the patterns are too many. Every pattern of articles must occur.
    """
    times_in = _times_in(units, articles).tocsc()
    start = 0
    for size in _blocks(len(articles), len(units.counts)):
        yield units.with_times(units.times - times_in[:, start : start + size].toarray())
        start += size


def _times_in(units: RatedUnits, articles: RatedUnits) -> sparse.csr_array:
    """Return how often each pattern of units occurs in each pattern of articles."""
    cells = articles.cells
    return sparse.csr_array(
        (articles.counts[:, 0], (cells.answers, cells.units)), shape=(len(units), len(articles))
    )


def _blocks(draws: int, cells: int) -> Iterator[int]:
    """Yield the sizes of blocks that add up to `draws`."""
    most = max(1, LARGEST_BLOCK // max(cells, 1))
    for start in range(0, draws, most):
        yield min(most, draws - start)
