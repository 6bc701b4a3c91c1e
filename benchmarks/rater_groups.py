"""How often two groups of raters seem to differ: `python benchmarks/rater_groups.py [--times N]`.

Raters of 240 summaries of 60 articles mean the same, with noise and lasting habits of their own. They are
split into two groups in vain, one of them noisier in some worlds; then a group is made stricter, and made to
mean something else. Prints the share of draws in which the groups are said to differ in judgement and in
level. Seeded. Exit code 1 if raters who mean the same are said to differ in either in more than 5%.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from metaeval.stats.agreement.group_difference import GroupDifference, group_difference

ARTICLES, SYSTEMS = 60, 4
MOST = 0.05
SIZES = ((3, 5), (3, 3), (5, 20))
WORLDS: dict[str, tuple[float, float, float, float]] = {
    "all alike": (0.0, 0.7, 0.0, 0.0),
    "habits": (0.3, 0.7, 0.0, 0.0),
    "strong habits": (0.6, 0.7, 0.0, 0.0),
    "habits, second group noisier": (0.3, 1.4, 0.0, 0.0),
    "first group one point stricter": (0.3, 0.7, -1.0, 0.0),
    "first group means something else": (0.3, 0.7, 0.0, 0.7),
}
"""Spread of raters' habits, noise of the second group, level and own meaning of the first."""


def difference(rng: np.random.Generator, sizes: tuple[int, int], world: str) -> GroupDifference:
    habits, noise, level, meaning = WORLDS[world]
    first, second = sizes
    truth = rng.normal(0, 0.5, (ARTICLES, 1)) + rng.normal(0, 0.7, (ARTICLES, SYSTEMS))
    means = 3 + np.tile(truth.reshape(-1, 1), first + second)
    means[:, :first] += level + rng.normal(0, meaning, (ARTICLES * SYSTEMS, 1))
    spread = np.repeat([0.7, noise], sizes)
    answers = means + rng.normal(0, habits, first + second) + rng.normal(0, spread, means.shape)
    units, raters = np.indices(answers.shape)
    return group_difference(
        units.ravel(),
        raters.ravel(),
        np.clip(np.round(answers), 1, 5).ravel(),
        raters.ravel() < first,
        np.repeat(np.arange(ARTICLES), SYSTEMS),
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--times", type=int, default=1000)
    times = parser.parse_args().times
    print(f"{ARTICLES} articles, {SYSTEMS} systems, {times} draws; raters of both groups; shares of draws")
    print(f"  {'world':34}{'raters':>8}{'judgement':>11}{'level':>8}")
    wrong = []
    for world, (_, _, level, meaning) in WORLDS.items():
        for sizes in SIZES:
            found = [difference(np.random.default_rng([draw, 3]), sizes, world) for draw in range(times)]
            judgement = float(np.mean([each.differs_in_judgement for each in found]))
            in_level = float(np.mean([each.differs_in_level for each in found]))
            print(f"  {world:34}{sizes[0]:>5}+{sizes[1]:<2}{judgement:11.3f}{in_level:8.3f}")
            if not level and not meaning and max(judgement, in_level) > MOST:
                wrong.append(f"{world}, {sizes}")
    if wrong:
        raise SystemExit(f"said to differ: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
