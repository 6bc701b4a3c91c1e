"""SEAHORSE metrics trained on a small encoder from a few hundred ratings, beside baselines.

    OMP_NUM_THREADS=1 python benchmarks/training/seahorse.py DATA ENCODER WORK > docs/results_seahorse.md

DATA has the folders blanc_dailynews, xsum_hallucination and goyal2022; ENCODER is a folder with all-
MiniLM-L6-v2, as in benchmarks/summeval_results.py. Each model is kept in a folder of WORK and not trained
again, and a training that was stopped goes on. With `--nli FOLDER`, a classifier of entailment is a further
baseline.
"""

import argparse
import csv
import gzip
import json
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np

from annotation.declared.settings import read_settings
from annotation.texts.text_digests import text_digest
from metaeval.stats.correlation.coefficients import COEFFICIENTS
from metaeval.stats.correlation.levels import LEVELS
from metaeval.stats.rows import Resampling, Rows
from metaeval.stats.uncertainty.intervals import intervals
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.trainers.contract import CannotTrain, Point, TrainingItem
from scoring.trainers.seahorse import SeahorseTrainer
from scoring.weights.model_card import read_card

FOLDS = 3
LEVEL, INTERVAL, RESAMPLES = "pooled", "bootstrap_articles", 1000
COLUMNS = {"pearson": "Pearson's r", "roc_auc": "ROC AUC"}
TRAINING = {
    "learning_rate": 2e-4,
    "schedule": "linear",
    "warmup_share": 0.1,
    "epochs": 3,
    "batch_size": 8,
    "patience": 0,
    "max_length": 192,
    "test_share": 0,
    "validation_share": 0.2,
    "precision": "bfloat16",
}
BASELINES: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("Length in words", "length", {}),
    ("Copy rate", "copy_rate", {}),
    ("ROUGE-L against the article", "rouge", {"variant": "L", "against": "article"}),
    ("Embedding similarity to the article", "similarity", {"against": "article"}),
    ("BERTScore F1, layer 6, against the article", "bertscore", {"layer": "6", "against": "article"}),
)
WITH_MODEL = ("similarity", "bertscore")


@dataclass(frozen=True)
class Question:
    """Summaries with answers of yes and no to one question."""

    name: str
    title: str
    about: str
    items: list[TrainingItem]

    @property
    def labels(self) -> np.ndarray:
        return np.array([item.labels[self.name] for item in self.items])


def informative(data: Path) -> Question:
    rows = json.loads((data / "blanc_dailynews" / "DailyNews_300_aspects.json").read_text(encoding="utf-8"))
    items = [
        TrainingItem(
            f"{place:03}",
            text_digest(row["text"]),
            row["text"],
            row["summary"],
            language="en",
            labels={"informative": float(mean(row["map_quality_scores"]["Informative"]["scores"]) >= 3)},
        )
        for place, row in enumerate(rows)
    ]
    about = (
        "DailyNews (Vasilyev et al. 2020): news articles with three summaries each, rated by 9 or 10 people "
        "from 0 to 4. Yes is a mean of at least 3."
    )
    return Question("informative", "Informative (DailyNews)", about, items)


def attribution(data: Path) -> Question:
    with gzip.open(data / "goyal2022" / "test-500.xsum.json.gz", "rt", encoding="utf-8") as file:
        articles = {each["id"]: each["article"] for each in json.load(file).values()}
    spans: dict[tuple[str, str, str], dict[str, bool]] = defaultdict(dict)
    path = data / "xsum_hallucination" / "hallucination_annotations_xsum_summaries.csv"
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["bbcid"] in articles:
                marked = spans[row["bbcid"], row["system"], row["summary"]]
                found = row["hallucination_type"] != "NULL"
                marked[row["worker_id"]] = marked.get(row["worker_id"], False) or found
    items = [
        TrainingItem(
            f"{article}/{system}",
            article,
            articles[article],
            summary,
            language="en",
            labels={"attribution": float(sum(marked.values()) < len(marked) / 2)},
        )
        for (article, system, summary), marked in sorted(spans.items())
    ]
    about = (
        "XSum (Maynez et al. 2020): those articles whose texts are at hand, with five summaries each. Yes "
        "means that most annotators marked no hallucinated span."
    )
    return Question("attribution", "Attribution (XSum)", about, items)


class Printed:
    """Prints the validations to stderr."""

    def __init__(self, name: str) -> None:
        self._name = name

    def report(self, point: Point) -> None:
        if point.measures:
            shown = ", ".join(f"{name} {value:.3f}" for name, value in point.measures.items())
            print(f"{self._name}, step {point.step}: {shown}", file=sys.stderr)

    def is_cancelled(self) -> bool:
        return False


def fold_of(item: TrainingItem) -> int:
    return int(text_digest(item.article)[:8], 16) % FOLDS


