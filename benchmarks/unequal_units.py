"""P-values of evaluators on unequal articles: `python benchmarks/unequal_units.py [--times N] [--draws N]`.

Two evaluators are drawn alike, given the labels, so that neither is better; a sound test finds a difference
at .05 in 5% of the times. On some articles both follow the labels more closely than on others. Then:

- constant articles, left out: the second gives equal scores to all summaries of the hardest 60% of articles;
- constant articles, as 0: each gives equal scores to all summaries of 60% of articles, drawn for each apart;
- unequal coverage: the second has scored 80% of the summaries of the easiest 60% of articles, and no others;
- both, left out: the second is as in the first case, and each lacks a fifth of the summaries.

Tests at levels at which a case makes the second evaluator truly worse are not printed. Prints for each case,
level and test the share of p-values at most .05. Beside it stands the share if each evaluator's coefficient
is taken over its own summaries and articles, as tools do that compare the two printed numbers. Seeded. Exit
code 1 if a test is wrong more often than MOST.
"""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import numpy.typing as npt
from scipy.special import stdtr

from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.significance.compare_pairs import compare_pairs
from metaeval.stats.uncertainty.bootstrap import Bootstrap

Floats = npt.NDArray[np.float64]

ARTICLES, SYSTEMS = 60, 12
MOST = 0.08
"""Share of p-values at most .05; its own standard error at 1,000 times is .007."""
EASE = 1.0
"""Spread over articles of how closely both evaluators follow the labels."""

CASES = ("constant articles, left out", "constant articles, as 0", "unequal coverage", "both, left out")
COMPARED = [
    ("bootstrap_articles", "article", "kendall_b"),
    ("paired_t", "article", "kendall_b"),
    ("perm_inputs", "article", "kendall_b"),
    ("bootstrap_articles", "pooled", "spearman"),
    ("perm_inputs", "pooled", "spearman"),
    ("bootstrap_articles", "system", "pearson"),
    ("perm_inputs", "system", "pearson"),
]


def is_null(case: str, level: str) -> bool:
    """Return whether neither evaluator is better at the level: equal scores are worse but where left out."""
    return level == "article" or "left out" not in case


def draw_world(case: str, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw labels, (articles, systems), and the scores of two evaluators, (2, articles, systems)."""
    quality = rng.normal(0, 0.5, (1, SYSTEMS))
    labels = quality + rng.normal(size=(ARTICLES, SYSTEMS))
    ease = np.exp(rng.normal(0, EASE, (ARTICLES, 1)))
    scores = 0.6 * ease * labels + rng.normal(size=(2, ARTICLES, SYSTEMS))
    hardest_first = np.argsort(ease.ravel())
    if "left out" in case:
        scores[1, hardest_first[: int(0.6 * ARTICLES)]] = 0.0
    if "as 0" in case:
        for own in scores:
            own[rng.random(ARTICLES) < 0.6] = 0.0
    if "coverage" in case:
        scores[1, hardest_first[: int(0.4 * ARTICLES)]] = np.nan
        scores[1][rng.random(labels.shape) < 0.2] = np.nan
    if "both" in case:
        scores[rng.random(scores.shape) < 0.2] = np.nan
    return labels, scores


def p_of_own_units(level: str, coefficient: str, rows: Rows, resampling: Resampling, constant: str) -> float:
    """Return the p-value of the difference of two coefficients, each on the evaluator's own summaries."""
    drawn = Bootstrap("articles", level, coefficient, rows, resampling, constant=constant)
    gaps = drawn.replicates[0] - drawn.replicates[1]
    whole = drawn.values(np.ones((drawn.unit_count, 1)))[:, 0]
    ratio = (whole[0] - whole[1]) / gaps[~np.isnan(gaps)].std(ddof=1)
    return float(2 * stdtr(ARTICLES - 1, -abs(ratio)))


def simulate(case: str, times: int, draws: int) -> dict[tuple[str, str, str], tuple[float, float]]:
    """Return, by test, the shares of p-values at most .05: on common units, and on each evaluator's own."""
    shown = [each for each in COMPARED if is_null(case, each[1])]
    found: dict[tuple[str, str, str], list[float]] = {each: [] for each in shown}
    before: dict[tuple[str, str, str], list[float]] = {each: [] for each in shown}
    articles, systems = (codes.ravel() for codes in np.indices((ARTICLES, SYSTEMS)))
    constant = "zero" if "as 0" in case else "left_out"
    for time_ in range(times):
        labels, scores = draw_world(case, np.random.default_rng([time_, CASES.index(case)]))
        rows = Rows(labels.ravel(), scores.reshape(2, -1), articles, systems)
        resampling = Resampling(draws, time_)
        for test, level, coefficient in shown:
            tested = compare_pairs(test, level, coefficient, rows, resampling, constant=constant)
            found[test, level, coefficient].append(tested.p_values[0, 1])
            if test == "bootstrap_articles":
                own = p_of_own_units(level, coefficient, rows, resampling, constant)
                before[test, level, coefficient].append(own)
    return {each: (_share(found[each]), _share(before[each])) for each in shown}


def _share(p_values: list[float]) -> float:
    # A p-value of draws is a multiple of 1/(draws + 1), which rounding must not push over .05.
    return float((np.array(p_values) <= 0.05 + 1e-9).mean()) if p_values else float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=199)
    given = parser.parse_args()
    print(f"{ARTICLES} articles, {SYSTEMS} systems, {given.times} times, {given.draws} draws")
    wrong = []
    for case in CASES:
        start = time.process_time()
        found = simulate(case, given.times, given.draws)
        print(f"\n{case} ({time.process_time() - start:.0f} s)")
        print(f"  {'test':22}{'level':9}{'coefficient':12}{'<= .05':>8}{'own numbers':>14}")
        for (test, level, coefficient), (share, before) in found.items():
            print(f"  {test:22}{level:9}{coefficient:12}{share:8.3f}{before:14.3f}")
            if share > MOST:
                wrong.append(f"{case}, {test}, {level}: {share:.3f} at most .05")
    if wrong:
        raise SystemExit("; ".join(wrong))


if __name__ == "__main__":
    main()
