"""What rating the doubtful summaries first saves: `python benchmarks/priority.py [--draws N] [--check]`.

Draws populations of summaries whose labels and scores are known, rates some of them in random order or by
doubt, and prints the bias of four means (of labels alone, and with scores, in both orders), the share of 95%
intervals that hold the mean of all summaries, and the width. *Saved* is the share of ratings that the order
by doubt saves at the width of the random order, both with scores: 1 - (width / width)^2. Seeded. With
--check, exit code 1 if a mean is biased by more than four standard errors, intervals hold in less than LEAST,
or nothing is saved where scores are sharp chances of yes.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import numpy.typing as npt

from metaeval.stats.labels.draw_chances import draw_chances, draw_weights
from metaeval.stats.labels.label_mean import MeanEstimate, label_mean
from metaeval.stats.labels.prediction_powered import drawn_prediction_powered
from metaeval.stats.rows import Rows

Floats = npt.NDArray[np.float64]
SUMMARIES, ARTICLES = 2000, 500
LEAST = 0.925


@dataclass(frozen=True)
class Population:
    name: str
    draw: Callable[[np.random.Generator], tuple[Floats, list[Floats]]]
    """Labels of all summaries, and the scores of the evaluators, of which the first corrects the mean."""


def chances_of_yes(rng: np.random.Generator, spread: float, per_article: float = 0.7) -> Floats:
    """Return the true chance of yes of each summary; those of an article are alike."""
    of_article = np.repeat(rng.normal(size=ARTICLES), SUMMARIES // ARTICLES)
    logits = per_article * of_article + np.sqrt(1 - per_article**2) * rng.normal(size=SUMMARIES)
    return 1 / (1 + np.exp(-0.7 - spread * logits))


def yes_no(spread: float, told: Callable[[Floats], Floats]) -> Callable[..., tuple[Floats, list[Floats]]]:
    def draw(rng: np.random.Generator) -> tuple[Floats, list[Floats]]:
        chance = chances_of_yes(rng, spread)
        return (rng.random(SUMMARIES) < chance).astype(np.float64), [told(chance)]

    return draw


def too_sure(chance: Floats) -> Floats:
    """Return chances three times as far from even, on the scale of log-odds."""
    return chance**3 / (chance**3 + (1 - chance) ** 3)


def useless(chance: Floats) -> Floats:
    """Return sharp chances that have nothing to do with the labels."""
    return chance[::-1].copy()


def disagreeing(rng: np.random.Generator) -> tuple[Floats, list[Floats]]:
    """Return labels from 1 to 5, and three evaluators that err more on the same summaries."""
    quality, difficulty = rng.normal(size=SUMMARIES), rng.gamma(1.0, 0.8, size=SUMMARIES)
    labels = np.clip(np.round(3 + quality + difficulty * rng.normal(size=SUMMARIES) / 2), 1, 5)
    return labels, [quality + difficulty * rng.normal(size=SUMMARIES) for _ in range(3)]


POPULATIONS = (
    Population("sharp chances", yes_no(3.0, lambda chance: chance)),
    Population("vague chances", yes_no(1.0, lambda chance: chance)),
    Population("too sure", yes_no(1.5, too_sure)),
    Population("useless scores", yes_no(3.0, useless)),
    Population("three disagree", disagreeing),
)
KINDS = ("random", "random, scores", "by doubt", "by doubt, scores")


def estimates(
    rng: np.random.Generator, population: Population, rated: int
) -> tuple[float, list[MeanEstimate]]:
    """Return the mean of all labels, and its four estimates."""
    labels, scores = population.draw(rng)
    articles = np.repeat(np.arange(ARTICLES), SUMMARIES // ARTICLES)
    found = []
    for weights in (np.ones(SUMMARIES), draw_weights(scores)):
        places = -np.expm1(np.log1p(-rng.random(SUMMARIES)) / weights)
        is_waiting = np.ones(SUMMARIES, dtype=bool)
        is_waiting[np.argsort(places)[:rated]] = False
        chances = draw_chances(places, weights, is_waiting)
        known = np.where(is_waiting, np.nan, labels)
        found.append(label_mean(known, articles, chances=chances))
        rows = Rows(known, scores[0], articles, np.zeros(SUMMARIES, dtype=np.int64))
        found.append(drawn_prediction_powered(rows, chances))
    return float(labels.mean()), found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    failed = False
    print("population       rated | order, mean        bias  holds  width | saved")
    for population in POPULATIONS:
        for rated in (100, 300):
            rng = np.random.default_rng(11)
            errors, held, widths = (np.empty((given.draws, len(KINDS))) for _ in range(3))
            for draw in range(given.draws):
                truth, found = estimates(rng, population, rated)
                for kind, each in enumerate(found):
                    errors[draw, kind] = each.value - truth
                    held[draw, kind] = each.interval.low <= truth <= each.interval.high
                    widths[draw, kind] = each.interval.high - each.interval.low
            saved = 1 - (widths[:, 3].mean() / widths[:, 1].mean()) ** 2
            for kind, name in enumerate(KINDS):
                bias = errors[:, kind].mean()
                error = errors[:, kind].std() / np.sqrt(given.draws)
                poor = abs(bias) > 4 * error or held[:, kind].mean() < LEAST
                failed |= bool(poor)
                print(
                    f"{population.name:<16} {rated:>5} | {name:<16} {bias:>+7.4f}"
                    f" {held[:, kind].mean():>6.3f} {widths[:, kind].mean():>6.3f}"
                    f" | {f'{saved:.0%}' if kind == 3 else ''}"
                    f"{'  <- poor' if poor else ''}"
                )
            failed |= population.name == "sharp chances" and saved <= 0
    return int(failed and given.check)


if __name__ == "__main__":
    sys.exit(main())
