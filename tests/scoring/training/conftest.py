"""Fixtures of trainings: a rated project, and a trainer that only counts."""

from pathlib import Path

import pytest

from annotation.models import Project
from tests.scoring.training.counted_projects import make_counted_project, use_counting_trainer


@pytest.fixture(autouse=True)
def _counting(monkeypatch: pytest.MonkeyPatch, settings, tmp_path: Path) -> None:
    use_counting_trainer(monkeypatch, settings, tmp_path)


@pytest.fixture
def project() -> Project:
    return make_counted_project()
