"""Bootstrap over summaries against scipy's: `python -m benchmarks.bootstrap_speed [--summaries N]`.

Ten evaluators are correlated with the labels of summaries of as many articles, in 1,000 resamples. Prints our
processor seconds, those of scipy.stats.bootstrap with scipy's own coefficient (a tenth of the resamples of
one evaluator, times a hundred), and their ratio, by coefficient and by the labels' distinct values.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
from scipy import stats

from metaeval.stats.arrays import Floats
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.uncertainty.bootstrap import Bootstrap

EVALUATORS, RESAMPLES, OF_SCIPY = 10, 1_000, 100
COEFFICIENTS: dict[str, Callable[[Floats, Floats], float]] = {
    "pearson": lambda scores, labels: stats.pearsonr(scores, labels).statistic,
    "spearman": lambda scores, labels: stats.spearmanr(scores, labels).statistic,
    "kendall_b": lambda scores, labels: stats.kendalltau(scores, labels).statistic,
    "roc_auc": lambda scores, labels: stats.mannwhitneyu(scores[labels > 0], scores[labels == 0]).statistic,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--summaries", type=int, default=1_000)
    count = parser.parse_args().summaries
    rng = np.random.default_rng(1)
    quality = rng.normal(size=count)
    scores = quality + rng.normal(size=(EVALUATORS, count))
    points = np.clip(np.round(quality * 2 + 3), 1, 5)
    kinds = {
        "yes or no": (quality > 0).astype(float),
        "1 to 5": points,
        "mean of three raters": np.clip(points + rng.integers(-1, 2, size=(3, count)), 1, 5).mean(axis=0),
        "all distinct": quality,
    }
    print(f"{'labels':22} {'coefficient':12} {'ours':>8} {'scipy':>8} {'ratio':>6}")
    for kind, labels in kinds.items():
        for name, coefficient in COEFFICIENTS.items():
            if name == "roc_auc" and kind != "yes or no":
                continue
            rows = Rows(
                labels, scores, np.arange(count), np.zeros(count, dtype=np.int64), kind == "yes or no"
            )
            ours = min(seconds(lambda: ours_of(name, rows)) for _ in range(3))  # noqa: B023
            scipys = seconds(lambda: scipys_of(coefficient, scores[0], labels))  # noqa: B023
            scipys *= EVALUATORS * RESAMPLES / OF_SCIPY
            print(f"{kind:22} {name:12} {ours:7.3f}s {scipys:7.2f}s {scipys / ours:6.0f}", flush=True)


def seconds(act: Callable[[], object]) -> float:
    began = time.process_time()
    act()
    return time.process_time() - began


def ours_of(name: str, rows: Rows) -> object:
    return Bootstrap("articles", "pooled", name, rows, Resampling(RESAMPLES, 0)).replicates


def scipys_of(coefficient: Callable[[Floats, Floats], float], scores: Floats, labels: Floats) -> object:
    return stats.bootstrap(
        (scores, labels),
        coefficient,
        paired=True,
        vectorized=False,
        n_resamples=OF_SCIPY,
        method="percentile",
        rng=np.random.default_rng(2),
    )


if __name__ == "__main__":
    main()
