"""P-values where there is nothing to find: `python benchmarks/false_findings.py [--times N] [--parts ...]`.

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
own, equally strongly (Pearson's r over systems' means alone, for which neither is better).

The part `looks` follows campaigns of 100 articles in the first four worlds, with the always-valid test beside
the level's default: the shares that find a difference at the end, and at some of the looks at 10, 12, 15 ...
articles. The part `power` does the same where the second evaluator is better by .05 or .1, in the usual world
of benchmarks.margins. Both have a quarter as many campaigns as `--times`, and leave out systems' means, for
which there is no always-valid test.

Seeded. Exit code 1 if the lowest or highest share of a test lies further than `--tolerance` from what
Touchstone states, or if the always-valid test finds a difference that is not there in more than MOST of the
campaigns by more than two standard errors.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import numpy.typing as npt

from benchmarks import margins
from benchmarks.margins import LOOKS, MOST, SET
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.method import DEFAULT_TESTS
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.significance.compare_pairs import ALWAYS_VALID_TEST, TESTS, compare_pairs

AT_MOST = 0.05 + 1e-9
"""A p-value of draws is a multiple of 1/(draws + 1), which rounding must not push over .05."""
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
LOOKED_AT = (
    ("pooled", "pearson"),
    ("pooled", "spearman"),
    ("article", "kendall_b"),
    ("within_system", "spearman"),
)
"""Level and coefficient of the tests that are repeated."""
BETTER_BY = (0.05, 0.1)
SHOWN = ("at the end", "always-valid", "ever", "ever, always-valid")
PARTS = ("levels", "looks", "power")
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
    return [float(share) for share in (found <= AT_MOST).mean(axis=0)]


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
                if test.name not in (DEFAULT_TESTS[level], ALWAYS_VALID_TEST)
                and not test.why_not(LEVELS[level], usual)
            ],
        )


def print_levels(times: int, draws: int, tolerance: float) -> list[str]:
    """Print the shares of studies that find a difference; return the tests that are not as stated."""
    print(f"{ARTICLES} articles, {SYSTEMS} systems, {times} times, {draws} draws")
    found: Shares = {}
    for world in (*MAIN, *SIZES):
        start = time.process_time()
        for are_defaults, compared in compared_in(world):
            of_each = shares(world, times if are_defaults else times // 3, draws, compared)
            for (test, level, coefficient), share in zip(compared, of_each, strict=True):
                found.setdefault((test, level), []).append(share)
                print(f"  {world:18}{TESTS[test].label:34}{level:15}{coefficient:11}{share:6.3f}", flush=True)
        print(f"{world}: {time.process_time() - start:.0f} s", flush=True)
    for test in ("perm_inputs_t", "bootstrap_articles"):
        (share,) = shares(OWN_SYSTEMS, times, draws, [(test, "system", "pearson")])
        print(f"  {OWN_SYSTEMS:18}{TESTS[test].label:34}{'system':15}{'pearson':11}{share:6.3f}")
    print(f"\n{'test':34}{'level':15}  found         stated")
    wrong = []
    for (test, level), each in sorted(found.items(), key=lambda pair: pair[0][1]):
        stated = TESTS[test].false_findings.get(level, (np.nan, np.nan))
        ends = min(each), max(each)
        print(
            f"{TESTS[test].label:34}{level:15}  {ends[0]:.3f} {ends[1]:.3f}   {stated[0]:.3f} {stated[1]:.3f}"
        )
        if not np.allclose(ends, stated, rtol=0, atol=tolerance):
            wrong.append(f"{TESTS[test].label}, {level}")
    return wrong


def finds(rows: Rows, level: str, coefficient: str, draws: int, seed: int, constant: str) -> list[bool]:
    """Return whether a campaign finds a difference, for each of SHOWN: `rows` are all of its articles."""
    looks = [rows.at(rows.articles < look) for look in LOOKS]
    by_test = []
    for test in (DEFAULT_TESTS[level], ALWAYS_VALID_TEST):
        tested = [
            compare_pairs(test, level, coefficient, each, Resampling(draws, seed), constant=constant)
            for each in looks
        ]
        by_test.append([bool(each.p_values[0, 1] <= AT_MOST) for each in tested])
    return [found[-1] for found in by_test] + [any(found) for found in by_test]


def equal_campaigns(world: str, level: str, coefficient: str, draws: int, seed: int) -> list[list[bool]]:
    """Return `finds` of SET campaigns with two equally good evaluators."""
    article, system = (codes.ravel() for codes in np.indices((LOOKS[-1], SYSTEMS)))
    constant = "zero" if world == "constant" else "left_out"
    found = []
    for number in range(SET * seed, SET * (seed + 1)):
        labels, scores = draw_world(
            world, LOOKS[-1], SYSTEMS, np.random.default_rng([32, number, WORLDS.index(world)])
        )
        rows = Rows(labels.ravel(), scores.reshape(2, -1), article, system)
        found.append(finds(rows, level, coefficient, draws, number, constant))
    return found


def unequal_campaigns(
    better_by: float, level: str, coefficient: str, draws: int, seed: int
) -> list[list[bool]]:
    """Return `finds` of SET campaigns of the same systems; the second is better by `better_by`."""
    world = replace(margins.WORLDS[0], margin=better_by)
    rng = np.random.default_rng([33, seed])
    quality = rng.normal(0, 0.5, margins.SYSTEMS)
    own = margins.preferences(quality, rng)
    worse = margins.worse_by_margin(world, level, coefficient, quality, own, seed)
    drawn = (margins.draw(rng, world, level, quality, own, worse, LOOKS[-1]) for _ in range(SET))
    return [finds(rows, level, coefficient, draws, seed, "left_out") for rows in drawn]


def print_looks(parts: Sequence[str], campaigns: int, draws: int, jobs: int) -> list[str]:
    """Print the shares of campaigns that find a difference; return where always-valid ones err too often."""
    error = np.sqrt(0.05 * 0.95 / campaigns)
    print(f"\n{campaigns} campaigns, {len(LOOKS)} looks; standard error at 5%: {error:.1%}")
    print(f"{'':18}{'level':15}{'coefficient':13}" + "".join(f"{each:>20}" for each in SHOWN))
    cases = [(world, partial(equal_campaigns, world)) for world in MAIN if "looks" in parts]
    if "power" in parts:
        cases += [(f"better by {each:g}", partial(unequal_campaigns, each)) for each in BETTER_BY]
    wrong = []
    with ProcessPoolExecutor(jobs) as pool:
        for name, followed in cases:
            for level, coefficient in LOOKED_AT:
                start = time.perf_counter()
                sets = pool.map(partial(followed, level, coefficient, draws), range(campaigns // SET))
                found = np.mean([each for of_set in sets for each in of_set], axis=0)
                print(
                    f"{name:18}{level:15}{coefficient:13}"
                    + "".join(f"{each:20.1%}" for each in found)
                    + f"{time.perf_counter() - start:6.0f} s",
                    flush=True,
                )
                if name in MAIN and (found[[1, 3]] - 2 * error > MOST).any():
                    wrong.append(f"{TESTS[ALWAYS_VALID_TEST].label}, {name}, {level}, {coefficient}")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=199)
    parser.add_argument("--tolerance", type=float, default=0.02)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    wrong = []
    if "levels" in given.parts:
        wrong += print_levels(given.times, given.draws, given.tolerance)
    if {"looks", "power"} & set(given.parts):
        campaigns = max(1, given.times // (4 * SET)) * SET
        wrong += print_looks(given.parts, campaigns, given.draws, given.jobs)
    if wrong:
        raise SystemExit(f"not as stated: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
