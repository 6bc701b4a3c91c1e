"""Bootstrap intervals beside nlpstats and scipy, in one run: `python benchmarks/intervals.py GOLDEN_FILE`.

GOLDEN_FILE is metaeval.json with `matrices`, of which `summeval.rouge1` and `summeval.human.coherence` (100
articles by 16 systems) are read.

First the mean over articles of Kendall's τ-b in 1,000 resamples of articles ("inputs"), systems or both,
beside nlpstats (`pip install nlpstats==0.0.1`; without it that column is left out). Then, pooled over 88,280
simulated summaries of 15,000 articles with yes/no labels by one to three raters, four coefficients of ten
evaluators in 1,000 resamples of articles, beside loops over scipy's functions. Peers make a few resamples, on
the same draws as ours, from which the seconds for all are extrapolated. Prints the largest difference of the
results, CPU seconds and their ratio. Exit code 1 if results differ by more than 1e-9 or the budget is missed.
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import numpy.typing as npt
import scipy.stats

from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.uncertainty.bootstrap import Bootstrap

try:
    from nlpstats.correlations.bootstrap import bootstrap as nlpstats_bootstrap
except ImportError:
    nlpstats_bootstrap = None

Floats = npt.NDArray[np.float64]

RESAMPLES = 1000
EVALUATORS = 10
SUMMARIES, ARTICLES = 88_280, 15_000
BUDGET = 10.0  # seconds for all four coefficients of all evaluators
LARGEST = 1e-9


def seconds_of(task: Callable[[], object]) -> float:
    start = time.process_time()
    task()
    return time.process_time() - start


def per_article(golden: Path, rounds: int, peer_draws: int) -> float:
    """Print the figures of each scheme; the largest difference of the results."""
    matrices = json.loads(golden.read_text())["matrices"]
    scores, labels = (np.array(matrices[f"summeval.{name}"]) for name in ("rouge1", "human.coherence"))
    article, system = (codes.ravel() for codes in np.indices(scores.shape))
    columns = labels.ravel(), scores.reshape(1, -1), article, system
    largest = 0.0
    for scheme, peer_scheme in (("articles", "inputs"), ("systems", "systems"), ("both", "both")):
        ours = median(
            seconds_of(
                lambda scheme=scheme: (
                    Bootstrap(
                        scheme, "article", "kendall_b", Rows(*columns), Resampling(RESAMPLES)
                    ).replicates
                )
            )
            for _ in range(rounds)
        )
        line = f"per-article τ-b, 100 x 16, {scheme}: {RESAMPLES:,} resamples in {ours:.4f} s"
        if nlpstats_bootstrap is None:
            print(f"{line}; nlpstats is not installed")
            continue
        bootstrap = Bootstrap(scheme, "article", "kendall_b", Rows(*columns), Resampling(peer_draws))
        (times,) = bootstrap.draws()
        drawn = times[1:].astype(int)
        draws = iter(range(peer_draws))

        def resample(
            arrays: tuple[Floats, ...],
            paired_inputs: bool,  # noqa: ARG001 nlpstats gives it by name
            drawn: npt.NDArray[np.int64] = drawn,
            draws: object = draws,
            split: int = bootstrap.article_count,
        ) -> tuple[Floats, ...]:
            at = next(draws)  # type: ignore[call-overload]
            of_article, of_system = drawn[:split, at], drawn[split:, at]
            columns = np.repeat(np.arange(100), of_article if len(of_article) else 1)
            rows = np.repeat(np.arange(16), of_system if len(of_system) else 1)
            return tuple(array[np.ix_(rows, columns)] for array in arrays)

        start = time.process_time()
        peer = nlpstats_bootstrap(scores.T, labels.T, "input", "kendall", resample, n_resamples=peer_draws)
        theirs = (time.process_time() - start) / peer_draws * RESAMPLES
        difference = float(np.abs(bootstrap.values(times)[0] - np.array(peer.samples)).max())
        largest = max(largest, difference)
        print(
            f"{line}; nlpstats ({peer_scheme}) {theirs:.1f} s, extrapolated from {peer_draws};"
            f" {theirs / ours:,.0f} times as fast; largest difference on the same draws {difference:.1e}"
        )
    return largest


def yes_no_study() -> dict[str, npt.NDArray[np.generic]]:
    rng = np.random.default_rng(0)
    quality = rng.normal(size=SUMMARIES)
    raters = rng.choice([1, 2, 3], p=[0.9, 0.02, 0.08], size=SUMMARIES)
    yeses = rng.binomial(raters, 1 / (1 + np.exp(-1 - quality)))
    return {
        "labels": yeses / raters,
        "scores": quality + rng.normal(size=(EVALUATORS, SUMMARIES)) * np.arange(1, EVALUATORS + 1)[:, None],
        "articles": rng.integers(ARTICLES, size=SUMMARIES),
        "systems": rng.integers(9, size=SUMMARIES),
    }


def roc_auc(labels: Floats, scores: Floats) -> float:
    """Return ROC AUC by scipy's ranks."""
    told = labels != 0.5
    yes = labels[told] > 0.5
    ranks = scipy.stats.rankdata(scores[told])
    yeses = int(yes.sum())
    return float((ranks[yes].sum() - yeses * (yeses + 1) / 2) / (yeses * (len(yes) - yeses)))


