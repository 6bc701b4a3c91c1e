"""How often the 95% intervals of a mean label hold it: `python benchmarks/coverage_ppi.py [--draws N]`.

Draws labels and scores of one system many times from populations whose mean is known, keeps the labels of a
few summaries, and prints for each population: the share of intervals that hold the true mean and their mean
width, for the labels alone, for the prediction-powered estimate, and for the latter by ppi_py's formula (z,
no correction for few labels; lambda clipped to 0..1, which suits scores in the labels' unit, and these are in
another). Seeded. Exit code 1 if labels alone cover and the prediction-powered interval covers less often than
LEAST, or if useless scores make it narrower on average.
"""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import numpy.typing as npt
from scipy import stats

from metaeval.stats.labels.label_mean import label_mean
from metaeval.stats.labels.prediction_powered import prediction_powered
from metaeval.stats.rows import Rows

Floats = npt.NDArray[np.float64]
LEAST = 0.925
"""Share of 95% intervals; the simulation's own standard error at 2,000 draws is .005."""


@dataclass(frozen=True)
class Population:
    name: str
    mean: float
    draw: Callable[[np.random.Generator, int, float], tuple[Floats, Floats]]
    """Labels and scores of so many summaries, with so strong a relation (0 to 1)."""


def normal(rng: np.random.Generator, n: int, relation: float) -> tuple[Floats, Floats]:
    labels = rng.normal(size=n)
    scores = relation * labels + np.sqrt(1 - relation**2) * rng.normal(size=n)
    return 3 + labels, scores / 10


def points(rng: np.random.Generator, n: int, relation: float) -> tuple[Floats, Floats]:
    labels, scores = normal(rng, n, relation)
    return np.clip(np.round(labels), 1, 5), scores


def yes_no(rng: np.random.Generator, n: int, relation: float) -> tuple[Floats, Floats]:
    labels, scores = normal(rng, n, relation)
    return (labels > 2.5).astype(np.float64), scores


POPULATIONS = (
    Population("normal", 3.0, normal),
    Population("points 1-5", 3.0, points),
    Population("yes 69%", float(stats.norm.sf(-0.5)), yes_no),
)


def by_ppi_py(labels: Floats, scores: Floats) -> tuple[float, float]:
    """Return ppi_py's interval with tuned lambda."""
    labelled = ~np.isnan(labels)
    y, f, alone = labels[labelled], scores[labelled], scores[~labelled]
    power = np.mean((y - y.mean()) * (f - f.mean())) / ((1 + len(y) / len(alone)) * scores.var(ddof=1))
    power = min(max(power, 0.0), 1.0)
    value = power * alone.mean() + (y - power * f).mean()
    error = np.sqrt(power**2 * alone.var() / len(alone) + (y - power * f).var() / len(y))
    return value - 1.959964 * error, value + 1.959964 * error


def simulate(population: Population, labelled: int, scored: int, relation: float, draws: int) -> Floats:
    """Return coverage and mean width, (3, 2), of labels alone, ours and ppi_py's.

    Only draws in which all are defined count.
    """
    rng = np.random.default_rng(20)
    articles = np.arange(labelled + scored)
    held, widths = [], []
    for _ in range(draws):
        labels, scores = population.draw(rng, labelled + scored, relation)
        labels[labelled:] = np.nan
        alone = label_mean(labels, articles).interval
        powered = prediction_powered(Rows(labels, scores, articles, np.zeros_like(articles))).interval
        if alone.reason or powered.reason:
            continue
        ends = np.array([(alone.low, alone.high), (powered.low, powered.high), by_ppi_py(labels, scores)])
        held.append((ends[:, 0] <= population.mean) & (population.mean <= ends[:, 1]))
        widths.append(ends[:, 1] - ends[:, 0])
    return np.column_stack([np.mean(held, axis=0), np.mean(widths, axis=0)])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    draws = parser.parse_args().draws
    print(
        "population  labels  scored  relation | coverage: labels  ours  ppi_py | width: labels  ours  ppi_py"
    )
    failed = False
    for population in POPULATIONS:
        for labelled in (10, 20, 50, 100):
            for relation in (0.0, 0.5, 0.9):
                table = simulate(population, labelled, 1000, relation, draws)
                cover, width = table[:, 0], table[:, 1]
                poor = cover[1] < LEAST <= cover[0] or (relation == 0 and width[1] < width[0])
                failed |= bool(poor)
                print(
                    f"{population.name:<11} {labelled:>6} {1000:>7} {relation:>9} | "
                    f"{cover[0]:>16.3f} {cover[1]:>5.3f} {cover[2]:>7.3f} | "
                    f"{width[0]:>13.3f} {width[1]:>5.3f} {width[2]:>7.3f}{'  <- poor' if poor else ''}"
                )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
