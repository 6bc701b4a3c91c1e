"""Trained SEAHORSE metrics that score articles they have not seen, and how they agree with people."""

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from annotation.declared.settings import read_settings
from annotation.texts.text_digests import text_digest
from benchmarks.training.seahorse_questions import Questions
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
LEVEL, INTERVAL = "pooled", "bootstrap_articles"
RESAMPLING = Resampling(1000)
COLUMNS = {"pearson": "Pearson's r", "roc_auc": "ROC AUC"}


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


def held_out_scores(
    questions: Questions, base: Path, training: dict[str, Any], folder: Path
) -> tuple[dict[str, np.ndarray], list[str]]:
    """Return question -> each summary's score by a model that has not seen its article, and the refusals.

    A model that is in `folder` is not trained again.
    """
    scores = {name: np.full(len(questions.items), np.nan) for name in questions.names}
    refusals = []
    for fold in range(FOLDS):
        items = [replace(each, split="test" if fold_of(each) == fold else "") for each in questions.items]
        given = {**training, "model": str(base), "dimensions": list(questions.names)}
        trainer = SeahorseTrainer(read_settings(SeahorseTrainer.Params, given, of="seahorse"))
        own = folder.with_name(f"{folder.name}-{fold}")
        try:
            if not (own / "model").exists():
                trainer.train(trainer.prepare(items), own, Printed(own.name), questions.title)
        except CannotTrain as refusal:
            refusals.append(f"Fold {fold + 1} was not trained: {refusal}")
            continue
        card = read_card(own / "model")
        assert card is not None
        held_out = [place for place, each in enumerate(items) if each.split == "test"]
        seen = {digest for digests in card.articles.values() for digest in digests}
        assert not seen & {text_digest(items[place].article) for place in held_out}
        model = {"model": str(own / "model"), **card.params}
        for name, values in scored("seahorse", model, [items[place] for place in held_out]).items():
            scores[name][held_out] = values
    return scores, refusals


def fold_of(item: TrainingItem) -> int:
    return int(text_digest(item.article)[:8], 16) % FOLDS


def scored(evaluator: str, settings: dict[str, Any], items: list[TrainingItem]) -> dict[str, np.ndarray]:
    """Return dimension -> the items' scores."""
    evaluator_class = load_evaluator(evaluator)
    found = evaluator_class(read_params(evaluator_class, settings)).score(
        [Item(each.id, each.summary, "en", each.article) for each in items]
    )
    return {name: np.array([each.values[name] for each in found]) for name in found[0].values}


def rows_of(questions: Questions, name: str, scores: np.ndarray) -> Rows:
    """Return the rows of evaluators whose `scores` [evaluators, summaries] answer the question."""
    unknown = np.full(len(questions.items), -1)
    return Rows(questions.labels(name), scores, questions.articles, unknown, yes_no=True)


def cells(rows: Rows) -> list[list[str]]:
    """Return the cells of each evaluator, one for each of COLUMNS: its value and interval."""
    columns = []
    for coefficient in COLUMNS:
        ranges = intervals(INTERVAL, LEVEL, coefficient, rows, RESAMPLING)
        values = [LEVELS[LEVEL].estimate(COEFFICIENTS[coefficient], own).value for own in rows.each]
        columns.append(
            [shown(value, each.low, each.high) for value, each in zip(values, ranges, strict=True)]
        )
    return [list(each) for each in zip(*columns, strict=True)]


def within_folds(questions: Questions, rows: Rows) -> str:
    """Return the ROC AUC of one evaluator on the articles of each fold."""
    folds = np.array([fold_of(each) for each in questions.items])
    coefficient = COEFFICIENTS["roc_auc"]
    values = [LEVELS[LEVEL].estimate(coefficient, rows.at(folds == fold)).value for fold in range(FOLDS)]
    return ", ".join(shown(value, np.nan, np.nan) for value in values)


def shown(value: float, low: float, high: float) -> str:
    if np.isnan(value):
        return "undefined"
    return f"{value:.3f}" + ("" if np.isnan(low) else f" [{low:.3f}, {high:.3f}]")


def in_words(training: dict[str, Any]) -> str:
    """Return parameters as a sentence without its full stop."""
    settings = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in training.items())
    return settings[0].upper() + settings[1:]