BY_SCIPY: dict[str, Callable[[Floats, Floats], float]] = {
    "pearson": lambda labels, scores: scipy.stats.pearsonr(labels, scores).statistic,
    "spearman": lambda labels, scores: scipy.stats.spearmanr(labels, scores).statistic,
    "kendall_b": lambda labels, scores: scipy.stats.kendalltau(labels, scores).statistic,
    "roc_auc": roc_auc,
}


def pooled(peer_draws: int) -> tuple[float, float]:
    """Print the figures of each coefficient; the largest difference of the results, and seconds in all."""
    study = yes_no_study()
    article = np.unique(study["articles"], return_inverse=True)[1]
    largest = in_all = theirs_in_all = 0.0
    wall = time.perf_counter()
    of_coefficient = {}
    for name in BY_SCIPY:
        start = time.process_time()
        rows = Rows(**study, yes_no=True)
        len(Bootstrap("articles", "pooled", name, rows, Resampling(RESAMPLES)).replicates)
        of_coefficient[name] = time.process_time() - start
    wall = time.perf_counter() - wall
    for name, by_scipy in BY_SCIPY.items():
        first = study | {"scores": study["scores"][:1]}
        bootstrap = Bootstrap("articles", "pooled", name, Rows(**first, yes_no=True), Resampling(peer_draws))
        (times,) = bootstrap.draws()
        found = bootstrap.values(times)[0]
        start = time.process_time()
        expected = []
        for drawn in times[1:].T.astype(int):
            places = np.repeat(np.arange(SUMMARIES), drawn[article])
            expected.append(by_scipy(study["labels"][places], study["scores"][0, places]))
        theirs = (time.process_time() - start) / peer_draws * RESAMPLES * EVALUATORS
        difference = float(np.abs(found - expected).max())
        largest, ours = max(largest, difference), of_coefficient[name]
        in_all, theirs_in_all = in_all + ours, theirs_in_all + theirs
        print(
            f"pooled {name}, n = {SUMMARIES:,}, {EVALUATORS} evaluators: {RESAMPLES:,} resamples in"
            f" {ours:.2f} s; scipy {theirs:.0f} s, extrapolated from {peer_draws} of one evaluator;"
            f" {theirs / ours:,.0f} times as fast; largest difference on the same draws {difference:.1e}"
        )
    print(
        f"all four: {in_all:.1f} s of CPU, {wall:.1f} s by the clock, budget {BUDGET:.0f} s; scipy"
        f" {theirs_in_all:.0f} s; {theirs_in_all / in_all:,.0f} times as fast"
    )
    return largest, in_all


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("golden", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peer-draws", type=int, default=5)
    given = parser.parse_args()
    largest_per_article = per_article(given.golden, given.rounds, 4 * given.peer_draws)
    largest_pooled, seconds = pooled(given.peer_draws)
    if max(largest_per_article, largest_pooled) > LARGEST or seconds > BUDGET:
        sys.exit("results differ or the budget is missed")


if __name__ == "__main__":
    main()
