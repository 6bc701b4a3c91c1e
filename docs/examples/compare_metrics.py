"""Which metric agrees with SummEval's experts: a table from files, with Touchstone's statistics alone.

    python docs/examples/compare_metrics.py model_annotations.aligned.paired.jsonl rouge.jsonl bertscore.jsonl

The first file is SummEval's release (plain or .gz). Each other one holds a metric's scores, a summary a line:
{"id": "<SummEval's id>/<model_id>", "scores": {"general": 0.31}}, with a dimension's own name in place of
"general" where the metric has a score for each; null for none. Neither Django nor a database is needed.
"""

import argparse
import gzip
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.rows import Rows
from metaeval.stats.significance.compare_pairs import compare_pairs
from metaeval.stats.significance.corrections import holm
from metaeval.stats.significance.rank_clusters import rank_clusters
from metaeval.stats.uncertainty.intervals import intervals

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
LEVEL, COEFFICIENT, INTERVAL, TEST = "article", "kendall_b", "bootstrap_articles", "bootstrap_articles"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("annotations", type=Path)
    parser.add_argument("scores", type=Path, nargs="+")
    given = parser.parse_args()

    rows = list(lines(given.annotations))
    places = {f"{row['id']}/{row['model_id']}": place for place, row in enumerate(rows)}
    articles = np.unique([row["id"] for row in rows], return_inverse=True)[1]
    systems = np.unique([row["model_id"] for row in rows], return_inverse=True)[1]
    metrics = [path.name.partition(".")[0] for path in given.scores]
    said = [{line["id"]: line["scores"] for line in lines(path)} for path in given.scores]

    for dimension in DIMENSIONS:
        labels = np.array([np.mean([each[dimension] for each in row["expert_annotations"]]) for row in rows])
        scores = np.full((len(metrics), len(rows)), np.nan)
        for metric, by_id in enumerate(said):
            for identifier, values in by_id.items():
                value = values.get(dimension, values.get("general"))
                if value is not None:
                    scores[metric, places[identifier]] = value
        estimates = [
            LEVELS[LEVEL].estimate(COEFFICIENTS[COEFFICIENT], Rows(labels, each, articles, systems))
            for each in scores
        ]
        ranges = intervals(INTERVAL, LEVEL, COEFFICIENT, Rows(labels, scores, articles, systems))
        tests = compare_pairs(TEST, LEVEL, COEFFICIENT, Rows(labels, scores, articles, systems))
        above = np.triu_indices(len(metrics), 1)
        differs = np.zeros((len(metrics), len(metrics)), dtype=bool)
        differs[above] = holm(tests.p_values[above]) < 0.05
        letters = rank_clusters([each.value for each in estimates], differs | differs.T)

        print(f"\n{dimension}: {estimates[0].definition.partition(':')[0]}")
        table = zip(metrics, estimates, ranges, letters, strict=True)
        for metric, estimate, interval, letter in table:
            left_out = "; ".join(f"{why}: {count}" for why, count in estimate.left_out.items())
            print(
                f"  {metric:20} {estimate.value:6.3f}  [{interval.low:6.3f}, {interval.high:6.3f}]"
                f"  {letter:3} {estimate.articles} articles, {estimate.n} summaries {left_out}"
            )
    print("\nSame letter: not significantly different.")
    print(f"{tests.definition} Holm's correction within a dimension.")


def lines(path: Path) -> Iterator[dict]:
    open_text = gzip.open if path.suffix == ".gz" else open
    with open_text(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


if __name__ == "__main__":
    main()
