"""SEAHORSE metrics that score articles they have not seen: trained side by side, kept as scores only."""

import json
import multiprocessing
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from annotation.declared.settings import read_settings
from annotation.texts.text_digests import sha256_of, text_digest
from benchmarks.training.seahorse_questions import Questions
from scoring.contract.items import Item
from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.trainers.contract import CannotTrain, Point, TrainingItem
from scoring.trainers.seahorse import SeahorseTrainer
from scoring.weights.model_card import read_card

FOLDS = 3
TRAINING = {
    "learning_rate": 1e-4,
    "schedule": "linear",
    "warmup_share": 0.1,
    "epochs": 6,
    "batch_size": 8,
    "patience": 0,
    "max_length": 256,
    "attention_dropout": False,
    "test_share": 0,
    "validation_share": 0.2,
    "precision": "bfloat16",
}
SUMMEVAL_TRAINING = {**TRAINING, "batch_size": 16, "max_length": 512}
"""More summaries, and articles of which 256 tokens would hold less than half."""
ROUGE = "ROUGE-L against the article"
BERTSCORE = "BERTScore F1, layer 6, against the article"
Baseline = tuple[str, str, dict[str, str]]
"""Title, evaluator, parameters."""


def baselines_with(encoder: Path) -> list[Baseline]:
    """Return the evaluators that trained networks are compared with."""
    model = {"model": str(encoder)}
    return [
        ("Length in words", "length", {}),
        ("Copy rate", "copy_rate", {}),
        (ROUGE, "rouge", {"variant": "L", "against": "article"}),
        ("Embedding similarity to the article", "similarity", {**model, "against": "article"}),
        (BERTSCORE, "bertscore", {**model, "layer": "6", "against": "article"}),
    ]


@dataclass(frozen=True)
class Setting:
    """A way of training. Each of its seeds, and each part of the articles, is a training of its own."""

    name: str
    """A slug, for the names of its records."""
    questions: Questions
    base: Path
    training: dict[str, Any]
    share: float = 1.0
    """Share of the training articles."""

    def record(self, work: Path, seed: int, fold: int) -> Path:
        return work / f"{self.name}-{100 * self.share:g}-{seed}-{fold}.json"

    def params(self, seed: int) -> dict[str, Any]:
        """Return the trainer's parameters, without the base model."""
        varied = {"training_share": self.share, "share_seed": seed, "seed": seed}
        return {**self.training, **varied, "dimensions": list(self.questions.names)}


@dataclass(frozen=True, eq=False)
class Network:
    """One seed of a setting: the models of all parts together."""

    scores: dict[str, np.ndarray]
    """Question -> each summary's score by the model that has not seen its article."""
    articles: float
    """Training articles, the mean over the parts."""
    summaries: float
    """Training summaries of each question, likewise."""
    minutes: float
    """All its trainings, one after another."""
    device: str


class Printed:
    """Prints the validations to standard error."""

    def __init__(self, name: str) -> None:
        self._name = name

    def report(self, point: Point) -> None:
        if point.measures:
            shown = ", ".join(f"{name} {value:.3f}" for name, value in point.measures.items())
            print(f"{self._name}, step {point.step}: {shown}", file=sys.stderr, flush=True)

    def is_cancelled(self) -> bool:
        return False


def make_records(
    settings: Sequence[Setting], seeds: int, work: Path, jobs: int, evaluators: Sequence[Baseline] = ()
) -> None:
    """Train each setting with so many seeds, and let `evaluators` score its summaries.

    A training whose record is in `work` is not repeated.
    """
    work.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        sets = {each.questions.data: each.questions for each in settings}
        started = [pool.submit(score_baselines, each, evaluators, work) for each in sets.values()]
        started += [
            pool.submit(train, setting, seed, fold, work)
            for seed in range(seeds)
            for setting in settings
            for fold in range(FOLDS)
        ]
        for each in started:
            each.result()


