"""Fixtures of trainings: a rated project, a trainer that only counts, and folders of their own."""

from pathlib import Path

import pytest

from annotation.models import Project
from scoring.trainers import TRAINERS
from tests.factories import make_article, make_project, make_summary
from tests.scoring.runs.test_planning import rate


@pytest.fixture(autouse=True)
def folders(monkeypatch: pytest.MonkeyPatch, settings, tmp_path: Path) -> Path:
    monkeypatch.setitem(TRAINERS, "counting", "tests.scoring.training.counting_trainer.CountingTrainer")
    monkeypatch.setenv("WEIGHTS_DIR", str(tmp_path / "weights"))
    settings.VAR_DIR = tmp_path / "var"
    return tmp_path


@pytest.fixture
def project() -> Project:
    """Create a project with rated summaries of three training, two validation and two test articles."""
    made = make_project()
    for split, times in (("train", 3), ("validation", 2), ("test", 2)):
        for number in range(times):
            article = make_article(made, external_id=f"{split}-{number}", split=split)
            rate(make_summary(made, article=article), attribution="yes" if number % 2 else "no")
    return made
