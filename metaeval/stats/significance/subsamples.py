"""Wins in 80% subsamples without replacement, as in the paper on ICE."""

from itertools import combinations

import numpy as np

from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.correlation import reweighted_levels
from metaeval.stats.correlation.reweighted_levels import ALWAYS, DrawnRows
from metaeval.stats.correlation.reweighted_rows import Draws
from metaeval.stats.significance.compared import Compared
from metaeval.stats.significance.replicates import ROUNDING, Replicates, differences

SHARE = 0.8
CELLS_AT_ONCE = 2**22


def win_shares(data: Compared) -> Floats:
    """Return the share of draws in which the row's evaluator beats the column's, (E, E).

    nan where a coefficient is undefined, and on the diagonal. A draw in which both are equal is won by
    neither. At the pooled level 80% of the common summaries are drawn, else 80% of the articles, rounded
    down; a summary of unknown article is an article of its own.

    Source: S. Jain et al., "Multi-Dimensional Evaluation of Text Summarization with In-Context Learning",
    Findings of the ACL 2023, appendix E, on summaries; W. Yuan, G. Neubig & P. Liu, "BARTScore: Evaluating
    Generated Text as Text Generation", NeurIPS 2021, on articles. Both call an evaluator better that wins in
    more than 95% of 1,000 draws.
    """
    of_pair = differences(data, _replicates(data))
    size = len(data.rows.scores)
    shares = np.full((size, size), np.nan)
    for first, second in combinations(range(size), 2):
        kept = data.common(first, second)
        if data.estimate(first, kept).reason or data.estimate(second, kept).reason:
            continue
        found = of_pair(first, second)
        if found.size:
            shares[first, second] = (found > ROUNDING).mean()
            shares[second, first] = (found < -ROUNDING).mean()
    return shares


def _replicates(data: Compared) -> Replicates:
    level = reweighted_levels.LEVELS[data.level.name]

    def replicates(evaluators: Ints, kept: Bools) -> Floats:
        places = np.flatnonzero(kept & data.has_unit)
        drawn_as = places if data.level.name == "pooled" else data.rows.own_articles[places]
        units = ALWAYS + 1 + np.unique(drawn_as, return_inverse=True)[1]
        unit_count = int(units.max(initial=ALWAYS)) + 1
        coefficients = [
            level(data.coefficient, DrawnRows(own, units, np.full(len(places), ALWAYS), unit_count))
            for own in data.rows.with_scores(data.rows.scores[evaluators]).at(places).each
        ]
        drawn = _drawn(data, unit_count)
        at_once = max(1, CELLS_AT_ONCE // max(1, len(places)))
        found = []
        for at in range(0, data.resampling.resamples, at_once):
            block = Draws(drawn[:, at : at + at_once].astype(np.float64))
            found.append([values(block) for values in coefficients])
        return np.concatenate(found, axis=1)

    return replicates


def _drawn(data: Compared, unit_count: int) -> Bools:
    """Return whether each unit is drawn, (units, draws); unit 0 always is."""
    rng = np.random.default_rng(data.resampling.seed)
    units = unit_count - 1
    drawn = np.zeros((unit_count, data.resampling.resamples), dtype=bool)
    drawn[ALWAYS] = True
    for draw in range(data.resampling.resamples):
        drawn[1 + rng.permutation(units)[: int(SHARE * units)], draw] = True
    return drawn
