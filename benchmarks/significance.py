"""PERM-BOTH beside nlpstats, in one run: `python benchmarks/significance.py FOLDER_OF_SUMMEVAL`.

FOLDER_OF_SUMMEVAL holds expert_means.16systems.jsonl.gz: one object a line with `src`, `ref_summs` and
`sys_summs: {system: {sys_summ, scores}}`. Needs nlpstats: `pip install nlpstats==0.0.1`.

Compares ten plain evaluators (ROUGE against the references and the article, lengths, words of the article)
with each other on coherence. Prints, for each scheme, the largest difference between our permuted differences
and those of nlpstats on the same swaps, the seconds a pair takes at 1,000 draws and their ratio; then the
seconds of all 45 pairs beside their budget. All are seconds of processor time. Exit code 1 if results differ
or the budget is missed.
"""

import argparse
import gzip
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import numpy.typing as npt
from nlpstats.correlations.permutation import permutation_test

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.rows import Rows
from metaeval.stats.significance.compare_pairs import compare_pairs
from metaeval.stats.significance.permuted_levels import (
    DIFFERENCES,
    NONE_MARKED,
    Coins,
    Permuted,
)
from scoring.contract.evaluator import GENERAL
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

BUDGET = 1.0
DRAWS = 1000
LARGEST = 1e-9


def read_summeval(folder: Path) -> tuple[list[Item], Floats]:
    """Return the summaries by article, and the experts' mean coherence, (articles, systems)."""
    with gzip.open(folder / "expert_means.16systems.jsonl.gz", "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    systems = sorted(rows[0]["sys_summs"])
    items = [
        Item(
            f"{row['id']}/{name}",
            row["sys_summs"][name]["sys_summ"],
            article=row["src"],
            references=tuple(row["ref_summs"]),
        )
        for row in rows
        for name in systems
    ]
    labels = [[row["sys_summs"][name]["scores"]["coherence"] for name in systems] for row in rows]
    return items, np.array(labels, dtype=float)


def score(items: list[Item]) -> Floats:
    """Return scores, (10, summaries)."""
    rouge = load_evaluator("rouge")
    scores = [
        [
            scored.values[GENERAL]
            for scored in rouge(read_params(rouge, {"variant": variant, **settings})).score(items)
        ]
        for settings in ({"references": "mean"}, {"against": "article"})
        for variant in ("1", "2", "L")
    ]
    words = [item.summary.lower().split() for item in items]
    of_article = [set((item.article or "").lower().split()) for item in items]
    scores.append([len(each) for each in words])
    scores.append([len(set(each)) / len(each) for each in words])
    scores.append([sum(map(len, each)) / len(each) for each in words])
    scores.append(
        [len(set(own) & other) / len(set(own)) for own, other in zip(words, of_article, strict=True)]
    )
    return np.array(scores, dtype=float)


def marks(rng: np.random.Generator, draws: int, count: int, drawn: bool) -> Bools:
    if not drawn:
        return NONE_MARKED
    return np.concatenate([np.zeros((1, count), dtype=bool), rng.integers(0, 2, (draws, count), dtype=bool)])


def same_swaps(articles: Bools, systems: Bools) -> Iterator[Bools]:
    """Return which cells nlpstats is to swap, (systems, articles), for each draw after the first."""
    for draw in range(1, max(len(articles), len(systems))):
        of_article, of_system = articles[min(draw, len(articles) - 1)], systems[min(draw, len(systems) - 1)]
        yield of_system[:, None] ^ of_article[None, :]


def compare(scheme: str, labels: Floats, x: Floats, y: Floats, peer_draws: int, rounds: int) -> float:
    """Print one pair's figures; the largest difference of the results."""
    rng = np.random.default_rng(1)
    of_article = marks(rng, peer_draws, labels.shape[0], scheme != "systems")
    of_system = marks(rng, peer_draws, labels.shape[1], scheme != "inputs")
    swaps = same_swaps(of_article, of_system)

    def swap(own: Floats, other: Floats) -> tuple[Floats, Floats]:
        cells = next(swaps)
        return np.where(cells, other, own), np.where(cells, own, other)

    start = time.process_time()
    peer = permutation_test(
        x.T, y.T, labels.T, "input", "kendall", permutation_method=swap, n_resamples=peer_draws
    )
    theirs = (time.process_time() - start) / peer_draws * DRAWS

    article, system = (codes.ravel() for codes in np.indices(labels.shape))
    standard = [((each - each.mean()) / each.std()).round(12).ravel() for each in (x, y)]
    permuted = Permuted(
        labels.ravel(),
        standard[0],
        standard[1],
        Coins(article, article if scheme != "systems" else article * 0, of_article),
        Coins(system, system if scheme != "inputs" else system * 0, of_system),
    )
    ours = DIFFERENCES["article"](COEFFICIENTS["kendall_b"], permuted)[1:]
    difference = float(np.abs(ours - np.array(peer.samples)).max())
    seconds = []
    for _ in range(rounds):
        start = time.process_time()
        compare_pairs(
            f"perm_{scheme}",
            "article",
            "kendall_b",
            Rows(labels.ravel(), [x.ravel(), y.ravel()], article, system),
        )
        seconds.append(time.process_time() - start)
    print(
        f"PERM-{scheme.upper()}, one pair: largest difference {difference:.1e} in {peer_draws} draws;"
        f" {DRAWS:,} draws: ours {median(seconds):.4f} s, nlpstats {theirs:.1f} s;"
        f" {theirs / median(seconds):,.0f} times as fast"
    )
    return difference


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--peer-draws", type=int, default=50)
    given = parser.parse_args()
    items, labels = read_summeval(given.folder)
    scores = score(items)
    print(f"{labels.shape[0]} articles, {labels.shape[1]} systems; medians of {given.rounds} rounds")
    x, y = (row.reshape(labels.shape) for row in scores[:2])
    differences = [
        compare(scheme, labels, x, y, given.peer_draws, given.rounds)
        for scheme in ("both", "inputs", "systems")
    ]

    articles, systems = (codes.ravel() for codes in np.indices(labels.shape))
    taken = []
    for _ in range(given.rounds):
        start = time.process_time()
        compare_pairs("perm_both", "article", "kendall_b", Rows(labels.ravel(), scores, articles, systems))
        taken.append(time.process_time() - start)
    print(f"PERM-BOTH, 45 pairs of 10 evaluators: {median(taken):.2f} s (budget {BUDGET:.0f} s)")
    if max(differences) > LARGEST:
        raise SystemExit("the results differ")
    if median(taken) > BUDGET:
        raise SystemExit("over budget")


if __name__ == "__main__":
    main()
