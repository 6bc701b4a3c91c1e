"""How often the 95% intervals of Krippendorff's alpha hold the true value, and plans reach their width.

    .venv/bin/python benchmarks/coverage_agreement.py articles [--samples 400] [--resamples 1000]
    .venv/bin/python benchmarks/coverage_agreement.py summaries [--samples 1000] [--resamples 1000]

articles: 16 systems summarise each article, and three raters answer yes or no. Articles differ: the log-odds
of a right answer of yes, and those of a rater who answers at random, are drawn for each article, with a
standard deviation of 0, 1 or 2. Prints, for each deviation and number of articles, the share of samples whose
interval holds the true alpha, and the mean width: drawn over articles, and over summaries. Then, for ±0.05
planned in articles from each sample, the mean planned number, and the share of new samples of the planned
size that reach it.

summaries: each summary is of an article of its own. It has a right answer; each rater gives it, or with some
probability one drawn from the same shares. Summaries are rated by two or by three raters, or by two and every
third one by three. Prints, for each case and interval, the share of samples whose interval holds the true
alpha, the share of samples without an interval, and the mean width.

The true alpha is that of two million summaries. The standard error of a share is at most .016 for 1,000
samples, and .007 at 95%; .025 and .011 for 400.
"""

import argparse
import sys
from collections.abc import Sequence
from itertools import product
from math import isfinite
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
from scipy.special import expit, logit

from metaeval.stats.agreement.agreement_bootstrap import (
    article_draws,
    replicates,
    unit_draws,
    units_left_out,
)
from metaeval.stats.agreement.krippendorff import ALPHA
from metaeval.stats.agreement.planned_units import planned_units
from metaeval.stats.agreement.rated_units import RatedUnits
from metaeval.stats.agreement.unit_patterns import Patterns, unit_patterns
from metaeval.stats.arrays import Floats, Ints
from metaeval.stats.result import Interval
from metaeval.stats.uncertainty.bca_interval import bca_interval
from metaeval.stats.uncertainty.percentile_interval import percentile_interval

SHARES = {"even": (0.5, 0.5), "skewed": (0.9, 0.1), "three answers": (0.6, 0.3, 0.1)}
AT_RANDOM = 0.3
DESIGNS = {"2 raters": (2,), "3 raters": (3,), "2 or 3": (2, 2, 3)}
SIZES = (30, 100, 300, 1000)
DEVIATIONS, ARTICLES, SYSTEMS, RATERS = (0.0, 1.0, 2.0), (20, 40, 100), 16, 3
TARGET = 0.05
"""Half the planned width."""
NUMBERS: Floats = np.arange(3.0)


class Case(NamedTuple):
    shares: Sequence[float]
    ratings: Sequence[int]
    """Of one summary after the other, again and again."""

    def sample(self, n_units: int, chance: np.random.Generator) -> RatedUnits:
        """Return the patterns of a sample of `n_units` summaries."""
        units: Ints = np.repeat(np.arange(n_units), np.resize(self.ratings, n_units))
        truth = self._draw(n_units, chance)[units]
        other = self._draw(len(units), chance)
        answers = np.where(chance.random(len(units)) < AT_RANDOM, other, truth)
        return unit_patterns(units, answers, n_units=n_units, n_answers=len(self.shares)).units

    def _draw(self, size: int, chance: np.random.Generator) -> Ints:
        return chance.choice(len(self.shares), size, p=self.shares)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("units", choices=["articles", "summaries"])
    parser.add_argument("--samples", type=int)
    parser.add_argument("--resamples", type=int, default=1000)
    options = parser.parse_args()
    if options.units == "articles":
        over_articles(options.samples or 400, options.resamples)
    else:
        over_summaries(options.samples or 1000, options.resamples)


