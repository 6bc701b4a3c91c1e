"""Soft pairwise accuracy: whether scores tell two systems apart as surely as labels do.

It stands apart from `COEFFICIENTS`. Those take one label and one score of each summary, or system, and can be
reweighted for bootstraps and tests. This one takes the labels and scores of systems article by article and is
itself made of permutations, so it has neither interval nor test.
"""

from collections.abc import Iterable, Iterator

import numpy as np

from metaeval.stats.arrays import Bools, Floats, distinct
from metaeval.stats.correlation.levels import NO_ARTICLE, NO_SYSTEM, Level, undefined_estimate
from metaeval.stats.correlation.paired import count_known, nonzero, paired
from metaeval.stats.result import Estimate
from metaeval.stats.rows import THOUSAND_RESAMPLES, Resampling, Rows

SOFT_ACCURACY = "soft_accuracy"
SOFT_ACCURACY_LABEL = "Soft pairwise accuracy"

ONE_SYSTEM = "summaries of articles with only one system"
NOTHING_IN_COMMON = "pairs of systems without a common article"

NO_PAIR = f"{SOFT_ACCURACY_LABEL} needs an article for which two systems have a label and a score"
SYSTEMS_ONLY = f"{SOFT_ACCURACY_LABEL} compares systems, so it is defined over systems' means only"

# Sums of the same numbers with other signs differ by about 1e-16 of their sizes, which must not break a tie.
ROUNDING = 1e-12
# Draws by articles, articles by pairs, and draws by pairs that are held together, which bounds the memory.
CELLS_AT_ONCE = 2**22


def soft_accuracies(level: Level, rows: Rows) -> list[Estimate]:
    """Return `soft_accuracy` of each evaluator; undefined, with the reason, at levels without means."""
    if level.is_of_means:
        return [soft_accuracy(own) for own in rows.each]
    definition = _definition(THOUSAND_RESAMPLES)
    return [undefined_estimate(paired(own, by_majority=False), definition, SYSTEMS_ONLY) for own in rows.each]


def soft_accuracy(rows: Rows, resampling: Resampling = THOUSAND_RESAMPLES) -> Estimate:
    """Return the soft pairwise accuracy of one evaluator's scores, 0 to 1, where higher scores are better.

    Two systems are compared on the articles for which both have a label and a score; several summaries of an
    article by one system count as their mean.

    Source: B. Thompson, N. Mathur, D. Deutsch & H. Khayrallah, "Improving Statistical Significance in Human
    Evaluation of Automatic Metrics via Soft Pairwise Accuracy", WMT 2024: mean over pairs of systems of
    1 - |p_human - p_metric|.
    """
    pairs = paired(rows, by_majority=False)
    no_article, no_system = pairs.rows.articles < 0, pairs.rows.systems < 0
    known = pairs.rows.at(~(no_article | no_system))
    kept = known.at(_has_two_systems(known))
    left_out = pairs.left_out | {
        NO_ARTICLE: int(no_article.sum()),
        NO_SYSTEM: int((no_system & ~no_article).sum()),
        ONE_SYSTEM: len(known) - len(kept),
    }
    definition = _definition(resampling)
    if not len(kept):
        return undefined_estimate(pairs, definition, NO_PAIR)
    labels, scores = _by_article_and_system(kept)
    of_pairs = pair_accuracies(labels, scores, random_signs(len(labels), resampling))
    compared = ~np.isnan(of_pairs)
    return Estimate(
        value=float(of_pairs[compared].mean()),
        n=len(kept),
        articles=count_known(kept.articles),
        systems=count_known(kept.systems),
        definition=definition,
        left_out=nonzero(left_out | {NOTHING_IN_COMMON: int((~compared).sum())}),
    )


