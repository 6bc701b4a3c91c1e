"""How often a learning curve's 95% intervals hold the true value.

    .venv/bin/python benchmarks/coverage_learning_curves.py [--studies 400] [--resamples 1000]

Simulated studies of articles by six systems. A share's models differ in their seeds: each has a correlation
with the labels of its own, drawn from a normal distribution around the share's true value. A third of a
score's noise is the article's, a third is common to all models and a third the model's own. A comparator has
the same article noise and a fixed correlation. The value is Pearson's r, pooled. Prints the share of studies
whose interval holds the true value: of a share, of a share whose seeds are left out of the interval, and of
the difference from the comparator.
"""

import argparse
import sys
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from metaeval.learning_curves.statistics import CurveRows, curve_statistics
from metaeval.stats.arrays import Floats
from metaeval.stats.method import Method
from metaeval.stats.result import Interval
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.uncertainty.bootstrap import Bootstrap
from metaeval.stats.uncertainty.percentile_interval import percentile_interval

SYSTEMS = 6
TRUE, COMPARATOR = 0.4, 0.3
ARTICLES = (20, 50, 100)
SEEDS = (1, 3, 5)
SPREADS = (0.0, 0.05, 0.1)
"""Standard deviations of the models' correlations over seeds."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=1000)
    given = parser.parse_args()
    error = np.sqrt(0.95 * 0.05 / given.studies)
    print(f"{given.studies} studies, {given.resamples} resamples; standard error at 95%: {error:.1%}\n")
    print("| spread over seeds | seeds | articles | share | share, seeds left out | difference |")
    print("| --- | --- | --- | --- | --- | --- |")
    for spread, seeds, articles in product(SPREADS, SEEDS, ARTICLES):
        chance = np.random.default_rng((articles, seeds))
        held = np.mean(
            [
                holds(study(chance, articles, seeds, spread), Resampling(given.resamples, seed))
                for seed in range(given.studies)
            ],
            axis=0,
        )
        print(
            f"| {spread} | {seeds} | {articles} | {' | '.join(f'{each:.1%}' for each in held)} |", flush=True
        )


def study(chance: np.random.Generator, articles: int, seeds: int, spread: float) -> Rows:
    """Return the rows of so many models and of the comparator, the last."""
    of_article, own = chance.normal(size=(2, articles, 1)), chance.normal(size=(2, articles, SYSTEMS))
    label = np.sqrt(0.5) * (of_article[0] + own[0])
    correlations = np.append(chance.normal(TRUE, spread, seeds), COMPARATOR).reshape(-1, 1, 1)
    of_model = chance.normal(size=(seeds + 1, articles, SYSTEMS))
    common = np.broadcast_to(own[1], of_model.shape).copy()
    common[-1] = chance.normal(size=own[1].shape)  # the comparator is no model of the share
    noise = np.sqrt(1 / 3) * (of_article[1] + common + of_model)
    scores = correlations * label + np.sqrt(1 - correlations**2) * noise
    article, system = np.indices(label.shape)
    return Rows(label.ravel(), scores.reshape(seeds + 1, -1), article.ravel(), system.ravel())


def holds(rows: Rows, resampling: Resampling) -> tuple[bool, bool, bool]:
    """Return whether the intervals of the share, of it without its seeds, and of its difference hold."""
    method = Method(coefficient="pearson", resamples=resampling.resamples, seed=resampling.seed)
    seeds = len(rows.scores) - 1
    found = curve_statistics(CurveRows(rows, [np.arange(seeds)], [seeds], []), method)
    drawn: Floats = Bootstrap("articles", method.level, method.coefficient, rows, resampling).replicates
    low, high = percentile_interval(drawn[:seeds].mean(axis=0))
    share, difference = found.shares[0].interval, found.over_others[0][0].interval
    return is_in(TRUE, share), low <= TRUE <= high, is_in(TRUE - COMPARATOR, difference)


def is_in(true: float, interval: Interval | None) -> bool:
    assert interval is not None
    assert not interval.reason
    return interval.low <= true <= interval.high


if __name__ == "__main__":
    main()
