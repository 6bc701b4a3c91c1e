"""What is recorded for webhooks, through the actions that raters and managers take."""

import json

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Event, Rater
from annotation.people.members import suspend_rater
from annotation.rating.assigning import take_assignment
from annotation.rating.desk import desk_at
from annotation.rating.reopening import reopen_rating
from annotation.rating.submitting import GivenAnswer, submit_at
from tests.annotation.rating.rating_steps import THIRD, at_stage
from tests.factories import make_gold, make_project, make_rater, make_summary

pytestmark = pytest.mark.django_db

ALL = [Event.Kind.RATING_FINISHED, Event.Kind.RATER_SUSPENDED]
LAST = {key: GivenAnswer(value, "SECRET-COMMENT") for key, value in THIRD.items()}


def finish(rater):
    """Rate a summary to its end. Return the statements of the last stage."""
    assignment = at_stage(take_assignment(rater), 3)
    desk = desk_at(rater, assignment.pk)
    with CaptureQueriesContext(
        connection,
    ) as asked:
        submit_at(desk, 3, LAST)
    return [each["sql"] for each in asked.captured_queries]


def test_a_finished_rating_is_named_without_its_answers():
    project = make_project(wanted_events=ALL)
    summary, rater = make_summary(project), make_rater(project)
    finish(rater)
    event = Event.objects.get()
    assert (event.project, event.kind) == (project, Event.Kind.RATING_FINISHED)
    assert event.data == {
        "rating": rater.ratings.get().pk,
        "summary": {
            "id": summary.pk,
            "article": summary.article.external_id,
            "system": "system-a",
            "language": "en",
        },
        "rater": {"id": rater.pk, "pseudonym": rater.pseudonym, "username": rater.user.username},
    }
    told = json.dumps(event.data)
    for hidden in (summary.text, summary.article.text, "SECRET-COMMENT", "unsure", "attribution"):
        assert hidden not in told


def test_a_reopened_rating_is_announced_when_it_is_finished_again():
    project = make_project(wanted_events=ALL)
    make_summary(project)
    rater = make_rater(project)
    finish(rater)
    assignment = reopen_rating(rater, rater.ratings.get().pk)
    assert Event.objects.count() == 1
    at_stage(assignment, 4)
    first, second = Event.objects.all()
    assert first.data == second.data
    assert first.uid != second.uid


def test_without_webhooks_nothing_is_stored_and_no_statement_more_is_sent():
    quiet, loud = make_project(), make_project(wanted_events=ALL)
    for project in (quiet, loud):
        make_summary(project)
    without = finish(make_rater(quiet))
    assert not Event.objects.exists()
    assert not [sql for sql in without if "event" in sql.replace("wanted_events", "")]
    assert len(without) < len(finish(make_rater(loud)))


def test_what_no_webhook_wants_is_not_recorded():
    project = make_project(wanted_events=[Event.Kind.RUN_FINISHED])
    make_summary(project)
    rater = make_rater(project)
    finish(rater)
    suspend_rater(rater)
    assert not Event.objects.exists()


def test_gold_rounds_and_hidden_checks_are_not_announced_as_ratings():
    project = make_project(wanted_events=ALL, check_rate=1.0)
    gold, _ = make_gold(project), make_summary(project)
    rater = make_rater(project)
    finish(rater)
    assert rater.ratings.get().summary == gold.summary
    assert not Event.objects.exists()


def test_a_manager_suspends_a_rater():
    project = make_project(wanted_events=ALL)
    rater = make_rater(project)
    suspend_rater(rater, "SECRET-REASON")
    event = Event.objects.get()
    assert event.kind == Event.Kind.RATER_SUSPENDED
    assert event.data == {
        "rater": {"id": rater.pk, "pseudonym": rater.pseudonym, "username": rater.user.username},
        "by_checks": False,
    }


def test_hidden_checks_suspend_a_rater():
    project = make_project(wanted_events=ALL, check_rate=1.0, check_threshold=0.99, check_minimum=1)
    make_gold(project)
    make_summary(project)
    rater = make_rater(project)
    finish(rater)
    rater.refresh_from_db()
    assert rater.status == Rater.Status.SUSPENDED
    event = Event.objects.get()
    assert (event.kind, event.data["by_checks"]) == (Event.Kind.RATER_SUSPENDED, True)
