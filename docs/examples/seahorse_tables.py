"""Tables 6 and 8 of SEAHORSE (Clark et al. 2023), as far as files allow, beside the published values.

    python docs/examples/seahorse_tables.py test.tsv mt5_L_seahorse.q1.jsonl mt5_L_seahorse.q2.jsonl ... \\
        --articles articles.jsonl --summeval expert_means.16systems.jsonl.gz

The TSV is SEAHORSE's release; the paper tests on its test split. Each JSONL file has scores in the format
`scores` of docs/importing.md. Files whose names are equal up to the first dot are one row, because a model
scores only one question. `--articles` adds the articles, which the release lacks (`seahorse` in
docs/importing.md), and with them ROUGE-L. `--summeval` is SummEval in the layout of BARTScore's repository,
for a column of Table 8.

Both coefficients are pooled over summaries with Yes or No; of several ratings of a summary the first counts.
ROUGE-L is the F1 of summary and article over words; the paper has SentencePiece tokens and does not name the
vocabulary, so values can differ. In Table 8 a summary counts as consistent if all experts gave 5.

- The rows mt5 and T5 need models of 1.2 to 13 billion parameters: make their scores with `manage.py score`.
  The paper's mt5_xnli was not released.
- Table 7 needs the ratings of mFACE, which are not public.
- The other columns of Table 8 need the TRUE benchmark.
"""

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from annotation.protocol import SEAHORSE
from docs.examples.papers import RatedSummaries, print_table, read_entries, read_summaries
from metaeval.stats.arrays import Floats
from scoring.contract.evaluator import GENERAL

QUESTIONS = {f"Q{number}": question.key for number, question in enumerate(SEAHORSE.questions, start=1)}
MAJORITY, ROUGE = "majority_class", "ROUGE-L"
TABLE_6 = {
    MAJORITY: "- 0.5 - 0.5 - 0.5 - 0.5 - 0.5 - 0.5",
    ROUGE: "0.04 0.54 0.06 0.54 -0.03 0.43 0.13 0.55 0.03 0.53 0.02 0.54",
    "mt5_xnli": "- - - - - - 0.43 0.78 - - - -",
    "mt5_L_seahorse": "0.44 0.88 0.74 0.97 0.37 0.81 0.55 0.82 0.46 0.78 0.45 0.77",
    "mt5_seahorse": "0.52 0.90 0.86 0.98 0.45 0.84 0.59 0.85 0.50 0.80 0.52 0.81",
}
"""Pearson's rho and the area under the ROC curve of each question: Clark et al. 2023, Table 6."""
TABLE_8 = {MAJORITY: "0.5", ROUGE: "0.57", "mt5_seahorse": "0.87", "t5_nli": "0.79"}
"""Area under the ROC curve on SummEval: Clark et al. 2023, Table 8."""
HIGHEST = 5


def baselines(summaries: RatedSummaries) -> dict[str, Floats]:
    """Return the scores of the paper's two baselines; ROUGE-L only where there are articles."""
    found = {MAJORITY: np.ones(len(summaries.items))}
    if any(item.article for item in summaries.items):
        found[ROUGE] = summaries.rouge(variant="L", against="article", tokens="unicode")
    return found


def read_scores(path: Path, summaries: RatedSummaries) -> dict[str, Floats]:
    """Return the scores of a file by dimension. Exits if it scores a summary that is not there."""
    known = {item.id for item in summaries.items}
    by_dimension: dict[str, dict[str, float | None]] = {}
    for score in (each for entry in read_entries("scores", path) for each in entry.scores):
        identifier = f"{score.article_id}/{score.system}" if score.system else score.article_id
        if identifier not in known:
            raise SystemExit(f"{path.name}: id {identifier!r} is no summary of the rated file")
        by_dimension.setdefault(score.dimension, {})[identifier] = score.value
    return {dimension: summaries.column(by_id) for dimension, by_id in by_dimension.items()}


def table_6(
    summaries: RatedSummaries, scores_paths: Sequence[Path] = ()
) -> Iterator[tuple[str, list[float], str]]:
    """Yield each row's name, values and published values; rows of other scores come last."""
    scored = {name: {GENERAL: scores} for name, scores in baselines(summaries).items()}
    for path in scores_paths:
        scored.setdefault(path.name.partition(".")[0], {}).update(read_scores(path, summaries))
    for metric in dict.fromkeys([*TABLE_6, *scored]):
        by_dimension = scored.get(metric, {})
        values = [
            summaries.agreement(
                "pooled",
                coefficient,
                summaries.labels(question),
                by_dimension.get(question, by_dimension.get(GENERAL, summaries.column({}))),
            )
            for question in QUESTIONS.values()
            for coefficient in ("pearson", "roc_auc")
        ]
        yield metric, values, TABLE_6.get(metric, " ".join("-" * len(values)))


def table_8(summaries: RatedSummaries) -> Iterator[tuple[str, list[float], str]]:
    """Yield each row's name, value on SummEval and published value."""
    means = summaries.labels("consistency")
    consistent = np.where(np.isnan(means), np.nan, means == HIGHEST)
    scored = baselines(summaries)
    for metric, published in TABLE_8.items():
        value = (
            summaries.agreement("pooled", "roc_auc", consistent, scored[metric])
            if metric in scored
            else math.nan
        )
        yield metric, [value], published


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("ratings", type=Path)
    parser.add_argument("scores", type=Path, nargs="*")
    parser.add_argument("--articles", type=Path)
    parser.add_argument("--summeval", type=Path)
    given = parser.parse_args()
    summaries = read_summaries("seahorse", given.ratings, given.articles)
    print(f"{len(summaries.items):,} summaries")
    for name, question in QUESTIONS.items():
        labels = summaries.labels(question)
        print(f"  {name} {question}: {int((labels == 1).sum()):,} yes, {int((labels == 0).sum()):,} no")
    rows = list(table_6(summaries, given.scores))
    print_table("Clark et al. 2023, Table 6", list(QUESTIONS), ("rho", "roc"), rows)
    if given.summeval:
        summeval = read_summaries("bartscore", given.summeval, labels="{dimension}")
        print_table("Clark et al. 2023, Table 8", ("SummEval",), ("roc",), list(table_8(summeval)))


if __name__ == "__main__":
    main()
