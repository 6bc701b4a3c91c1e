"""A learning curve from its first training to its last score: by workers, stopped, resumed, deleted."""

import pytest
from django.utils import timezone

from annotation.errors import NotAllowed
from metaeval.learning_curves.following import cancel_curve, curve_of, delete_curve, resume_curve
from metaeval.learning_curves.model_scores import go_on_after, held_out_articles, score_waiting_models
from metaeval.tasks import work_on_run, work_on_training
from scoring.errors import ModelInUse, TrainingBusy
from scoring.models import CurveModel, Run, Score, SeenArticle, Training
from scoring.runs.lifecycle import delete_run
from scoring.training.wake_ups import wake_waiting_trainings
from scoring.training.worker import claim_training
from scoring.weights.trained_models import trained_models
from tests.factories import make_rater
from tests.metaeval.learning_curves.curve_projects import make_curve

pytestmark = pytest.mark.django_db


@pytest.fixture
def curve(counted):
    return make_curve(counted, seeds=1)


def trainings():
    return list(Training.objects.order_by("pk"))


def woken(sent):
    return [(message["task"].rpartition(".")[2], message["args"][0]) for message in sent("cpu")]


def test_workers_train_one_after_another_and_each_model_scores_the_test_articles(
    counted, curve, sent, django_capture_on_commit_callbacks
):
    first, second = trainings()
    with django_capture_on_commit_callbacks(execute=True):
        wake_waiting_trainings()
    assert woken(sent) == [("work_on_training", first.pk)]
    with django_capture_on_commit_callbacks(execute=True):
        work_on_training(first.pk)
    model = CurveModel.objects.get(training=first)
    run = model.setup.runs.get()
    assert sorted(woken(sent)) == [("work_on_run", run.pk), ("work_on_training", second.pk)]
    work_on_run(run.pk)
    scored = set(Score.objects.values_list("summary__article", flat=True))
    assert scored == held_out_articles(curve)
    assert not scored & set(SeenArticle.objects.values_list("article", flat=True))
    followed = curve_of(counted, curve.pk)
    assert (followed.n_trained, followed.n_done, followed.n_unfinished) == (1, 1, 1)


def test_a_worker_killed_between_training_and_scoring_loses_nothing(curve):
    Training.objects.update(status=Training.Status.DONE, finished_at=timezone.now())
    score_waiting_models()
    assert {each.failure for each in CurveModel.objects.all()} == {
        f"The files of the model {each.model} have been deleted." for each in trainings()
    }
    score_waiting_models()
    assert not Run.objects.exists()


def test_cancelled_and_resumed_as_one(counted, curve, starter, sent, django_capture_on_commit_callbacks):
    first, second = trainings()
    claim_training(first.pk)
    assert cancel_curve(curve_of(counted, curve.pk), starter) == 2
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.is_cancelling, second.status) == (True, Training.Status.CANCELLED)
    Training.objects.update(status=Training.Status.CANCELLED, leased_until=None, finished_at=timezone.now())
    with django_capture_on_commit_callbacks(execute=True):
        assert resume_curve(curve_of(counted, curve.pk), starter) == 2
    assert {each.status for each in trainings()} == {Training.Status.QUEUED}
    assert woken(sent) == [("work_on_training", first.pk)]


def test_a_deleted_run_is_scored_again_only_when_resumed(counted, curve, starter):
    for training in trainings():
        work_on_training(training.pk)
    for run in Run.objects.all():
        work_on_run(run.pk)
    assert curve_of(counted, curve.pk).n_done == 2
    delete_run(Run.objects.first(), starter)
    score_waiting_models()
    assert Run.objects.count() == 1
    assert curve_of(counted, curve.pk).n_stopped == 1
    resume_curve(curve_of(counted, curve.pk), starter)
    assert Run.objects.count() == 2


def test_deleting_removes_trainings_and_models_and_keeps_scores(counted, curve, starter):
    with pytest.raises(TrainingBusy, match="Cancel them first"):
        delete_curve(curve_of(counted, curve.pk), starter)
    for training in trainings():
        work_on_training(training.pk)
    with pytest.raises(ModelInUse, match=r"A run with .* is in progress"):
        delete_curve(curve_of(counted, curve.pk), starter)
    assert len(list(trained_models())) == len(trainings())
    cancel_curve(curve_of(counted, curve.pk), starter)
    delete_curve(curve_of(counted, curve.pk), starter)
    assert not Training.objects.exists()
    assert list(trained_models()) == []
    assert Run.objects.count() == 2


def test_a_training_of_its_own_wakes_nothing(counted):
    go_on_after(Training.objects.create(project=counted, name="alone", method="sharing").pk)
    assert not Run.objects.exists()


def test_only_those_who_manage_runs_may(counted, curve):
    annotator = make_rater(counted).user
    for act in (cancel_curve, resume_curve, delete_curve):
        with pytest.raises(NotAllowed):
            act(curve_of(counted, curve.pk), annotator)
