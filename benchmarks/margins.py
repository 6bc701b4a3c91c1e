"""Evaluators found as good as better ones: `python -m benchmarks.margins [--studies 500] [--jobs 2]`.

Of two evaluators the second is better than the first by exactly the margin, for the systems drawn, so that a
sound test finds the first as good as the second in 5% of studies, and an always-valid one in at most 5% of
campaigns at any look. Prints by world, level and coefficient the shares

- at a single look at all articles, of the paired bootstrap's test, and of its test of equivalence;
- at a single look with two equally good evaluators: how often each is found as good, and both equivalent;
- at some of the looks at 10, 12, 15 ... articles, of the always-valid test, and of the bootstrap's repeated;
- at the last look with two equally good evaluators, of the always-valid test.

Label and scores are sums of an effect of the article, one of the system and one of the summary; over systems'
means each evaluator also prefers systems of its own, unrelated to their quality. Seeded. Exit code 1 with
`--check` if a share that should be 5% at most is above MOST by more than two standard errors.
"""

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.optimize import brentq

from metaeval.stats.arrays import Floats
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.significance.compare_pairs import ALWAYS_VALID_TEST, compare_pairs
from metaeval.stats.significance.compared import PairTests

SYSTEMS, MANY, SET = 8, 10_000, 25
LOOKS = (10, 12, 15, 20, 25, 30, 40, 50, 65, 80, 100)
MOST = 0.06
SHOWN = (
    "as good",
    "equivalent",
    "equal: as good",
    "equal: equivalent",
    "ever, always-valid",
    "ever, one look",
    "equal: always-valid",
)


@dataclass(frozen=True)
class World:
    name: str
    articles: int = 100
    slope: float = 0.7
    """How closely the better evaluator follows the labels."""
    differ: float = 0.0
    """Spread over articles of what each adds to an evaluator's scores, and of how closely it follows."""
    margin: float = 0.05


WORLDS = (
    World("usual"),
    World("articles differ", differ=0.6),
    World("close scores", slope=2.0),
    World("weak scores", slope=0.2),
    World("30 articles", articles=30),
    World("margin .1", margin=0.1),
)
COMPARED = (
    ("pooled", "pearson"),
    ("pooled", "spearman"),
    ("article", "kendall_b"),
    ("within_system", "spearman"),
    ("system", "pearson"),
)


def draw(
    rng: np.random.Generator, world: World, level: str, quality: Floats, own: Floats, worse: float, n: int
) -> Rows:
    """Draw a study of `n` articles; the first evaluator is `worse`, a number from 0 for equally good ones."""
    labels = rng.normal(0, 0.7, (n, 1)) + quality + rng.normal(size=(n, SYSTEMS))
    noise = rng.normal(size=(2, n, SYSTEMS))
    by_article = world.differ * rng.normal(size=(2, n, 1)) * (1 + labels)
    if level == "system":
        sizes = np.array([0.5 + worse, 0.5])[:, None, None]
        scores = world.slope * labels + sizes * own[:, None, :] * world.slope + noise + by_article
    else:
        slopes = world.slope * np.exp([-worse, 0.0])[:, None, None]
        scores = slopes * labels + noise + by_article
    article, system = np.indices(labels.shape).reshape(2, -1)
    return Rows(labels.ravel(), scores.reshape(2, -1), article, system)


def studies_of(world: World, level: str, coefficient: str, resamples: int, seed: int) -> list[list[bool]]:
    """Return whether each of SHOWN holds, for SET studies of the same systems."""
    rng = np.random.default_rng([31, seed])
    quality = rng.normal(0, 0.5, SYSTEMS)
    own = preferences(quality, rng)
    worse = worse_by_margin(world, level, coefficient, quality, own, seed)
    return [
        study(
            lambda w: draw(rng, world, level, quality, own, w, world.articles),
            worse,
            partial(
                compare_pairs,
                level=level,
                coefficient=coefficient,
                resampling=Resampling(resamples, seed),
                margin=world.margin,
            ),
        )
        for _ in range(SET)
    ]


def worse_by_margin(
    world: World, level: str, coefficient: str, quality: Floats, own: Floats, seed: int
) -> float:
    """Return `worse` for `draw` that makes the true difference the world's margin, for these systems."""

    def gap(worse: float) -> float:
        many = draw(np.random.default_rng(seed), world, level, quality, own, worse, MANY)
        one, other = LEVELS[level].estimates(COEFFICIENTS[coefficient], many)
        return other.value - one.value - world.margin

    return float(brentq(gap, -0.5, 4.0, xtol=1e-3))


def preferences(quality: Floats, rng: np.random.Generator) -> Floats:
    """Draw what each evaluator adds to each system, (2, SYSTEMS): as large as quality, unrelated to it."""
    centred = quality - quality.mean()
    drawn = rng.normal(size=(2, SYSTEMS))
    drawn -= drawn.mean(axis=1, keepdims=True)
    drawn -= np.outer(drawn @ centred / (centred @ centred), centred)
    return drawn * np.sqrt((centred @ centred) / (drawn**2).sum(axis=1, keepdims=True))


def study(drawn: Callable[[float], Rows], worse: float, compare: Callable[..., PairTests]) -> list[bool]:
    rows, equal = drawn(worse), drawn(0.0)
    as_good, equivalent = found(compare("bootstrap_articles", rows=rows))
    equal_good, both_equal = found(compare("bootstrap_articles", rows=equal))
    looks = [rows.at(rows.articles < look) for look in LOOKS if look < rows.articles.max()] + [rows]
    return [
        as_good,
        equivalent,
        equal_good,
        both_equal,
        any(found(compare(ALWAYS_VALID_TEST, rows=each))[0] for each in looks),
        as_good or any(found(compare("bootstrap_articles", rows=each))[0] for each in looks[:-1]),
        found(compare(ALWAYS_VALID_TEST, rows=equal))[0],
    ]


def found(tests: PairTests) -> tuple[bool, bool]:
    """Return whether the first evaluator is found as good as the second, and both equivalent."""
    within = tests.within_margin
    assert within is not None
    return bool(within.not_worse[0, 1] <= 0.05), bool(within.equivalent[0, 1] <= 0.05)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=500)
    parser.add_argument("--resamples", type=int, default=199)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    error = np.sqrt(0.05 * 0.95 / given.studies)
    print(f"{given.studies} studies; standard error at 5%: {error:.1%}")
    print(f"{'world':17}{'level':15}{'coefficient':13}" + "".join(f"{each:>21}" for each in SHOWN))
    failed = []
    with ProcessPoolExecutor(given.jobs) as pool:
        for world in WORLDS:
            for level, coefficient in COMPARED:
                start = time.perf_counter()
                one_set = partial(studies_of, world, level, coefficient, given.resamples)
                sets = pool.map(one_set, range(given.studies // SET))
                shares = np.mean([each for of_set in sets for each in of_set], axis=0)
                print(
                    f"{world.name:17}{level:15}{coefficient:13}"
                    + "".join(f"{each:21.1%}" for each in shares)
                    + f"{time.perf_counter() - start:6.0f} s",
                    flush=True,
                )
                held = shares[[0, 1]] if level == "system" else shares[[0, 1, 4]]
                if (held - 2 * error > MOST).any():
                    failed.append(f"{world.name}, {level}, {coefficient}")
    if given.check and failed:
        raise SystemExit(f"not as stated: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
