"""Table 1 of ICE (Jain et al. 2023) from the authors' file, beside the published values.

    python docs/examples/ice_tables.py data_sms.json

The file is in the authors' repository, JainSameer06/ICE: 96 of SummEval's articles by 16 systems, with labels
of experts and the scores of ICE and UniEval. The coefficients are pooled over its 1,536 summaries; the paper
calls this 'summary-level'. It cuts values to three digits instead of rounding them: a difference from 0 to
+0.001 means that the digits are equal.

- UniEval: the file's scores do not give the published row. On fluency, for which UniEval reads the summary
  alone, identical summaries of an article have different scores. They seem to stand beside other summaries.
- CTC and BARTScore: the file has no such scores, and making them needs the models.
- Table 2: the file has none of its summaries, ratings and scores. ICE's were made by a paid model.
"""

import argparse
import math
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from docs.examples.papers import RatedSummaries, print_table, read_summaries

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
COEFFICIENTS = ("spearman", "kendall_b")
TABLE_1 = {
    "CTC": "- - 0.425 0.340 - - 0.495 0.364",
    "BARTScore": "0.445 0.340 0.380 0.314 0.345 0.283 0.357 0.274",
    "UniEval": "0.591 0.424 0.433 0.348 0.445 0.349 0.473 0.343",
    "ICE (Uniform Sampling)": "0.476 0.388 0.486 0.466 0.366 0.328 0.467 0.384",
    "ICE (Stratified Sampling)": "0.497 0.387 0.298 0.263 0.397 0.348 0.485 0.396",
}
"""Spearman's rho and Kendall's tau of each dimension: Jain et al. 2023, Table 1."""
EVALUATORS = {
    "UniEval": "unieval",
    "ICE (Uniform Sampling)": "ice_uniform",
    "ICE (Stratified Sampling)": "ice_stratified",
}
"""The name in the file of each row."""


def read_ice(path: Path) -> RatedSummaries:
    return read_summaries("bartscore", path, labels="human_score_{dimension}", no_references=True)


def table_1(summaries: RatedSummaries) -> Iterator[tuple[str, list[float], str]]:
    """Yield each row's name, values and published values."""
    for metric, published in TABLE_1.items():
        evaluator = EVALUATORS.get(metric)
        values = [
            math.nan
            if evaluator is None
            else summaries.agreement(
                "pooled", coefficient, summaries.labels(dimension), summaries.scores(evaluator, dimension)
            )
            for dimension in DIMENSIONS
            for coefficient in COEFFICIENTS
        ]
        yield metric, values, published


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("data", type=Path, metavar="data_sms.json")
    summaries = read_ice(parser.parse_args().data)
    print(f"{len(summaries.items):,} summaries")
    print_table("Jain et al. 2023, Table 1", DIMENSIONS, ("rho", "tau"), list(table_1(summaries)))


if __name__ == "__main__":
    main()
