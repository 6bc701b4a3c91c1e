"""Fixtures of learning curves: a rated project, and a trainer that only counts."""

from pathlib import Path

import pytest

from annotation.models import Project
from tests.factories import make_member
from tests.scoring.learning_curves.curve_projects import make_curve_project, use_curve_trainer


@pytest.fixture(autouse=True)
def _counting(monkeypatch: pytest.MonkeyPatch, settings, tmp_path: Path) -> None:
    use_curve_trainer(monkeypatch, settings, tmp_path)


@pytest.fixture
def project() -> Project:
    return make_curve_project()


@pytest.fixture
def researcher(project):
    return make_member(project, "researcher")
