"""The end of a run, as webhooks are told of it."""

import pytest

from annotation.models import Event
from scoring.models import Run
from scoring.runs.lifecycle import cancel_run, fail_run, pause_run, resume_run
from scoring.runs.planning import plan_run
from scoring.runs.worker import work_on_run
from tests.factories import make_member, make_project, make_summary

pytestmark = pytest.mark.django_db


@pytest.fixture
def project():
    project = make_project(wanted_events=[Event.Kind.RUN_FINISHED])
    make_summary(project)
    return project


@pytest.fixture
def run(project):
    return plan_run(project, "length", {})


def statuses():
    return list(Event.objects.order_by("pk").values_list("data__status", flat=True))


def test_a_run_that_is_done_is_named_without_its_scores(project, run):
    assert statuses() == []
    work_on_run(run.pk)
    event = Event.objects.get()
    assert event.data == {
        "run": run.pk,
        "kind": "scores",
        "status": "done",
        "total": 1,
        "setup": {"id": run.setup_id, "evaluator": "length", "label": run.setup.label},
        "address": f"/api/projects/{project.slug}/runs/{run.pk}/",
    }


def test_a_run_that_fails_is_named_without_the_reason(run):
    fail_run(run.pk, "SECRET-REASON")
    fail_run(run.pk, "again")
    assert statuses() == ["failed"]
    assert "SECRET-REASON" not in str(Event.objects.get().data)


def test_a_run_is_cancelled_resumed_and_done(project, run):
    manager = make_member(project, "manager")
    cancel_run(run, manager)
    resume_run(run, manager)
    assert statuses() == ["cancelled"]
    work_on_run(run.pk)
    assert statuses() == ["cancelled", "done"]


def test_a_paused_run_has_not_ended(run):
    pause_run(run.pk, "The budget is spent.")
    assert statuses() == []


def test_a_run_with_nothing_left_to_score_is_done_at_once(project, run):
    work_on_run(run.pk)
    again = plan_run(project, "length", {})
    assert again.status == Run.Status.DONE
    assert statuses() == ["done", "done"]
