"""Projects for trainings by the trainer that only counts."""

from pathlib import Path
from typing import Any

import pytest

from annotation.models import Project
from scoring.trainers import TRAINERS
from scoring.weights.model_card import ModelCard, write_card
from scoring.weights.trained_models import folder_of
from tests.factories import make_article, make_project, make_summary
from tests.scoring.runs.test_planning import rate


def use_counting_trainer(monkeypatch: pytest.MonkeyPatch, settings: Any, folder: Path) -> None:
    """Add the trainer to the table, and put weights and trainings into folders of the test."""
    monkeypatch.setitem(TRAINERS, "counting", "tests.scoring.training.counting_trainer.CountingTrainer")
    monkeypatch.setenv("WEIGHTS_DIR", str(folder / "weights"))
    settings.VAR_DIR = folder / "var"


def make_trained_model(name: str) -> None:
    """Install a model without weights, for tests that only look at its card."""
    folder_of(name).mkdir(parents=True)
    card = ModelCard(
        method="seahorse",
        title="A model",
        evaluator="seahorse",
        dimensions=("attribution",),
        base_model="tiny",
        weights_sha256="",
    )
    write_card(folder_of(name), card)


def make_counted_project() -> Project:
    """Create a project with rated summaries of three training, two validation and two test articles."""
    made = make_project()
    for split, times in (("train", 3), ("validation", 2), ("test", 2)):
        for number in range(times):
            article = make_article(made, external_id=f"{split}-{number}", split=split)
            rate(make_summary(made, article=article), attribution="yes" if number % 2 else "no")
    return made
