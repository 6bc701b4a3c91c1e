"""A worker trains, installs the model, and continues what another worker left."""

from datetime import timedelta

import pytest
from django.utils import timezone

from scoring.contract.params import read_params
from scoring.evaluators import load_evaluator
from scoring.models import SeenArticle, Training
from scoring.runs.planning import plan_run
from scoring.training import worker
from scoring.training.lifecycle import cancel_training, folder_of_training, resume_training
from scoring.training.planning import plan_training, start_training
from scoring.training.wake_ups import wake_waiting_trainings
from scoring.training.worker import StoredCurves, work_on_training
from scoring.weights.trained_models import trained_models
from tests.factories import make_member
from tests.scoring.runs.test_planning import finished

pytestmark = pytest.mark.django_db


def started(project, **params) -> Training:
    return start_training(plan_training(project, "counting", params), None, "mine")


def again(training: Training) -> Training:
    return Training.objects.get(pk=training.pk)


@pytest.fixture
def stops_at(monkeypatch):
    """Return a function that lets something happen when the worker reports a step."""

    def at(step: int, happens) -> None:
        report = StoredCurves.report

        def reporting(self, point):
            report(self, point)
            if point.step == step:
                monkeypatch.setattr(StoredCurves, "report", report)
                self._due = 0.0
                happens()

        monkeypatch.setattr(StoredCurves, "report", reporting)

    return at


def test_a_training_ends_with_an_installed_model(project):
    training = started(project)
    work_on_training(training.pk)
    training = again(training)
    assert training.status == Training.Status.DONE, training.failure
    assert (training.steps, training.best_step) == (10, 10)
    assert training.measures == {"validation_loss": 0.1}
    assert training.intervals == {"validation_loss": [0.05, 0.2]}
    points = list(training.points.values_list("step", "loss", "measures"))
    assert [step for step, _, _ in points] == list(range(1, 11))
    assert points[4] == (5, 0.4, {"validation_loss": 0.2})
    [model] = trained_models()
    assert model.model == "trained/mine"
    assert model.card.data == {"origin": f"project {project.slug}"}
    assert not folder_of_training(training).exists()


def test_its_evaluator_leaves_out_what_it_has_seen(project):
    work_on_training(started(project).pk)
    [model] = trained_models()
    params = {"model": model.model, **model.card.params}
    evaluator_class = load_evaluator(model.card.evaluator)
    assert evaluator_class(read_params(evaluator_class, params)).seen.text_digests
    setup = finished(plan_run(project, model.card.evaluator, params)).setup
    roles = SeenArticle.objects.filter(setup=setup).values_list("article__external_id", "role")
    assert dict(roles) == {
        **{f"train-{number}": "train" for number in range(3)},
        **{f"validation-{number}": "validation" for number in range(2)},
    }
    scored = setup.scores.computed().values_list("summary__article__external_id", flat=True)
    assert set(scored) == {"test-0", "test-1"}


def test_another_worker_continues_at_the_checkpoint(project, stops_at, sent):
    training = started(project)

    def die():
        raise SystemExit

    stops_at(7, die)
    with pytest.raises(SystemExit):
        work_on_training(training.pk)
    assert again(training).status == Training.Status.RUNNING
    work_on_training(training.pk)  # its lease still holds
    assert again(training).points.count() == 7
    Training.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    work_on_training(training.pk)
    ended = again(training)
    assert ended.status == Training.Status.DONE
    assert ended.points.count() == 10
    assert ended.attempts == 1


def test_the_sweep_wakes_a_worker_for_a_forgotten_training(project, sent, django_capture_on_commit_callbacks):
    training = started(project)
    sent("cpu")
    with django_capture_on_commit_callbacks(execute=True):
        wake_waiting_trainings()
    assert [each["args"][0] for each in sent("cpu")] == [training.pk]
    worker.claim_training(training.pk)
    with django_capture_on_commit_callbacks(execute=True):
        wake_waiting_trainings()
    assert sent("cpu") == []


def test_a_training_that_never_gets_on_fails(project):
    training = started(project)
    for _ in range(worker.MOST_ATTEMPTS):
        assert worker.claim_training(training.pk)
        Training.objects.update(leased_until=timezone.now() - timedelta(seconds=1))
    work_on_training(training.pk)
    ended = again(training)
    assert ended.status == Training.Status.FAILED
    assert "Given up after 5 attempts without progress" in ended.failure


def test_a_cancelled_training_keeps_its_best_weights_and_can_be_resumed(project, stops_at):
    user = make_member(project, "researcher")
    training = started(project)
    stops_at(3, lambda: cancel_training(again(training), user))
    work_on_training(training.pk)
    cancelled = again(training)
    assert (cancelled.status, cancelled.steps, cancelled.has_model) == (Training.Status.CANCELLED, 3, True)
    assert [each.card.trained_with["steps"] for each in trained_models()] == [3]

    resume_training(cancelled, user)
    work_on_training(training.pk)
    ended = again(training)
    assert (ended.status, ended.points.count()) == (Training.Status.DONE, 10)
    assert [each.card.trained_with["steps"] for each in trained_models()] == [10]


def test_a_deleted_training_installs_nothing(project, stops_at):
    training = started(project)
    stops_at(3, lambda: Training.objects.all().delete())
    work_on_training(training.pk)
    assert list(trained_models()) == []


def test_changed_texts_of_checkpoints_fail_with_the_reason(project, stops_at):
    user = make_member(project, "researcher")
    training = started(project)
    stops_at(3, lambda: cancel_training(again(training), user))
    work_on_training(training.pk)
    project.summaries.filter(article__split="train").update(text="Another one.")
    resume_training(again(training), user)
    work_on_training(training.pk)
    ended = again(training)
    assert (ended.status, ended.failure) == (Training.Status.FAILED, "The checkpoints are of other data.")


def test_an_unexpected_error_is_named(project, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("tests.scoring.training.counting_trainer.CountingTrainer.train", broken)
    training = started(project)
    work_on_training(training.pk)
    assert again(training).failure == (
        "Unexpected ZeroDivisionError: by zero (the worker's log has the details)"
    )
