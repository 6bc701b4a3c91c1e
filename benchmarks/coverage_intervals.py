"""How often 95% intervals hold the true value: `python benchmarks/coverage_intervals.py [--studies 400]`.

Simulated studies of articles by six systems. Label and score of a summary are sums of an effect of its
article, one of its system (fixed over all studies) and one of the summary itself, label and score correlated
0.5 in each; articles have two fifths of the variance (or `--articles-share`), systems one fifth. Labels are
rounded to a scale of five steps, or for ROC AUC cut into yes and no. The true value is that of one study of
very many articles. Prints the share of studies whose interval holds it, those in which it lies below and
above, and how many have no interval.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.uncertainty.intervals import intervals

SYSTEMS = 6
SYSTEM_VARIANCE = 0.2
CORRELATION = 0.5
METHODS = ("bootstrap_articles", "bca_articles", "jackknife_articles", "analytic")
COMPARED = ("pearson", "spearman", "kendall_b", "roc_auc")


def pairs(rng, *shape):
    """Return correlated effects on label and on score, (2, ...)."""
    first, second = rng.normal(size=(2, *shape))
    return np.stack([first, CORRELATION * first + np.sqrt(1 - CORRELATION**2) * second])


def study(rng, system_effects, articles, *, share, yes_no):
    """Return labels, scores, articles and systems of one study."""
    label, score = (
        np.sqrt(share) * pairs(rng, articles, 1)
        + np.sqrt(SYSTEM_VARIANCE) * system_effects
        + np.sqrt(1 - SYSTEM_VARIANCE - share) * pairs(rng, articles, SYSTEMS)
    )
    label = (label > 0).astype(float) if yes_no else np.clip(np.round(2 * label), -2, 2)
    article, system = np.indices(label.shape)
    return label.ravel(), score.ravel(), article.ravel(), system.ravel()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--articles", type=int, nargs="+", default=[20, 50, 100])
    parser.add_argument("--intervals", nargs="+", choices=METHODS, default=METHODS)
    parser.add_argument("--articles-share", type=float, default=0.4)
    arguments = parser.parse_args()
    print(f"{arguments.studies} studies, {arguments.resamples} resamples; standard error at 95%:", end=" ")
    print(f"{np.sqrt(0.95 * 0.05 / arguments.studies):.1%}")
    print(f"{'level':8} {'coefficient':11} {'articles':>8} {'interval':19} held  below  above  none  seconds")
    for level in ("pooled", "article"):
        for coefficient in COMPARED:
            rng = np.random.default_rng(1)
            system_effects = pairs(rng, 1, SYSTEMS)
            yes_no = coefficient == "roc_auc"
            many = study(rng, system_effects, 40_000, share=arguments.articles_share, yes_no=yes_no)
            true = LEVELS[level].estimate(COEFFICIENTS[coefficient], Rows(*many, yes_no=yes_no)).value
            for articles in arguments.articles:
                studies = [
                    study(rng, system_effects, articles, share=arguments.articles_share, yes_no=yes_no)
                    for _ in range(arguments.studies)
                ]
                for method in arguments.intervals:
                    if method == "analytic" and level == "article":
                        continue  # there is no formula
                    start = time.perf_counter()
                    found = [
                        intervals(
                            method,
                            level,
                            coefficient,
                            Rows(label, score[None], article, system, yes_no=yes_no),
                            Resampling(arguments.resamples, seed),
                        )[0]
                        for seed, (label, score, article, system) in enumerate(studies)
                    ]
                    there = [each for each in found if not each.reason]
                    below = np.mean([true < each.low for each in there])
                    above = np.mean([true > each.high for each in there])
                    print(
                        f"{level:8} {coefficient:11} {articles:8} {method:19} {1 - below - above:5.1%}"
                        f" {below:5.1%} {above:5.1%} {len(found) - len(there):5}"
                        f" {time.perf_counter() - start:6.1f}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
