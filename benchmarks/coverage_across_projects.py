"""How often means over data sets hold the true value, and how often their letters tell equals apart.

    .venv/bin/python benchmarks/coverage_across_projects.py [--studies 400]

Simulated studies of several data sets, each of 40 articles by four systems. Two evaluators are equally good:
in each data set the correlation of either with the labels is drawn on Fisher's scale from a normal
distribution around the same mean, on its own. A third of the noise of labels and of scores is the article's.
The value is Pearson's r, pooled. Prints the share of studies in which the mean's interval holds the true
mean, in which the prediction interval holds the correlation of one more data set, and in which the two
evaluators get different letters.
"""

import argparse
import math
import sys
from itertools import product
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

from annotation import protocol
from metaeval.across_projects.data_set_figures import DataSetFigures, measured
from metaeval.across_projects.report import DataSet, across_table
from metaeval.snapshot.arrays import ALL, Labels, Scores, SetupScores, Summaries
from metaeval.stats.arrays import Floats
from metaeval.stats.method import NONE, Method
from scoring.contract.evaluator import GENERAL

ARTICLES, SYSTEMS = 40, 4
N = ARTICLES * SYSTEMS
TRUE = math.atanh(0.4)
DATA_SETS = (2, 3, 5, 8)
SPREADS = (0.0, 0.1, 0.2)
"""Standard deviations of the correlations between data sets, on Fisher's scale."""
METHOD = Method(coefficient="pearson", interval=NONE, test=NONE)
SCALE = protocol.Scale(protocol.ScaleKind.INTERVAL, low=-9, high=9)
SUMMARIES = Summaries(
    articles=np.repeat(np.arange(ARTICLES), SYSTEMS),
    systems=np.tile(np.arange(SYSTEMS), ARTICLES),
    languages=np.zeros(N, dtype=np.int64),
    datasets=np.full(N, -1),
    system_names=tuple(map(str, range(SYSTEMS))),
    language_names=("en",),
    dataset_names=(),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--studies", type=int, default=400)
    studies = parser.parse_args().studies
    print("data sets  spread  mean held  prediction held  different letters")
    for data_sets, spread in product(DATA_SETS, SPREADS):
        rng = np.random.default_rng([data_sets, int(spread * 100)])
        found = np.array([study(rng, data_sets, spread) for _ in range(studies)])
        held, predicted, apart = found.mean(axis=0)
        in_words = f"{predicted:15.1%}" if data_sets > 2 else f"{'-':>15}"
        print(f"{data_sets:9}  {spread:6}  {held:9.1%}  {in_words}  {apart:17.1%}")


def study(rng: np.random.Generator, data_sets: int, spread: float) -> tuple[bool, bool, bool]:
    """Return whether the mean was held, whether one more data set was, and whether letters differ."""
    named = [DataSet(str(place), str(place), "quality", "Labels.") for place in range(data_sets)]
    table = across_table("quality", named, [_figures(rng, spread) for _ in named], METHOD)
    first, second = table.rows
    interval, predicted = first.mean.interval, first.mean.predicted
    assert interval is not None
    assert predicted is not None
    further = math.tanh(TRUE + spread * rng.normal())
    return (
        interval.low <= math.tanh(TRUE) <= interval.high,
        predicted.low <= further <= predicted.high,
        first.cluster != second.cluster,
    )


def _figures(rng: np.random.Generator, spread: float) -> DataSetFigures:
    quality = _noise(rng)
    evaluators = []
    for name in ("first", "second"):
        r = math.tanh(TRUE + spread * rng.normal())
        scores = Scores(r * quality + math.sqrt(1 - r * r) * _noise(rng), (), np.full(N, -1))
        evaluators.append(SetupScores(name, name, name, name, True, {}, {GENERAL: scores}))
    labels = Labels("quality", "quality", "Quality", SCALE, quality, "Labels.")
    return measured(SUMMARIES, evaluators, labels, ALL, METHOD)


def _noise(rng: np.random.Generator) -> Floats:
    """Return numbers of variance 1, (summaries,), a third of which the summaries of an article share."""
    return math.sqrt(1 / 3) * rng.normal(size=ARTICLES)[SUMMARIES.articles] + math.sqrt(2 / 3) * rng.normal(
        size=N
    )


if __name__ == "__main__":
    main()