def over_articles(samples: int, resamples: int) -> None:
    print("sd   articles   over articles: held width   over summaries: held width   planned  reached")
    for deviation in DEVIATIONS:
        true = alpha_of(of_articles(2_000_000 // SYSTEMS, deviation, np.random.default_rng(1)).units)
        for n_articles in ARTICLES:
            chance = np.random.default_rng((3, n_articles, int(deviation)))
            found, planned, reached = [], [], []
            for seed in range(samples):
                by_article, by_summary = clustered(
                    of_articles(n_articles, deviation, chance), n_articles, resamples, seed
                )
                found.append((by_article, by_summary))
                wanted = planned_units(by_article, n_articles, TARGET)
                if isfinite(wanted):
                    again = of_articles(int(wanted), deviation, chance)
                    width, _ = clustered(again, int(wanted), resamples, seed)
                    planned.append(wanted)
                    reached.append((width.high - width.low) / 2 <= TARGET)
            held = ["{0:.3f} {2:.3f}".format(*summed(each, true)) for each in zip(*found, strict=True)]
            print(
                f"{deviation:<4} {n_articles:<10} {'               '.join(held)}"
                f"      {np.mean(planned):6.0f}  {np.mean(reached):.3f}",
                flush=True,
            )


def of_articles(n_articles: int, deviation: float, chance: np.random.Generator) -> Patterns:
    """Return the patterns of a sample of articles with all their summaries."""
    yes, noise = expit(deviation * chance.normal(size=(2, n_articles)) + [[1.0], [logit(AT_RANDOM)]])
    n_units = n_articles * SYSTEMS
    truth = chance.random(n_units) < np.repeat(yes, SYSTEMS)
    at_random = chance.random((n_units, RATERS)) < np.repeat(noise, SYSTEMS)[:, None]
    answers = np.where(at_random, chance.random((n_units, RATERS)) < 0.5, truth[:, None]).astype(int)
    return unit_patterns(np.repeat(np.arange(n_units), RATERS), answers.ravel(), n_units=n_units, n_answers=2)


def clustered(patterns: Patterns, n_articles: int, resamples: int, seed: int) -> tuple[Interval, Interval]:
    """Return the percentile intervals over articles and over summaries."""
    articles = unit_patterns(
        np.arange(n_articles * SYSTEMS) // SYSTEMS,
        patterns.of_unit,
        n_units=n_articles,
        n_answers=len(patterns.units),
    ).units
    draws = (
        article_draws(patterns.units, articles, resamples, seed),
        unit_draws(patterns.units, resamples, seed),
    )
    one, other = (replicates([ALPHA], each, "nominal", NUMBERS)[0] for each in draws)
    return (
        Interval.found("", lambda: percentile_interval(one)),
        Interval.found("", lambda: percentile_interval(other)),
    )


def over_summaries(samples: int, resamples: int) -> None:
    print("answers        design     n      percentile: held none width   BCa: held none width")
    for (answers, shares), (design, ratings) in product(SHARES.items(), DESIGNS.items()):
        case = Case(shares, ratings)
        true = alpha_of(case.sample(2_000_000, np.random.default_rng(1)))
        for n_units in SIZES:
            chance = np.random.default_rng((2, n_units))
            found = [independent(case.sample(n_units, chance), resamples, seed) for seed in range(samples)]
            columns = [
                "{:.3f} {:.3f} {:.3f}".format(*summed(each, true)) for each in zip(*found, strict=True)
            ]
            print(f"{answers:14} {design:10} {n_units:<6} {'        '.join(columns)}", flush=True)


def independent(units: RatedUnits, resamples: int, seed: int) -> tuple[Interval, Interval]:
    """Return the percentile and the BCa interval over summaries."""
    drawn = replicates([ALPHA], unit_draws(units, resamples, seed), "nominal", NUMBERS)[0]
    left_out = replicates([ALPHA], units_left_out(units), "nominal", NUMBERS)[0]
    return (
        Interval.found("", lambda: percentile_interval(drawn)),
        Interval.found("", lambda: bca_interval(alpha_of(units), drawn, left_out, units.times[:, 0])),
    )


def alpha_of(units: RatedUnits) -> float:
    return float(ALPHA.values(units, "nominal", NUMBERS)[0])


def summed(found: Sequence[Interval], true: float) -> tuple[float, float, float]:
    """Return coverage of `true`, the share without an interval, and the mean width."""
    there = [each for each in found if not each.reason]
    if not there:
        return np.nan, 1.0, np.nan
    held = np.mean([each.low <= true <= each.high for each in there])
    width = np.mean([each.high - each.low for each in there])
    return float(held), 1 - len(there) / len(found), float(width)


if __name__ == "__main__":
    main()
