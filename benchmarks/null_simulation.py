"""P-values where there is nothing to find: `python benchmarks/null_simulation.py [--times N] [--draws N]`.

Two evaluators are drawn alike, given the labels, so that neither is better; a sound test's p-values are then
uniform: 5% of them are at most .05. Three worlds: summaries are independent; each article shifts each
evaluator's scores and how closely they follow the labels; each system shifts them too. The second is hard on
tests that swap scores within an article, the third on all that take systems as given. Prints for each
world and test the share of p-values at most .05 and at most .1 and the Kolmogorov-Smirnov distance from
uniform. Seeded. Exit code 1 if, where articles differ, a test that takes articles as what was drawn is wrong
more often than MOST, or if the 80% subsamples are not.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import numpy.typing as npt
from scipy import stats

from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.significance.compare_pairs import TESTS, compare_pairs

Floats = npt.NDArray[np.float64]

ARTICLES, SYSTEMS = 40, 12
MOST = 0.08
"""Share of p-values at most .05; its own standard error at 500 times is .01."""

WORLDS = {
    "summaries independent": (0.0, 0.0),
    "articles differ": (0.7, 0.0),
    "systems differ too": (0.7, 0.7),
}
"""Spread of what an article and a system add to an evaluator."""

COMPARED = [
    ("perm_inputs", "article", "kendall_b"),
    ("perm_systems", "article", "kendall_b"),
    ("perm_both", "article", "kendall_b"),
    ("perm_both", "pooled", "pearson"),
    ("perm_both", "system", "pearson"),
    ("bootstrap_articles", "article", "kendall_b"),
    ("paired_t", "article", "kendall_b"),
    ("williams", "pooled", "pearson"),
    ("williams", "system", "pearson"),
    ("subsample80", "article", "kendall_b"),
    ("subsample80", "pooled", "kendall_b"),
]
OVER_ARTICLES = {"perm_inputs", "bootstrap_articles", "paired_t"}


def draw_world(rng: np.random.Generator, of_article: float, of_system: float) -> tuple[Floats, Floats]:
    """Draw labels, (articles, systems), and scores of two evaluators, (2, articles, systems).

    Both evaluators are drawn alike.
    """
    quality = rng.normal(0, 0.5, (1, SYSTEMS))
    labels = rng.normal(0, 0.7, (ARTICLES, 1)) + quality + rng.normal(size=(ARTICLES, SYSTEMS))
    scores = 0.6 * labels + rng.normal(size=(2, ARTICLES, SYSTEMS))
    scores += rng.normal(0, of_article, (2, ARTICLES, 1)) * (1 + labels)
    return labels, scores + rng.normal(0, of_system, (2, 1, SYSTEMS))


def p_values(times: int, draws: int, effects: tuple[float, float]) -> dict[tuple[str, str, str], Floats]:
    found: dict[tuple[str, str, str], list[float]] = {each: [] for each in COMPARED}
    articles, systems = (codes.ravel() for codes in np.indices((ARTICLES, SYSTEMS)))
    for time_ in range(times):
        labels, scores = draw_world(np.random.default_rng([time_, 1]), *effects)
        for each in COMPARED:
            result = compare_pairs(
                *each,
                Rows(labels.ravel(), scores.reshape(2, -1), articles, systems),
                Resampling(draws, time_),
            )
            found[each].append(result.p_values[0, 1])
    return {each: np.array(values) for each, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=500)
    parser.add_argument("--draws", type=int, default=199)
    given = parser.parse_args()
    print(f"{ARTICLES} articles, {SYSTEMS} systems, {given.times} times, {given.draws} draws")
    wrong = []
    for world, effects in WORLDS.items():
        start = time.perf_counter()
        found = p_values(given.times, given.draws, effects)
        print(f"\n{world} ({time.perf_counter() - start:.0f} s)")
        print(f"  {'test':32}{'level':9}{'coefficient':12}{'<= .05':>8}{'<= .1':>8}{'KS':>7}")
        for (test, level, coefficient), values in found.items():
            # A p-value of draws is a multiple of 1/(draws + 1), which rounding must not push over .05.
            share = float((values <= 0.05 + 1e-9).mean())
            tenth = float((values <= 0.1 + 1e-9).mean())
            distance = stats.kstest(values, "uniform").statistic
            print(f"  {TESTS[test].label:32}{level:9}{coefficient:12}{share:8.3f}{tenth:8.3f}{distance:7.3f}")
            if world == "articles differ" and (
                (test in OVER_ARTICLES and share > MOST) or (test == "subsample80" and share <= MOST)
            ):
                wrong.append(f"{test}: {share:.3f} at most .05")
    if wrong:
        raise SystemExit("; ".join(wrong))


if __name__ == "__main__":
    main()
