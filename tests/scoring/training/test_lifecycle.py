"""Cancelling, resuming and deleting trainings."""

import pytest

from annotation.errors import NotAllowed, NotFound
from scoring.errors import ModelInUse, TrainingBusy
from scoring.models import Run, Training
from scoring.runs.lifecycle import cancel_run
from scoring.runs.planning import plan_run
from scoring.training.lifecycle import (
    cancel_training,
    delete_training,
    folder_of_training,
    resume_training,
    training_of,
)
from scoring.training.model_uses import uses_of
from scoring.training.planning import plan_training, start_training
from scoring.training.worker import claim_training, work_on_training
from scoring.weights.trained_models import trained_models
from tests.factories import make_member, make_project, make_rater

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(project):
    return make_member(project, "researcher")


@pytest.fixture
def training(project) -> Training:
    return start_training(plan_training(project, "counting", {}), None, "mine")


def status_of(training: Training) -> str:
    return Training.objects.get(pk=training.pk).status


def test_a_waiting_training_is_cancelled_at_once(training, user):
    cancel_training(training, user)
    assert status_of(training) == Training.Status.CANCELLED
    work_on_training(training.pk)
    assert not training.points.exists()


def test_a_running_training_is_asked_to_stop(training, user):
    claim_training(training.pk)
    cancel_training(training, user)
    asked = Training.objects.get(pk=training.pk)
    assert (asked.status, asked.is_cancelling) == (Training.Status.RUNNING, True)


def test_states_that_do_not_allow_it_are_refused(training, user):
    with pytest.raises(TrainingBusy, match="cannot be resumed: it is waiting"):
        resume_training(training, user)
    with pytest.raises(TrainingBusy, match="Cancel it first"):
        delete_training(training, user)
    work_on_training(training.pk)
    for act in (cancel_training, resume_training):
        with pytest.raises(TrainingBusy, match="it is done"):
            act(training, user)


def test_deleting_removes_files_and_model_and_keeps_scores(project, training, user):
    work_on_training(training.pk)
    [model] = trained_models()
    run = plan_run(project, model.card.evaluator, {"model": model.model, **model.card.params})
    setup = run.setup
    assert uses_of(training.name).setups == [setup]
    folder_of_training(training).mkdir(parents=True)
    with pytest.raises(ModelInUse, match=f"A run with {training.name} is in progress. Cancel it"):
        delete_training(training, user)
    assert list(trained_models()) == [model]
    cancel_run(run, user)
    assert run.setup.runs.get().status == Run.Status.CANCELLED
    delete_training(training, user)
    assert not Training.objects.exists()
    assert list(trained_models()) == []
    assert not folder_of_training(training).exists()
    setup.refresh_from_db()


def test_only_those_who_manage_runs_may(project, training):
    annotator = make_rater(project).user
    for act in (cancel_training, resume_training, delete_training):
        with pytest.raises(NotAllowed):
            act(training, annotator)


def test_trainings_of_other_projects_are_not_found(training):
    with pytest.raises(NotFound):
        training_of(make_project(), training.pk)
