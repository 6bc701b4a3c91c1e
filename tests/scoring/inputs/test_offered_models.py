"""A project may use its own models and the operator's, and learns nothing of those of other projects."""

import shutil

import pytest

from scoring.errors import InvalidRun, InvalidTraining
from scoring.evaluators import load_evaluator
from scoring.inputs.offered_models import locate_for, models_on_offer, tables_on_offer
from scoring.models import RegisteredModel, Training
from scoring.runs.forms import RunForm
from scoring.runs.planning import plan
from scoring.training.planning import plan_training
from scoring.weights.model_files import MissingWeights
from tests.factories import make_project
from tests.scoring.tiny_models import tiny_model

pytestmark = pytest.mark.django_db


@pytest.fixture
def others(tmp_path, monkeypatch):
    """Install a model for all, and two of another project; return a project that has none."""
    monkeypatch.setenv("WEIGHTS_DIR", str(tmp_path))
    other = make_project()
    Training.objects.create(project=other, name="secret", method="seahorse")
    RegisteredModel.objects.create(project=other, name="hidden", source="any")
    for model in ("plain", "trained/for-all", "trained/secret", "trained/hidden"):
        shutil.copytree(tiny_model("bert"), tmp_path / model)
    (tmp_path / "trained/secret/idf.tsv").write_text("a\t1\n")
    return other


def test_lists_have_no_model_of_another_project(others):
    project = make_project()
    assert models_on_offer(project) == ["plain", "trained/for-all"]
    assert tables_on_offer(project) == []
    assert models_on_offer(others) == ["plain", "trained/for-all", "trained/hidden", "trained/secret"]
    assert tables_on_offer(others) == ["trained/secret/idf.tsv"]
    [(_, offered)] = RunForm(project, load_evaluator("similarity")).lists()
    assert offered == ["plain", "trained/for-all"]


@pytest.mark.parametrize("model", ["trained/secret", "trained/hidden", "./trained//secret/", "trained/none"])
def test_another_projects_model_is_refused_as_one_that_does_not_exist(others, model):
    project = make_project()
    with pytest.raises(
        MissingWeights, match=f"no trained model '{model}'.* deleted or renamed, or belong to"
    ):
        locate_for(project, model)
    with pytest.raises(InvalidRun, match="has no trained model"):
        plan(project, "similarity", {"model": model})
    with pytest.raises(InvalidTraining, match="'model': This project has no trained model"):
        plan_training(project, "seahorse", {"model": model, "dimensions": "attribution"})
    form = RunForm(project, load_evaluator("similarity"), {"param_model": model})
    assert "has no trained model" in form.errors["param_model"][0]


def test_own_models_and_the_operators_are_found(others):
    assert locate_for(others, "trained/secret").name == "secret"
    assert locate_for(make_project(), "trained/for-all").name == "for-all"
