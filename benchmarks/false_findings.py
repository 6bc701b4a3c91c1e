"""P-values where there is nothing to find: `python benchmarks/false_findings.py [--times N] [--draws N]`.

Two evaluators are drawn alike, given the labels, so that neither is better; a sound test's p-values are then
at most .05 in 5% of studies. Prints the share for each test and level in these worlds, of 50 articles by 10
systems unless they say otherwise:

- alike: summaries differ at random alone;
- articles differ: each shifts each evaluator's scores and how closely they follow the labels;
- constant: each evaluator gives equal scores to all summaries of 30% of articles, which count as 0;
- unequal coverage: the second has scored 80% of the summaries of the easiest 60% of articles, and no others;
- 4, 8, 16 systems and 10, 20 articles: alike.

The tests that are the default of a level meet every world and several coefficients, the others a third as
many studies of the first four worlds. Below stands what is known of evaluators that prefer systems of their
own, equally strongly (Pearson's r over systems' means alone, for which neither is better). Seeded. Exit code
1 if the lowest or highest share of a test lies further than `--tolerance` from what Touchstone states.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import numpy.typing as npt

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import DEFAULT_TESTS
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.significance.compare_pairs import TESTS, compare_pairs

Floats = npt.NDArray[np.float64]
Shares = dict[tuple[str, str], list[float]]
"""(test, level) -> the share of p-values at most .05 in each world, by each coefficient."""

ARTICLES, SYSTEMS = 50, 10
MAIN = ("alike", "articles differ", "constant", "unequal coverage")
SIZES = {
    "4 systems": (ARTICLES, 4),
    "8 systems": (ARTICLES, 8),
    "16 systems": (ARTICLES, 16),
    "10 articles": (10, SYSTEMS),
    "20 articles": (20, SYSTEMS),
}
COEFFICIENTS_OF_DEFAULTS = {
    "pooled": ("pearson", "spearman"),
    "article": ("spearman", "kendall_b"),
    "system": ("pearson", "spearman", "kendall_b"),
    "within_system": ("spearman",),
}
OWN_SYSTEMS = "own systems"
WORLDS = (*MAIN, *SIZES, OWN_SYSTEMS)
EASE = 1.0
"""Spread over articles of how closely both evaluators follow the labels, where coverage is unequal."""


def draw_world(world: str, articles: int, systems: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Draw labels, (articles, systems), and the scores of two evaluators, (2, articles, systems)."""
    quality = rng.normal(0, 0.5, (1, systems))
    labels = rng.normal(0, 0.7, (articles, 1)) + quality + rng.normal(size=(articles, systems))
    ease = np.exp(rng.normal(0, EASE, (articles, 1))) if world == "unequal coverage" else 1.0
    scores = 0.6 * ease * labels + rng.normal(size=(2, articles, systems))
    if world == "articles differ":
        scores += rng.normal(0, 0.7, (2, articles, 1)) * (1 + labels)
    if world == "constant":
        for own in scores:
            own[rng.random(articles) < 0.3] = 0.0
    if world == "unequal coverage":
        scores[1, np.argsort(np.ravel(ease))[: int(0.4 * articles)]] = np.nan
        scores[1][rng.random(labels.shape) < 0.2] = np.nan
    if world == OWN_SYSTEMS:
        scores += _preferences(quality.ravel(), rng)[:, None, :]
    return labels, scores


def _preferences(quality: Floats, rng: np.random.Generator) -> Floats:
    """Draw what each evaluator adds to each system, (2, systems): of one size, unrelated to its quality."""
    centred = quality - quality.mean()
    drawn = rng.normal(size=(2, len(quality)))
    drawn -= drawn.mean(axis=1, keepdims=True)
    drawn -= np.outer(drawn @ centred / (centred @ centred), centred)
    return 0.3 * drawn / np.sqrt((drawn**2).mean(axis=1, keepdims=True))


def shares(world: str, times: int, draws: int, compared: list[tuple[str, str, str]]) -> list[float]:
    """Return the share of p-values at most .05 of each test, level and coefficient."""
    articles, systems = SIZES.get(world, (ARTICLES, SYSTEMS))
    article, system = (codes.ravel() for codes in np.indices((articles, systems)))
    constant = "zero" if world == "constant" else "left_out"
    found = np.empty((times, len(compared)))
    for time_ in range(times):
        rng = np.random.default_rng([time_, WORLDS.index(world)])
        labels, scores = draw_world(world, articles, systems, rng)
        rows = Rows(labels.ravel(), scores.reshape(2, -1), article, system)
        for place, (test, level, coefficient) in enumerate(compared):
            resampling = Resampling(draws, time_)
            tested = compare_pairs(test, level, coefficient, rows, resampling, constant=constant)
            found[time_, place] = tested.p_values[0, 1]
    # A p-value of draws is a multiple of 1/(draws + 1), which rounding must not push over .05.
    return [float(share) for share in (found <= 0.05 + 1e-9).mean(axis=0)]


def compared_in(world: str) -> Iterator[tuple[bool, list[tuple[str, str, str]]]]:
    """Yield whether the tests are the defaults, and the tests with level and coefficient."""
    defaults = DEFAULT_TESTS.items()
    yield True, [(test, level, each) for level, test in defaults for each in COEFFICIENTS_OF_DEFAULTS[level]]
    if world in MAIN:
        usual = COEFFICIENTS["spearman"]
        yield (
            False,
            [
                (name, level, usual.name)
                for name, test in TESTS.items()
                for level in LEVELS
                if test.name != DEFAULT_TESTS[level] and not test.why_not(LEVELS[level], usual)
            ],
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=199)
    parser.add_argument("--tolerance", type=float, default=0.02)
    given = parser.parse_args()
    print(f"{ARTICLES} articles, {SYSTEMS} systems, {given.times} times, {given.draws} draws")
    found: Shares = {}
    for world in (*MAIN, *SIZES):
        start = time.process_time()
        for are_defaults, compared in compared_in(world):
            times = given.times if are_defaults else given.times // 3
            of_each = shares(world, times, given.draws, compared)
            for (test, level, coefficient), share in zip(compared, of_each, strict=True):
                found.setdefault((test, level), []).append(share)
                print(f"  {world:18}{TESTS[test].label:34}{level:15}{coefficient:11}{share:6.3f}", flush=True)
        print(f"{world}: {time.process_time() - start:.0f} s", flush=True)
    for test in ("perm_inputs_t", "bootstrap_articles"):
        (share,) = shares(OWN_SYSTEMS, given.times, given.draws, [(test, "system", "pearson")])
        print(f"  {OWN_SYSTEMS:18}{TESTS[test].label:34}{'system':15}{'pearson':11}{share:6.3f}")
    print(f"\n{'test':34}{'level':15}  found         stated")
    wrong = []
    for (test, level), each in sorted(found.items(), key=lambda pair: pair[0][1]):
        stated = TESTS[test].false_findings.get(level, (np.nan, np.nan))
        ends = min(each), max(each)
        print(
            f"{TESTS[test].label:34}{level:15}  {ends[0]:.3f} {ends[1]:.3f}   {stated[0]:.3f} {stated[1]:.3f}"
        )
        if not np.allclose(ends, stated, rtol=0, atol=given.tolerance):
            wrong.append(f"{TESTS[test].label}, {level}")
    if wrong:
        raise SystemExit(f"not as stated: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
