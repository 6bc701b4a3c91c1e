"""ROUGE in Table 1 of UMSE (Gao et al. 2023), and its Table 4, beside the published values.

    python docs/examples/umse_tables.py expert_means.16systems.jsonl.gz eval_scores_xsum_summaries.csv

The first file has SummEval's summaries by 16 systems, 11 references, and the experts' means, in the layout of
BARTScore's repository (`bartscore` in docs/importing.md). The second is that of Maynez et al. 2020 on
hallucinations (google-research-datasets/xsum_hallucination_annotations), whose figures Table 4 repeats.

Table 1: mean over articles of the coefficient over the systems' summaries. ROUGE is the stemmed F1, averaged
over the references; ROUGE-L compares sentences. On fluency the paper's row of ROUGE-1 repeats the rho of
ROUGE-2. Table 4: Spearman's rho over all summaries.

- The other rows of Table 1, Tables 2 and 3 and UMSE in Table 4 need large models, among them UMSE's.
  `benchmarks/training/umse.py` makes such tables with networks trained on a small encoder
  (docs/results_umse.md), and `benchmarks/summeval_results.py` measures other metrics with that encoder
  (docs/results.md).
- QA in Table 4: the file does not have its scores.
"""

import argparse
import csv
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from docs.examples.papers import RatedSummaries, print_table, read_summaries
from metaeval.stats.arrays import Floats
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.rows import Rows

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
TABLE_1 = {
    "ROUGE-1": "0.1670 0.1260 0.1600 0.1300 0.1590 0.0940 0.3260 0.2520",
    "ROUGE-2": "0.1840 0.1390 0.1870 0.1550 0.1590 0.1280 0.2900 0.2190",
    "ROUGE-L": "0.1280 0.0990 0.1150 0.0920 0.1050 0.0840 0.3110 0.2370",
}
"""Spearman's rho and Kendall's tau of each dimension: Gao et al. 2023, Table 1."""
VARIANTS = {"ROUGE-1": "1", "ROUGE-2": "2", "ROUGE-L": "Lsum"}
TABLE_4 = {
    "ROUGE-1": "0.197 0.125",
    "ROUGE-2": "0.162 0.095",
    "ROUGE-L": "0.162 0.113",
    "BERTScore": "0.190 0.116",
    "QA": "0.044 0.027",
    "UMSE": "0.242 0.167",
    "Entailment": "0.431 0.264",
}
"""Spearman's rho with both labels: Gao et al. 2023, Table 4."""
LABELS = ("Faithful", "Factual")
COLUMNS = {
    "ROUGE-1": "R1",
    "ROUGE-2": "R2",
    "ROUGE-L": "RL",
    "BERTScore": "BERTScore",
    "Entailment": "Entailment",
}


def read_summeval(path: Path) -> RatedSummaries:
    return read_summaries("bartscore", path, labels="{dimension}")


def table_1(summaries: RatedSummaries) -> Iterator[tuple[str, list[float], str]]:
    """Yield each row's name, values and published values."""
    for metric, published in TABLE_1.items():
        scores = summaries.rouge(variant=VARIANTS[metric], stem="yes", references="mean", sentences="period")
        values = [
            summaries.agreement("article", coefficient, summaries.labels(dimension), scores)
            for dimension in DIMENSIONS
            for coefficient in ("spearman", "kendall_b")
        ]
        yield metric, values, published


def numbers(path: Path, lines: Sequence[Mapping[str, str]], column: str) -> Floats:
    """Return a column of a table. Exits for a cell that is no number."""
    found = []
    for place, line in enumerate(lines, start=2):
        try:
            found.append(float(line[column]))
        except (KeyError, TypeError, ValueError):
            cell = line.get(column)
            raise SystemExit(f"{path.name}, line {place}: {column} is {cell!r}, not a number") from None
    return np.array(found)


def table_4(path: Path) -> Iterator[tuple[str, list[float], str]]:
    """Yield each row's name, values and published values."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    unknown = np.full(len(lines), -1)
    for metric, published in TABLE_4.items():
        values = [math.nan] * len(LABELS)
        if metric in COLUMNS:
            scores = numbers(path, lines, COLUMNS[metric])
            rows = [Rows(numbers(path, lines, name), scores, unknown, unknown) for name in LABELS]
            values = [LEVELS["pooled"].estimate(COEFFICIENTS["spearman"], each).value for each in rows]
        yield metric, values, published


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("summeval", type=Path)
    parser.add_argument("hallucinations", type=Path)
    given = parser.parse_args()
    summaries = read_summeval(given.summeval)
    print(f"{len(summaries.items):,} summaries of SummEval")
    print_table("Gao et al. 2023, Table 1", DIMENSIONS, ("rho", "tau"), list(table_1(summaries)))
    print_table("Gao et al. 2023, Table 4", LABELS, ("rho",), list(table_4(given.hallucinations)))


if __name__ == "__main__":
    main()
