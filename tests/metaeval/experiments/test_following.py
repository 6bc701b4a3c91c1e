"""The progress of an experiment's runs, and actions on all of them."""

import pytest

from annotation.errors import NotAllowed, NotFound
from metaeval.experiments.following import (
    cancel_all,
    delete_experiment,
    experiment_of,
    experiments_of,
    resume_all,
)
from metaeval.experiments.starting import (
    ExperimentRequest,
    experiment_of_setups,
    plan_experiment,
    start_experiment,
)
from scoring.models import Experiment, ExperimentMember, Run, Score, Setup
from scoring.runs.lifecycle import delete_run
from scoring.runs.planning import plan_run
from scoring.runs.worker import work_on_run
from tests.factories import make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db


def test_what_varies_and_its_values_are_in_the_words_of_the_form(project, starter):
    wanted = ExperimentRequest("Variants", "rouge", "variant", ("1", "L"), {"against": "article"})
    followed = experiment_of(project, start_experiment(plan_experiment(project, wanted), starter).pk)
    assert followed.varies == "Variant"
    assert [member.label for member in followed.members] == ["ROUGE-1", "ROUGE-L"]


def test_an_evaluator_that_was_removed_leaves_names_and_values_as_they_are(project, experiment):
    Experiment.objects.update(evaluator="removed")
    followed = experiment_of(project, experiment.pk)
    assert followed.varies == "share"
    assert [member.label for member in followed.members] == ["0.1", "0.2", "0.3"]


@pytest.fixture
def experiment(project, starter):
    wanted = ExperimentRequest("Shares", "copy_rate", "share", ("0.1", "0.2", "0.3"))
    return start_experiment(plan_experiment(project, wanted), starter)


def runs_of(experiment):
    return [member.setup.runs.first() for member in experiment.members.all()]


def statuses(experiment):
    return [run.status for run in runs_of(experiment)]


def test_progress_counts_all_runs_together(project, experiment):
    work_on_run(runs_of(experiment)[1].pk)
    followed = experiment_of(project, experiment.pk)
    assert (followed.progress.done, followed.progress.total) == (3, 9)
    assert [member.is_done for member in followed.members] == [False, True, False]
    assert (followed.n_done, followed.n_unfinished, followed.n_stopped) == (1, 2, 0)
    assert [member.label for member in followed.members] == ["0.1", "0.2", "0.3"]


def test_all_unfinished_runs_are_cancelled_and_resumed_together(project, starter, experiment):
    work_on_run(runs_of(experiment)[0].pk)
    assert cancel_all(experiment_of(project, experiment.pk), starter) == 2
    assert statuses(experiment) == ["done", "cancelled", "cancelled"]
    assert experiment_of(project, experiment.pk).n_stopped == 2
    assert resume_all(experiment_of(project, experiment.pk), starter) == 2
    assert statuses(experiment) == ["done", "queued", "queued"]


def test_run_that_has_finished_meanwhile_is_skipped(project, starter, experiment):
    behind = experiment_of(project, experiment.pk)
    work_on_run(runs_of(experiment)[2].pk)
    assert cancel_all(behind, starter) == 2
    assert statuses(experiment) == ["cancelled", "cancelled", "done"]


def test_latest_run_of_a_setup_is_shown(project, experiment):
    first = runs_of(experiment)[0]
    work_on_run(first.pk)
    make_summary(project)
    again = plan_run(project, "copy_rate", {"share": "0.1"})
    followed = experiment_of(project, experiment.pk)
    assert followed.members[0].run == again
    assert not followed.members[0].is_done


def test_deleting_an_experiment_keeps_runs_and_scores(project, starter, experiment):
    work_on_run(runs_of(experiment)[0].pk)
    delete_experiment(experiment_of(project, experiment.pk), starter)
    assert not Experiment.objects.exists()
    assert not ExperimentMember.objects.exists()
    assert (Run.objects.count(), Score.objects.count()) == (3, 3)


def test_setup_leaves_the_experiment_with_its_last_run(project, starter, experiment):
    first = runs_of(experiment)[0]
    work_on_run(first.pk)
    delete_run(first, starter)
    assert [member.label for member in experiment_of(project, experiment.pk).members] == ["0.2", "0.3"]


def test_setup_may_have_another_label_in_another_experiment(project, starter, experiment):
    setups = [member.setup_id for member in experiment.members.all()][:2]
    labelled = list(zip(setups, ("small", "large"), strict=True))
    experiment_of_setups(project, starter, "Two", "models", labelled)
    latest, first = experiments_of(project)
    assert [member.label for member in latest.members] == ["small", "large"]
    assert [member.setup for member in latest.members] == [member.setup for member in first.members[:2]]


def test_raters_cannot_cancel_resume_or_delete(project, experiment):
    followed = experiment_of(project, experiment.pk)
    for act in (cancel_all, resume_all, delete_experiment):
        with pytest.raises(NotAllowed):
            act(followed, make_rater(project).user)
    assert statuses(experiment) == ["queued"] * 3


def test_experiment_of_another_project_is_not_found(experiment):
    with pytest.raises(NotFound):
        experiment_of(make_project(), experiment.pk)
    assert experiments_of(make_project()) == []


def test_experiments_are_read_with_few_queries(project, starter, experiment, django_assert_max_num_queries):
    setups = list(Setup.objects.values_list("pk", flat=True))
    for number in range(5):
        experiment_of_setups(project, starter, str(number), "seeds", [(pk, str(pk)) for pk in setups])
    with django_assert_max_num_queries(5):
        assert len(experiments_of(project)) == 6
