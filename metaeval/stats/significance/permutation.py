"""Permutation tests, which swap two evaluators' scores at random."""

from collections.abc import Callable

import numpy as np
from scipy.special import stdtr

from metaeval.stats.arrays import Floats, Ints, distinct
from metaeval.stats.significance.compared import Compared, PairTest, PairTester
from metaeval.stats.significance.permuted_levels import (
    DIFFERENCES,
    NONE_MARKED,
    Coins,
    Permuted,
)
from metaeval.stats.significance.replicates import ROUNDING
from metaeval.stats.uncertainty.article_draws import FEWEST_ARTICLES, TOO_FEW_ARTICLES

_SWAPPED = (
    " Scores are z-scored over the summaries both evaluators have scored, and rounded to 12 decimals, so that"
    " they can be swapped. Summaries without one of the two scores, or a label, are left out. Those of the"
    " same article and system are swapped together; one of unknown article counts as an article of its own."
)
_RULE = _SWAPPED + (
    " p = (k + 1) / (m + 1), with m the draws in which the difference is defined and k those in which it is"
    " at least as large, in either direction, as the observed one; {resamples} draws, seed {seed} (Deutsch,"
    " Dror & Roth 2021)."
)
BOTH = (
    "in each draw, articles and systems are each marked with probability ½, and the two evaluators' scores of"
    " a summary are swapped if either its article or its system is marked but not both (as nlpstats does it;"
    " sacrerouge and mt-metrics-eval swap each summary on its own and call that PERM-BOTH too)." + _RULE
)
_INPUTS = (
    "in each draw, the two evaluators' scores of all summaries of an article are swapped with probability ½."
)
INPUTS = _INPUTS + _RULE
INPUTS_T = (
    _INPUTS
    + _SWAPPED
    + " With r the difference over the root mean square of those of the draws, and m articles, p is from"
    " Student's t = r √((m − 1) / (m − r²)) on m − 1 degrees of freedom; {resamples} draws, seed {seed}"
    " (Deutsch, Dror & Roth 2021). Of mean coefficients of articles this is the paired t-test."
)
SYSTEMS = (
    "in each draw, the two evaluators' scores of all summaries of a system are swapped with probability ½."
    + _RULE
)

NEVER_DEFINED = "no draw in which the difference is defined"
# Scores that differ only by the rounding of their z-scores are a tie.
DECIMALS = 12


def both(data: Compared) -> PairTester:
    """Return PERM-BOTH, which swaps a summary if either its article or its system is marked."""
    return _tester(data, by_article=True, by_system=True, p_value=_counted)


def inputs(data: Compared) -> PairTester:
    """Return PERM-INPUTS, which swaps all summaries of an article together."""
    return _tester(data, by_article=True, by_system=False, p_value=_counted)


def inputs_t(data: Compared) -> PairTester:
    """Return PERM-INPUTS with a p-value from Student's t.

    Counted p-values of m draws are 1 / (m + 1) at least, which the correction for many pairs lifts above .05,
    and too large where differences often tie, as ranks of few systems do. Undefined with fewer than
    FEWEST_ARTICLES articles.

    The mean of m numbers d, over the root mean square of those means under random signs of the d, is
    r = Σd / √(Σd²), and the one-sample t of the d is r √((m − 1) / (m − r²)).
    """
    return _tester(data, by_article=True, by_system=False, p_value=_student)


def systems(data: Compared) -> PairTester:
    """Return PERM-SYSTEMS, which swaps all summaries of a system together."""
    return _tester(data, by_article=False, by_system=True, p_value=_counted)


def _tester(
    data: Compared,
    *,
    by_article: bool,
    by_system: bool,
    p_value: Callable[[Floats, int], PairTest],
) -> PairTester:
    """Return a permutation test; the marks are drawn once for all pairs.

    Source: D. Deutsch, R. Dror & D. Roth, "A Statistical Analysis of Summarization Evaluation Metrics using
    Resampling Methods", Transactions of the ACL 9, 2021, section 4.
    """
    rng = np.random.default_rng(data.resampling.seed)
    draws, given = data.resampling.resamples, data.rows
    articles = _coins(rng, given.own_articles, draws) if by_article else _no_coins(given.articles)
    systems = _coins(rng, given.systems, draws) if by_system else _no_coins(given.systems)
    differences = DIFFERENCES[data.level.name]

    def test(first: int, second: int) -> PairTest:
        rows = data.used(first, second)
        if by_system and (given.systems[rows] < 0).any():
            return PairTest(reason="scores are swapped by system, and that of some summaries is not known")
        n_articles = len(distinct(given.own_articles[rows]))
        permuted = Permuted(
            labels=given.labels[rows],
            x=_standardised(given.scores[first, rows]),
            y=_standardised(given.scores[second, rows]),
            articles=articles.at(rows),
            systems=systems.at(rows),
        )
        return p_value(differences(data.coefficient, permuted), n_articles)

    return test


def _coins(rng: np.random.Generator, codes: Ints, draws: int) -> Coins:
    pool = distinct(codes[codes >= 0])
    marked = rng.integers(0, 2, size=(draws, len(pool)), dtype=bool)
    return Coins(codes, np.searchsorted(pool, codes), np.vstack([np.zeros(len(pool), dtype=bool), marked]))


def _no_coins(codes: Ints) -> Coins:
    return Coins(codes, np.zeros_like(codes), NONE_MARKED)


def _standardised(scores: Floats) -> Floats:
    deviations = scores - scores.mean()
    spread = float(np.sqrt(np.mean(deviations**2)))
    return np.round(deviations / spread, DECIMALS) if spread else deviations


def _counted(differences: Floats, _n_articles: int) -> PairTest:
    """Return the p-value of (1 + draws,) differences, the first of which is the observed one."""
    defined = np.abs(differences[~np.isnan(differences)])
    if np.isnan(differences[0]) or len(defined) < 2:
        return PairTest(reason=NEVER_DEFINED)
    # The one found is among them, which is the 1 added to both counts.
    return PairTest(float((defined >= defined[0] - ROUNDING).mean()))


def _student(differences: Floats, n_articles: int) -> PairTest:
    """Return the p-value of (1 + draws,) differences, the first of which is the observed one."""
    if n_articles < FEWEST_ARTICLES:
        return PairTest(reason=TOO_FEW_ARTICLES)
    drawn = differences[1:][~np.isnan(differences[1:])]
    if np.isnan(differences[0]) or not drawn.size:
        return PairTest(reason=NEVER_DEFINED)
    if abs(differences[0]) <= ROUNDING:
        return PairTest(1.0)
    # At most m - 1, since draws tell the mean square only roughly: m leaves nothing to divide by.
    squared = min(differences[0] ** 2 / max((drawn**2).mean(), ROUNDING**2), n_articles - 1.0)
    t = np.sqrt(squared * (n_articles - 1) / (n_articles - squared))
    return PairTest(2 * float(stdtr(n_articles - 1, -t)))
