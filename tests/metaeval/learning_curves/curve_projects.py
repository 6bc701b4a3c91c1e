"""Projects for learning curves, and a trainer that counts what the shares leave it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from annotation.declared.settings import setting
from annotation.models import Project, Summary
from metaeval.learning_curves.planning import CurveRequest, plan_learning_curve, start_learning_curve
from scoring.models import CurveModel, LearningCurve, Training
from scoring.trainers import TRAINERS
from scoring.trainers.contract import TrainingData, TrainingItem
from scoring.trainers.splits import Split, SplitParams, split_articles
from tests.factories import make_article, make_project, make_summary
from tests.metaeval.rated_projects import make_setup, score
from tests.scoring.runs.test_planning import rate
from tests.scoring.training.counted_projects import use_counting_trainer
from tests.scoring.training.counting_trainer import CountingTrainer

SHARES = (0.25, 1.0)


class SharedCountingTrainer(CountingTrainer):
    """Counts, after the split that real trainers make."""

    name = "sharing"
    examples = "answers"

    @dataclass(frozen=True)
    class Params(SplitParams):
        steps: int = setting(2, label="Steps", help="How far to count.", low=1)
        dimension: str = setting("attribution", label="Dimension", help="Whose labels to take.")
        epochs: int = setting(2, label="Epochs", help="Passes over the examples.", low=1)
        seed: int = setting(0, label="Seed", help="Of nothing.", low=0)

    params: Params

    def prepare(self, items: Iterable[TrainingItem]) -> TrainingData:
        articles = split_articles(items, self.params)
        kept = [
            replace(item, split=str(each.split))
            for each in articles
            if each.split is not Split.TEST
            for item in each.items
        ]
        return super().prepare(kept)


def use_curve_trainer(monkeypatch: pytest.MonkeyPatch, settings: Any, folder: Path) -> None:
    """Add the trainer to the table, and put weights and trainings into folders of the test."""
    use_counting_trainer(monkeypatch, settings, folder)
    monkeypatch.setitem(
        TRAINERS, "sharing", "tests.metaeval.learning_curves.curve_projects.SharedCountingTrainer"
    )


def make_curve_project(tested: int = 3) -> Project:
    """Create a project with rated summaries of eight training, one validation and some test articles."""
    made = make_project()
    for split, times in (("train", 8), ("validation", 1), ("test", tested)):
        for number in range(times):
            article = make_article(made, external_id=f"{split}-{number}", split=split)
            rate(make_summary(made, article=article), attribution="yes" if number % 2 else "no")
    return made


def wanted(**changes: Any) -> CurveRequest:
    return replace(CurveRequest("Mine", "sharing", SHARES, 2), **changes)


def make_curve(project: Project, **changes: Any) -> LearningCurve:
    return start_learning_curve(plan_learning_curve(project, wanted(**changes)), None)


def finish_without_models(curve: LearningCurve, scores: dict[CurveModel, dict[Summary, float]]) -> None:
    """Store scores as if each model had been trained and had scored."""
    for number, (model, values) in enumerate(scores.items()):
        setup = make_setup(curve.project, f"curve model {curve.pk}-{number}")
        score(setup, values)
        Training.objects.filter(curve_model=model).update(status=Training.Status.DONE)
        CurveModel.objects.filter(pk=model.pk).update(setup=setup, is_handed_over=True)