def train(setting: Setting, seed: int, fold: int, work: Path) -> None:
    """Train on the articles of the other parts, score the part, and write the record."""
    questions, path = setting.questions, setting.record(work, seed, fold)
    items = [replace(each, split="test" if fold_of(each) == fold else "") for each in questions.items]
    held_out = [each for each in items if each.split == "test"]
    params = setting.params(seed)
    given = read_settings(SeahorseTrainer.Params, {**params, "model": str(setting.base)}, of="seahorse")
    trainer = SeahorseTrainer(given)
    try:
        data = trainer.prepare(items)
    except CannotTrain as refusal:
        path.write_text(json.dumps({"refusal": str(refusal)}))
        return
    digest = sha256_of([params, data.digest, [each.id for each in held_out]])
    if path.exists() and json.loads(path.read_text()).get("digest") == digest:
        return
    with TemporaryDirectory() as folder:
        trainer.train(data, Path(folder), Printed(path.stem), questions.title)
        model = Path(folder) / "model"
        card = read_card(model)
        assert card is not None
        seen = {digest for digests in card.articles.values() for digest in digests}
        assert not seen & {text_digest(each.article) for each in held_out}
        scores = scored("seahorse", {"model": str(model), **card.params}, held_out)
    record = {
        "digest": digest,
        "seed": seed,
        "share": setting.share,
        "articles": len(data.articles["train"]),
        "summaries": len(data.train) / len(questions.names),
        "best_step": card.trained_with["best_step"],
        "device": card.trained_with["device"],
        "base_model_sha256": card.trained_with["base_model_sha256"],
        "minutes": round(60 * card.trained_with["hours"], 2),
        "scores": {name: by_id(held_out, values) for name, values in scores.items()},
    }
    path.write_text(json.dumps(record))
    print(f"{path.stem}: {record['minutes']} minutes", file=sys.stderr, flush=True)


def score_baselines(questions: Questions, evaluators: Sequence[Baseline], work: Path) -> None:
    """Write the scores of evaluators that learn nothing from the ratings."""
    path = baselines_path(work, questions)
    there = json.loads(path.read_text()) if path.exists() else {}
    ids = {each.id for each in questions.items}
    for title, evaluator, settings in evaluators:
        if there.get(title, {}).keys() != ids:
            [values] = scored(evaluator, settings, questions.items).values()
            there[title] = by_id(questions.items, values)
    path.write_text(json.dumps(there))


def baselines(work: Path, questions: Questions) -> dict[str, np.ndarray]:
    """Return title -> each summary's score by an evaluator without training."""
    found = json.loads(baselines_path(work, questions).read_text())
    ids = [each.id for each in questions.items]
    return {title: np.array([scores[each] for each in ids]) for title, scores in found.items()}


def baselines_path(work: Path, questions: Questions) -> Path:
    return work / f"baselines-{questions.data}.json"


def networks(setting: Setting, seeds: int, work: Path) -> tuple[list[Network], list[str]]:
    """Return those seeds of a setting that have all records, and what the trainer refused."""
    found, refusals = [], []
    for seed in range(seeds):
        paths = [setting.record(work, seed, fold) for fold in range(FOLDS)]
        records = [json.loads(path.read_text()) for path in paths if path.exists()]
        refused = [each["refusal"] for each in records if "refusal" in each]
        refusals += [f"{setting.share:.0%} of the articles, seed {seed}: {each}" for each in refused]
        if len(records) == FOLDS and not refused:
            found.append(_network(setting.questions, records))
    return found, refusals


def _network(questions: Questions, records: Sequence[dict[str, Any]]) -> Network:
    scores = {}
    for name in questions.names:
        by_item = {key: value for record in records for key, value in record["scores"][name].items()}
        scores[name] = np.array([by_item[each.id] for each in questions.items])
    return Network(
        scores,
        mean(record["articles"] for record in records),
        mean(record["summaries"] for record in records),
        sum(record["minutes"] for record in records),
        records[0]["device"],
    )


def fold_of(item: TrainingItem) -> int:
    return int(text_digest(item.article)[:8], 16) % FOLDS


def scored(evaluator: str, settings: dict[str, Any], items: list[TrainingItem]) -> dict[str, np.ndarray]:
    """Return dimension -> the items' scores."""
    evaluator_class = load_evaluator(evaluator)
    found = evaluator_class(read_params(evaluator_class, settings)).score(
        [Item(each.id, each.summary, "en", each.article) for each in items]
    )
    return {name: np.array([each.values[name] for each in found]) for name in found[0].values}


def by_id(items: Sequence[TrainingItem], values: np.ndarray) -> dict[str, float]:
    return {item.id: float(f"{value:.7g}") for item, value in zip(items, values, strict=True)}


def in_words(training: dict[str, Any]) -> str:
    """Return parameters as a sentence without its full stop."""
    settings = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in training.items())
    return settings[0].upper() + settings[1:]
