"""80% subsamples without replacement, as in the papers on ICE and BARTScore."""

from itertools import combinations

import numpy as np

from metaeval.stats.arrays import Bools, Floats, Ints
from metaeval.stats.correlation import reweighted_levels
from metaeval.stats.correlation.reweighted_levels import ALWAYS, DrawnRows
from metaeval.stats.correlation.reweighted_rows import Draws
from metaeval.stats.significance.compared import Compared, PairTest, PairTester
from metaeval.stats.significance.replicates import ROUNDING, Replicates, differences, two_sided

SHARE = 0.8
CELLS_AT_ONCE = 2**22

DEFINITION = (
    "{resamples} draws (seed {seed}) without replacement of 80% of the summaries if pooled, else of 80% of"
    " the articles, each summary of unknown article being an article of its own; p = 2 (k + 1) / (m + 1), at"
    " most 1, with m the draws in which the difference is defined and k the smaller of those in which the"
    " first evaluator is not better and those in which the second is not. Warning: the differences in such"
    " draws spread only half as widely as in a bootstrap, so 'better in 95% of the draws' stands for a"
    " one-sided p of about .21, and this p is far too small; use it only to reproduce published claims."
)


def tester(data: Compared) -> PairTester:
    """Return the test on 80% subsamples of the common summaries, or articles, rounded down.

    Source: S. Jain et al., "Multi-Dimensional Evaluation of Text Summarization with In-Context Learning",
    Findings of the ACL 2023, appendix E, on summaries; W. Yuan, G. Neubig & P. Liu, "BARTScore: Evaluating
    Generated Text as Text Generation", NeurIPS 2021, on articles. Both call an evaluator better that wins in
    more than 95% of 1,000 draws.
    """
    of_pair = differences(data, _replicates(data))

    def test(first: int, second: int) -> PairTest:
        found = of_pair(first, second)
        return PairTest(two_sided(found)) if found.size else PairTest(reason="no draw in which it is defined")

    return test


def win_shares(data: Compared) -> Floats:
    """Return the share of draws in which the row's evaluator beats the column's, (E, E).

    It is what the papers report. nan where a coefficient is undefined, and on the diagonal.

    A draw in which both are equal is won by neither.
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
