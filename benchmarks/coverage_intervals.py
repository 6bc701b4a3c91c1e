"""How often 95% intervals hold the true value: `python benchmarks/coverage_intervals.py [--studies 400]`.

Simulated studies of articles by systems. Label and score of a summary are sums of an effect of its article,
one of its system and one of the summary itself, label and score correlated 0.5 in each, in the effects of
systems 0.5 or 0.9; articles have two fifths or three quarters of the variance, systems one fifth. Labels are
rounded to a scale of five steps, or for ROC AUC cut into yes and no. The true value is that of the same
systems in one study of very many articles; systems are drawn anew for every SET studies. Prints the share of
studies whose interval holds it, those in which it lies below and above, and how many have no interval; then
the lowest, mean and highest share of each interval and level. Exit code 1 with `--check` if one of these lies
further than TOLERANCE from what Touchstone states.

With `--other-systems` the true value is that of very many systems of the same kind, drawn anew for every
study, and nothing is checked.
"""

import argparse
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.uncertainty.intervals import INDEPENDENT, INTERVALS, Coverage, intervals

SET = 20
MANY = 10_000
SYSTEM_VARIANCE = 0.2
CORRELATION = 0.5
WORLDS = {
    "pooled": [(6, 0.4, 0.5), (6, 0.75, 0.5)],
    "article": [(6, 0.4, 0.5), (6, 0.75, 0.5)],
    "system": [(systems, 0.4, correlation) for systems in (6, 10, 16) for correlation in (0.5, 0.9)],
    "within_system": [(6, 0.4, 0.5), (6, 0.75, 0.5)],
}
"""By level: systems, the articles' share of the variance, and the correlation of systems' effects."""
OVER_ARTICLES = [each.name for each in INTERVALS.values() if each.scheme in ("articles", "")]
"""Intervals for other articles of the same systems."""
COMPARED = ("pearson", "spearman", "kendall_b", "roc_auc")
TOLERANCE = 0.03


def pairs(rng, *shape, correlation=CORRELATION):
    """Return correlated effects on label and on score, (2, ...)."""
    first, second = rng.normal(size=(2, *shape))
    return np.stack([first, correlation * first + np.sqrt(1 - correlation**2) * second])


def study(rng, of_systems, articles, *, share, yes_no):
    """Return the rows of one study."""
    label, score = (
        np.sqrt(share) * pairs(rng, articles, 1)
        + np.sqrt(SYSTEM_VARIANCE) * of_systems
        + np.sqrt(1 - SYSTEM_VARIANCE - share) * pairs(rng, articles, of_systems.shape[-1])
    )
    label = (label > 0).astype(float) if yes_no else np.clip(np.round(2 * label), -2, 2)
    article, system = np.indices(label.shape)
    return Rows(label.ravel(), score.ravel()[None], article.ravel(), system.ravel(), yes_no=yes_no)


def studies_and_truths(n, level, coefficient, articles, world, *, other_systems):
    """Return `n` studies, and the true value of each."""
    systems, share, correlation = world
    rng = np.random.default_rng([1, systems, articles])
    kind = {"share": share, "yes_no": coefficient == "roc_auc"}
    if other_systems:
        every = study(rng, pairs(rng, 1, MANY // 10, correlation=correlation), MANY // 10, **kind)
        true = LEVELS[level].estimate(COEFFICIENTS[coefficient], every.each[0]).value
        of_each = [pairs(rng, 1, systems, correlation=correlation) for _ in range(n)]
        return [(study(rng, own, articles, **kind), true) for own in of_each]
    found = []
    for _ in range(n // SET):
        of_systems = pairs(rng, 1, systems, correlation=correlation)
        many = study(rng, of_systems, MANY, **kind)
        true = LEVELS[level].estimate(COEFFICIENTS[coefficient], many.each[0]).value
        for _ in range(SET):
            found.append((study(rng, of_systems, articles, **kind), true))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--articles", type=int, nargs="+", default=[50, 100])
    parser.add_argument("--levels", nargs="+", choices=LEVELS, default=list(LEVELS))
    parser.add_argument("--coefficients", nargs="+", choices=COMPARED, default=COMPARED)
    parser.add_argument("--intervals", nargs="+", choices=INTERVALS, default=OVER_ARTICLES)
    parser.add_argument("--other-systems", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    print(f"{arguments.studies} studies, {arguments.resamples} resamples; standard error at 95%:", end=" ")
    print(f"{np.sqrt(0.95 * 0.05 / arguments.studies):.1%}")
    print(
        f"{'level':14}{'coefficient':12}{'world':15}{'articles':>9} {'interval':19}"
        " held  below  above  none  width seconds"
    )
    shares = {}
    for level in arguments.levels:
        for coefficient in arguments.coefficients:
            if coefficient == "roc_auc" and level == "system":
                continue  # it needs yes or no
            for world, articles in product(WORLDS[level], arguments.articles):
                drawn = studies_and_truths(
                    arguments.studies,
                    level,
                    coefficient,
                    articles,
                    world,
                    other_systems=arguments.other_systems,
                )
                true = np.array([each for _, each in drawn])
                for method in arguments.intervals:
                    if method == "analytic" and level not in INDEPENDENT:
                        continue  # there is no formula
                    start = time.perf_counter()
                    found = [
                        intervals(method, level, coefficient, rows, Resampling(arguments.resamples, seed))[0]
                        for seed, (rows, _) in enumerate(drawn)
                    ]
                    ends = np.array([[each.low, each.high] for each in found])
                    there = ~np.isnan(ends[:, 0])
                    # A study of ranks can give the true value itself, but for rounding.
                    below = (true < ends[:, 0] - 1e-9)[there].mean()
                    above = (true > ends[:, 1] + 1e-9)[there].mean()
                    shares.setdefault((level, method), []).append(1 - below - above)
                    print(
                        f"{level:14}{coefficient:12}{world!s:15}{articles:9} {method:19}"
                        f"{1 - below - above:5.1%} {below:6.1%} {above:6.1%} {(~there).sum():5}"
                        f" {np.diff(ends[there]).mean():6.3f} {time.perf_counter() - start:7.1f}",
                        flush=True,
                    )
    wrong = []
    for (level, method), each in shares.items():
        stated = None if arguments.other_systems else INTERVALS[method].coverage.get(level)
        found = Coverage(min(each), float(np.mean(each)), max(each))
        print(f"{level:14}{method:19}{found.lowest:.3f} {found.mean:.3f} {found.highest:.3f}, {stated}")
        if stated and not np.allclose(found, stated, rtol=0, atol=TOLERANCE):
            wrong.append(f"{method}, {level}")
    if arguments.check and wrong:
        raise SystemExit(f"not as stated: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
