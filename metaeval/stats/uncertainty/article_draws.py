"""Articles drawn with replacement, as the number of times each is drawn."""

from collections.abc import Iterator

import numpy as np

from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.result import Interval
from metaeval.stats.rows import Resampling
from metaeval.stats.uncertainty.percentile_interval import CONFIDENCE, percentile_interval, undefined_told

FEWEST_ARTICLES = 10
"""The fewest articles for an interval. Draws from fewer differ too little: 95% percentile intervals of
coefficients hold the truth in 50% to 65% of simulated studies of 2 articles, 79% to 90% of 5, and 86% to 92%
of 10 (benchmarks/coverage_intervals.py --articles 2 5 10)."""
FEWEST_SYSTEMS = 5
"""The fewest systems for an interval. There are rarely more than ten."""


def too_few(kind: str, fewest: int) -> str:
    """Say that there are fewer than `fewest` articles, or systems, to draw from."""
    return f"fewer than {fewest} {kind} to draw from"


TOO_FEW_ARTICLES = too_few("articles", FEWEST_ARTICLES)


def article_draws(articles: Ints, resampling: Resampling) -> Iterator[Floats]:
    """Yield how often each summary counts, (n,), in each resample of articles.

    `articles` are (n,) codes of 0 or more. All summaries of an article are drawn together, since they are
    not independent of each other.
    """
    pool, places = np.unique(articles, return_inverse=True)
    rng = np.random.default_rng(resampling.seed)
    for _ in range(resampling.resamples):
        times = np.bincount(rng.integers(len(pool), size=len(pool)), minlength=len(pool))
        yield times[places].astype(np.float64)


def interval_over_articles(
    replicates: Floats, articles: Ints, resampling: Resampling, what: str = ""
) -> Interval:
    """Return the percentile interval of `replicates`, (resamples,), over draws of `articles`.

    Replicates are nan where undefined.

    There is none with fewer than FEWEST_ARTICLES articles, nor where `percentile_interval` refuses it. `what`
    says what else holds in each resample: full sentences, or nothing.
    """
    definition = " ".join(
        part
        for part in (
            f"{CONFIDENCE:.0%} percentile bootstrap: articles drawn with replacement, each with all its"
            f" summaries; {resampling}.",
            what,
            undefined_told(replicates),
        )
        if part
    )
    if len(np.unique(articles)) < FEWEST_ARTICLES:
        return Interval(np.nan, np.nan, definition, TOO_FEW_ARTICLES)
    return Interval.found(definition, lambda: percentile_interval(replicates))