def held_out_scores(question: Question, encoder: Path, work: Path) -> tuple[np.ndarray, list[str]]:
    """Return each summary's score by a model that has not seen its article, and the refusals."""
    scores, refusals = np.full(len(question.items), np.nan), []
    for fold in range(FOLDS):
        items = [replace(each, split="test" if fold_of(each) == fold else "") for each in question.items]
        given = {**TRAINING, "model": str(encoder), "dimensions": [question.name]}
        trainer = SeahorseTrainer(read_settings(SeahorseTrainer.Params, given, of="seahorse"))
        folder = work / f"{question.name}-{fold}"
        try:
            if not (folder / "model").exists():
                trainer.train(trainer.prepare(items), folder, Printed(folder.name), question.title)
        except CannotTrain as refusal:
            refusals.append(f"Fold {fold + 1} was not trained: {refusal}")
            continue
        card = read_card(folder / "model")
        held_out = [place for place, each in enumerate(items) if each.split == "test"]
        seen = {digest for digests in card.articles.values() for digest in digests}
        assert not seen & {text_digest(items[place].article) for place in held_out}
        model = {"model": str(folder / "model"), **card.params}
        scores[held_out] = scored("seahorse", model, [items[place] for place in held_out])
    return scores, refusals


def scored(evaluator: str, settings: dict[str, Any], items: list[TrainingItem]) -> np.ndarray:
    evaluator_class = load_evaluator(evaluator)
    found = evaluator_class(read_params(evaluator_class, settings)).score(
        [Item(each.id, each.summary, "en", each.article) for each in items]
    )
    return np.array([next(iter(each.values.values())) for each in found])


def section(question: Question, encoder: Path, work: Path, nli: Path | None) -> list[str]:
    rows = [("Majority class", np.full(len(question.items), 0.0))]
    for title, evaluator, settings in BASELINES:
        model = {"model": str(encoder)} if evaluator in WITH_MODEL else {}
        rows.append((title, scored(evaluator, {**model, **settings}, question.items)))
    if nli:
        rows.append(("Entailment", scored("entailment", {"model": str(nli)}, question.items)))
    scores, notes = held_out_scores(question, encoder, work)
    rows.append(("Trained encoder", scores))
    common = ~np.isnan([scores for _, scores in rows]).any(axis=0)
    articles = np.unique([text_digest(each.article) for each in question.items], return_inverse=True)[1]
    kept, labels = articles[common], question.labels[common]
    systems = np.full(len(kept), -1)
    scores = np.array([each[common] for _, each in rows])
    cells = []
    for coefficient in COLUMNS:
        ranges = intervals(
            INTERVAL,
            LEVEL,
            coefficient,
            Rows(labels, scores, kept, systems, yes_no=True),
            Resampling(RESAMPLES),
        )
        estimates = [
            LEVELS[LEVEL]
            .estimate(COEFFICIENTS[coefficient], Rows(labels, each, kept, systems, yes_no=True))
            .value
            for each in scores
        ]
        cells.append([shown(value, each) for value, each in zip(estimates, ranges, strict=True)])
    answers = Counter(labels)
    learnt = len(labels) * (FOLDS - 1) / FOLDS * (1 - TRAINING["validation_share"])
    return [
        f"## {question.title}",
        "",
        f"{question.about} {len(set(kept))} articles, {len(labels)} summaries, {answers[1.0]} with yes; "
        f"each model learns from about {learnt:.0f}.",
        *(f"\n{note}" for note in notes),
        "",
        f"| evaluator | {' | '.join(COLUMNS.values())} |",
        "| --- |" + " --- |" * len(COLUMNS),
        *(
            f"| {title} | {' | '.join(each)} |"
            for (title, _), each in zip(rows, zip(*cells, strict=True), strict=True)
        ),
        "",
    ]


def shown(value: float, interval: Any) -> str:
    if np.isnan(value):
        return "undefined"
    return f"{value:.3f}" + ("" if np.isnan(interval.low) else f" [{interval.low:.3f}, {interval.high:.3f}]")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--nli", type=Path)
    given = parser.parse_args()
    settings = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in TRAINING.items())
    lines = [
        "# Results of trained SEAHORSE metrics",
        "",
        "Made by `benchmarks/training/seahorse.py`; do not edit.",
        "",
        "all-MiniLM-L6-v2 (6 layers, 384 wide) with a new head, trained to answer one question. "
        f"{FOLDS} models: each scores a part of the articles, of which it has seen nothing, and is trained "
        f"and chosen on the others. {settings[0].upper()}{settings[1:]}; the checkpoint with the best "
        "Pearson's r on validation articles; seed 0.",
        "",
        "The coefficients are pooled over all summaries. Brackets show the 95% percentile interval of "
        f"{RESAMPLES:,} resamples of articles. Models and training data are hundreds of times smaller than "
        "the authors': these tables show what the method gives at this size, not what the paper's metrics "
        "give. No classifier of entailment could be had on the machine that made the tables; `--nli FOLDER` "
        "adds its row.",
        "",
    ]
    for question in (informative(given.data), attribution(given.data)):
        lines += section(question, given.encoder, given.work, given.nli)
    sys.stdout.write("\n".join(lines))


if __name__ == "__main__":
    main()
