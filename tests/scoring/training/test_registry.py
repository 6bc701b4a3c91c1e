"""Trained models of a project: its own and imported ones, and their way to another Touchstone."""

import io

import pytest

from annotation.errors import NotAllowed, NotFound
from scoring.errors import InvalidTraining
from scoring.models import RegisteredModel
from scoring.training.planning import plan_training, start_training
from scoring.training.registry import import_model, install_model, model_of, models_of
from scoring.training.worker import work_on_training
from scoring.weights.model_archives import packed
from scoring.weights.trained_models import TrainedModel, remove
from tests.factories import make_member, make_project, make_rater

pytestmark = pytest.mark.django_db

MOST = 2**24


@pytest.fixture
def model(project) -> TrainedModel:
    work_on_training(start_training(plan_training(project, "counting", {}), None, "mine").pk)
    [found] = models_of(project)
    return found


@pytest.fixture
def file(model) -> io.BytesIO:
    return io.BytesIO(b"".join(packed(model)))


def test_models_of_other_projects_are_not_listed(model):
    other = make_project()
    assert models_of(other) == []
    with pytest.raises(NotFound):
        model_of(other, "mine")


def test_an_imported_model_is_the_projects(project, model, file):
    imported = import_model(project, make_member(project, "researcher"), file, "from elsewhere.tar")
    assert imported.model == "trained/from-elsewhere"
    assert imported.card == model.card
    assert models_of(project) == [imported, model]
    assert models_of(make_project()) == []


def test_a_model_that_the_operator_installs_is_for_all_projects(file):
    install_model(file, "for all.tar", MOST)
    assert [each.name for each in models_of(make_project())] == ["for-all"]


def test_a_name_that_is_taken_is_refused(file):
    with pytest.raises(InvalidTraining, match="name: 'mine' is not available"):
        install_model(file, "mine.tar", MOST)


def test_a_model_of_an_unknown_evaluator_is_not_kept(monkeypatch, project, model, file):
    monkeypatch.setattr("scoring.training.registry.EVALUATORS", {})
    with pytest.raises(InvalidTraining, match="its evaluator 'similarity' is unknown"):
        install_model(file, "other.tar", MOST)
    assert models_of(project) == [model]


def test_an_archive_that_is_refused_leaves_no_row(project):
    with pytest.raises(InvalidTraining, match="no archive"):
        import_model(project, make_member(project, "researcher"), io.BytesIO(b"nothing"), "other.tar")
    assert not RegisteredModel.objects.exists()


def test_the_name_of_a_deleted_model_is_free_again(project, file):
    project.trainings.all().delete()
    remove("mine")
    assert install_model(file, "mine.tar", MOST) == "mine"


def test_only_those_who_manage_runs_import(project, file):
    with pytest.raises(NotAllowed):
        import_model(project, make_rater(project).user, file, "other.tar")