def random_signs(articles: int, resampling: Resampling) -> Iterator[Floats]:
    """Yield blocks (draws, articles) of -1, which swaps the two systems of an article, and 1."""
    rng = np.random.default_rng(resampling.seed)
    at_once = max(1, CELLS_AT_ONCE // articles)
    for begin in range(0, resampling.resamples, at_once):
        draws = min(at_once, resampling.resamples - begin)
        yield np.where(rng.integers(0, 2, size=(draws, articles), dtype=bool), -1.0, 1.0)


def pair_accuracies(labels: Floats, scores: Floats, signs: Iterable[Floats]) -> Floats:
    """Return the mean of 1 - |p_labels - p_scores| over both orders of each pair of systems.

    In the order (i, j), p is the share of draws in which the difference i - j of means is at least as large
    as the one found, so that a tie counts in both orders. With one order alone, as in mt-metrics-eval,
    ties would make the value depend on the order of the systems.

    Parameters
    ----------
    labels, scores : (articles, systems) nan where absent.
    signs : blocks (draws, articles) of -1 and 1.

    Returns (pairs,) 0 to 1, pairs in the order of `np.triu_indices`; nan without a common article.
    """
    first, second = np.triu_indices(labels.shape[1], 1)
    absent = np.isnan(labels) | np.isnan(scores)
    sides = [np.where(absent, np.nan, values) for values in (labels, scores)]
    times = np.zeros((len(sides), 2, len(first)))  # draws at least, and at most, as large as the one found
    draws = 0
    for block in signs:
        draws += len(block)
        at_once = max(1, CELLS_AT_ONCE // max(block.shape))
        for begin in range(0, len(first), at_once):
            own = slice(begin, begin + at_once)
            for values, counts in zip(sides, times, strict=True):
                counts[:, own] += _extremes(values[:, first[own]], values[:, second[own]], block)
    of_labels, of_scores = times / draws
    found = (1 - np.abs(of_labels - of_scores)).mean(axis=0)
    there = (~absent).astype(np.float64)
    return np.where((there.T @ there)[first, second] > 0, found, np.nan)


def _extremes(x: Floats, y: Floats, signs: Floats) -> Floats:
    """Return in how many draws Σ(x - y) is at least, and at most, as large as without swaps, (2, pairs)."""
    gaps = np.nan_to_num(x - y)
    observed, drawn = gaps.sum(axis=0), signs @ gaps
    rounding = ROUNDING * np.nansum(np.abs(x) + np.abs(y), axis=0)
    at_least, at_most = drawn >= observed - rounding, drawn <= observed + rounding
    return np.array([at_least.sum(axis=0), at_most.sum(axis=0)], dtype=np.float64)


def _has_two_systems(rows: Rows) -> Bools:
    """Return whether the article of each summary has summaries by two systems or more, (n,)."""
    cells = np.unique(np.stack([rows.articles, rows.systems]), axis=1)
    articles, systems = np.unique(cells[0], return_counts=True)
    return np.isin(rows.articles, articles[systems > 1])


def _by_article_and_system(rows: Rows) -> tuple[Floats, Floats]:
    """Return the mean labels and mean scores, (articles, systems); nan where there is no summary."""
    articles, systems = distinct(rows.articles), distinct(rows.systems)
    shape = (len(articles), len(systems))
    places = np.ravel_multi_index(
        (np.searchsorted(articles, rows.articles), np.searchsorted(systems, rows.systems)), shape
    )
    times = np.bincount(places, minlength=shape[0] * shape[1])
    with np.errstate(invalid="ignore"):
        labels, scores = (
            (np.bincount(places, values, len(times)) / times).reshape(shape)
            for values in (rows.labels, rows.scores)
        )
    return labels, scores


def _definition(resampling: Resampling) -> str:
    return (
        f"{SOFT_ACCURACY_LABEL}: mean over all ordered pairs of systems (i, j) of 1 − |p_z − p_x|, with p_z"
        " for labels and p_x for scores the one-sided p-values of system i being better than j. p is the"
        " share of draws in which the difference of the two systems' means is at least as large as the one"
        " found; in each draw, the two systems' values of each article are swapped with probability ½, alike"
        f" for labels and scores; {resampling.resamples:,} draws, seed {resampling.seed}. Two systems are"
        " compared on the articles for which both have a label and a score (Thompson et al. 2024)."
    )
