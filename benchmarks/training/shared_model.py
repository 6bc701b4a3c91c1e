"""One SEAHORSE metric for five questions beside one for each, on the same articles: differences in pairs.

    OMP_NUM_THREADS=1 python benchmarks/training/shared_model.py DATA ENCODER WORK > docs/results_shared.md

DATA has the folder blanc_dailynews; ENCODER is a folder with all-MiniLM-L6-v2. The scores of each model are
kept in WORK, and a training whose scores are there is not repeated.
"""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from benchmarks.training.seahorse_agreement import COLUMNS, LEVEL, RESAMPLING, cells, rows_of, shown
from benchmarks.training.seahorse_models import FOLDS, Setting, in_words, make_records, networks
from benchmarks.training.seahorse_questions import Questions, five_questions
from metaeval.stats.rows import Rows
from metaeval.stats.uncertainty.bootstrap import Bootstrap

TRAINING = {
    "learning_rate": 1e-4,
    "schedule": "linear",
    "warmup_share": 0.1,
    "epochs": 3,
    "batch_size": 8,
    "patience": 0,
    "max_length": 128,
    "attention_dropout": False,
    "test_share": 0,
    "validation_share": 0.2,
    "precision": "bfloat16",
}
COLUMN = "roc_auc"
"""The coefficient that is compared."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--jobs", type=int, default=1, help="trainings at once")
    given = parser.parse_args()
    questions = five_questions(given.data)
    settings = [Setting("shared", questions, given.encoder, TRAINING)]
    settings += [
        Setting(f"own-{name}", replace(questions, names=(name,)), given.encoder, TRAINING)
        for name in questions.names
    ]
    make_records(settings, 1, given.work, given.jobs)
    trained = [networks(each, 1, given.work) for each in settings]
    refusals = [each for _, refused in trained for each in refused]
    [shared], *each_own = [found for found, _ in trained]
    rows = [
        rows_of(questions, name, np.array([own.scores[name], shared.scores[name]]))
        for name, [own] in zip(questions.names, each_own, strict=True)
    ]
    sys.stdout.write("\n".join([*head(questions, refusals), *table(questions, rows), ""]))


def head(questions: Questions, refusals: list[str]) -> list[str]:
    return [
        "# One model for all questions or one for each",
        "",
        "Made by `benchmarks/training/shared_model.py`; do not edit.",
        "",
        f"{questions.about} {len(set(questions.articles))} articles, {len(questions.items)} summaries. "
        f"all-MiniLM-L6-v2 with a new head; {FOLDS} models each, which score articles that they have not "
        "seen. A shared model reads the question before article and summary, and learns from the answers to "
        f"all. Both have the same articles and epochs. {in_words(TRAINING)}; the checkpoint with the best "
        "Pearson's r on validation articles, the mean over questions for a shared model; seed 0.",
        "",
        f"Brackets show 95% percentile intervals of {RESAMPLING.resamples:,} resamples of articles; "
        "differences are taken within each resample.",
        *(f"\n{each}" for each in refusals),
        "",
    ]


def table(questions: Questions, rows: list[Rows]) -> list[str]:
    column = list(COLUMNS).index(COLUMN)
    values, draws = [], []
    lines = [
        f"| question | yes | one model each: {COLUMNS[COLUMN]} | shared model: {COLUMNS[COLUMN]} "
        "| shared − each |",
        "| --- | --- | --- | --- | --- |",
    ]
    for name, each in zip(questions.names, rows, strict=True):
        bootstrap = Bootstrap("articles", LEVEL, COLUMN, each, RESAMPLING)
        values.append(bootstrap.values(np.ones((bootstrap.unit_count, 1)))[:, 0])
        draws.append(bootstrap.replicates)
        own, shared = (cell[column] for cell in cells(each))
        lines.append(
            f"| {name} | {each.labels.sum():.0f} | {own} | {shared} | {difference(values[-1], draws[-1])} |"
        )
    value, drawn = np.mean(values, axis=0), np.mean(draws, axis=0)
    own, shared = (shown(one, *ends(many)) for one, many in zip(value, drawn, strict=True))
    return [*lines, f"| mean | | {own} | {shared} | {difference(value, drawn)} |"]


def difference(values: np.ndarray, draws: np.ndarray) -> str:
    """Return the shared model's value minus the other's, with its interval."""
    return shown(values[1] - values[0], *ends(draws[1] - draws[0]))


def ends(draws: np.ndarray) -> tuple[float, float]:
    low, high = np.nanpercentile(draws, [2.5, 97.5])
    return float(low), float(high)


if __name__ == "__main__":
    main()
