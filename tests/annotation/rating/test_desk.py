"""Stages submitted while something else changes: one stored rating or a clear refusal, never half of one."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from annotation.errors import AssignmentGone, GuidelinesUnconfirmed, NotAllowed, StageClosed
from annotation.guidelines.following import confirm_guidelines
from annotation.models import Answer, Assignment, Project, ProjectChange, Rating
from annotation.people.members import remove_rater, suspend_rater
from annotation.projects.archiving import archive_project
from annotation.rating.assigning import release_expired, take_assignment
from annotation.rating.desk import GivenAnswer, desk_at
from annotation.rating.reopening import reopen_rating
from annotation.rating.submitting import submit_at
from annotation.summaries.withdrawing import withdraw_summary
from tests.annotation.rating.rating_steps import FIRST, SECOND, THIRD, at_stage, submit_stage
from tests.factories import make_member, make_rater, make_summary, publish_guidelines

pytestmark = pytest.mark.django_db

SHEETS = {1: FIRST, 2: SECOND, 3: THIRD}


def given(stage: int, **others: str) -> dict[str, GivenAnswer]:
    return {key: GivenAnswer(value) for key, value in (SHEETS[stage] | others).items()}


def end_lease(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(leased_until=timezone.now() - timedelta(minutes=1))
    release_expired(assignment.rater.project, timezone.now())


def archive(assignment: Assignment) -> None:
    project = assignment.rater.project
    archive_project(project, make_member(project, "manager"))


def withdraw(assignment: Assignment) -> None:
    project = assignment.rater.project
    withdraw_summary(project, make_member(project, "manager"), assignment.summary_id)


@pytest.mark.parametrize("stage", [1, 3])
@pytest.mark.parametrize(
    ("happens", "refusal", "message"),
    [
        (end_lease, AssignmentGone, "ran out"),
        (withdraw, AssignmentGone, "withdrew"),
        (archive, NotAllowed, "is archived"),
        (lambda assignment: remove_rater(assignment.rater), NotAllowed, "You are removed"),
        (lambda assignment: suspend_rater(assignment.rater), NotAllowed, "You are suspended"),
        (lambda assignment: publish_guidelines(assignment.rater.project), GuidelinesUnconfirmed, "confirm"),
        (lambda assignment: submit_stage(assignment.rater, assignment.pk, 1, given(1)), None, ""),
    ],
)
def test_what_happens_after_the_desk_was_read_is_noticed(assignment, stage, happens, refusal, message):
    at_stage(assignment, stage)
    answers = Answer.objects.count()
    desk = desk_at(assignment.rater, assignment.pk)
    happens(assignment)
    if refusal is None:
        submit_at(desk, stage, given(stage))
        assert Answer.objects.count() == answers + len(SHEETS[stage])
        return
    with pytest.raises(refusal, match=message):
        submit_at(desk, stage, given(stage))
    assert Answer.objects.count() == answers
    assert not Rating.objects.filter(completed_at__isnull=False).exists()


@pytest.mark.parametrize("stage", [1, 2, 3])
def test_two_windows_that_submit_the_same_stage_store_it_once(assignment, stage):
    at_stage(assignment, stage)
    first, second = (desk_at(assignment.rater, assignment.pk) for _ in range(2))
    submit_at(first, stage, given(stage))
    answers = Answer.objects.count()
    again = submit_at(second, stage, given(stage))
    assert Answer.objects.count() == answers
    assert again.assignment.stage == first.assignment.stage
    assert again.given == first.given


@pytest.mark.parametrize("stage", [1, 3])
def test_two_windows_with_different_answers_store_the_first(assignment, stage):
    at_stage(assignment, stage)
    first, second = (desk_at(assignment.rater, assignment.pk) for _ in range(2))
    submit_at(first, stage, given(stage))
    key = next(iter(SHEETS[stage]))
    with pytest.raises(StageClosed):
        submit_at(second, stage, given(stage, **{key: "unsure"}))
    assert Answer.objects.get(question__key=key).value == SHEETS[stage][key]


def test_two_windows_that_finish_a_reopened_rating_store_one_revision(assignment):
    rating = at_stage(assignment, 4).rating
    reopen_rating(assignment.rater, rating.pk)
    submit_stage(assignment.rater, assignment.pk, 1, given(1))
    submit_stage(assignment.rater, assignment.pk, 2, given(2))
    first, second = (desk_at(assignment.rater, assignment.pk) for _ in range(2))
    for desk in (first, second):
        submit_at(desk, 3, given(3, conciseness="yes"))
    assert Answer.objects.filter(question__key="conciseness").count() == 2
    assert Answer.objects.current().count() == 6


@pytest.mark.parametrize(("changes", "is_stored"), [(2, True), (3, False)])
def test_a_stage_is_tried_three_times_while_other_things_change(assignment, changes, is_stored):
    rater, left = assignment.rater, [changes]

    def change_first(execute, sql, *rest):
        if "UPDATE annotation_assignment" in sql and left[0]:
            left[0] -= 1
            version = publish_guidelines(rater.project, text=f"Rate what you read, {left[0]}.")
            confirm_guidelines(rater, [version.pk])
        return execute(sql, *rest)

    desk = desk_at(rater, assignment.pk)
    with connection.execute_wrapper(change_first):
        if is_stored:
            submit_at(desk, 1, given(1))
        else:
            with pytest.raises(StageClosed, match="Submit them again"):
                submit_at(desk, 1, given(1))
    assert left == [0]
    assert Answer.objects.count() == is_stored
    assignment.refresh_from_db()
    assert assignment.stage == 1 + is_stored


class Died(Exception):
    pass


def dies_at(number: int):
    """Return a wrapper of statements that fails at the `number`th, counted from 0, savepoints apart."""
    seen = []

    def run(execute, *rest):
        if "SAVEPOINT" in rest[0]:
            return execute(*rest)
        seen.append(rest[0])
        if len(seen) == number + 1:
            raise Died
        return execute(*rest)

    return run


def test_a_process_that_dies_at_any_statement_leaves_all_or_nothing(assignment):
    """The last stage, which finishes the rating, takes the next summary and announces both."""
    rater = assignment.rater
    following = make_summary(rater.project)
    at_stage(assignment, 3)

    def stored():
        following.refresh_from_db()
        return (
            Answer.objects.count(),
            Rating.objects.filter(completed_at__isnull=False).count(),
            list(Assignment.objects.order_by("pk").values_list("state", flat=True)),
            following.open_places,
            Project.objects.get(pk=rater.project_id).revision,
            ProjectChange.objects.count(),
        )

    before, deaths = stored(), 0
    while True:
        desk = desk_at(rater, assignment.pk)
        try:
            with connection.execute_wrapper(dies_at(deaths)):
                submit_at(desk, 3, given(3), takes_next=True)
        except Died:
            deaths += 1
            assert stored() == before
        else:
            break
    assert deaths >= 7
    answers, finished, states, open_places, revision, changes = stored()
    assert (answers, finished, states, open_places) == (before[0] + 3, 1, ["done", "open"], 0)
    assert (revision, changes) == (before[4] + 1, before[5] + 1)


def test_the_next_desk_is_as_if_it_had_been_read(assignment):
    rater = assignment.rater
    make_summary(rater.project)
    confirm_guidelines(rater, [publish_guidelines(rater.project).pk])
    at_stage(assignment, 3)
    desk = submit_at(desk_at(rater, assignment.pk), 3, given(3), takes_next=True)
    read = desk_at(rater, desk.next.assignment.pk)
    taken = desk.next
    assert (taken.assignment, taken.rating, taken.answers) == (read.assignment, None, {})
    assert taken.assignment.summary.text == read.assignment.summary.text
    assert taken.assignment.summary.article.language == read.assignment.summary.article.language
    assert taken.last_rating == read.last_rating == desk.rating
    names = ("published", "rated_today", "flag", "is_gold", "last_is_gold", "has_reopened")
    assert [getattr(taken, name) for name in names] == [getattr(read, name) for name in names]


def test_a_rater_who_holds_another_summary_gets_that_one_next(assignment):
    rater = assignment.rater
    rating = at_stage(assignment, 4).rating
    make_summary(rater.project)
    held = take_assignment(rater)
    reopen_rating(rater, rating.pk)
    for stage in (1, 2, 3):
        desk = submit_at(desk_at(rater, assignment.pk), stage, given(stage), takes_next=True)
    assert desk.next is None
    assert take_assignment(rater) == held


def test_a_summary_whose_lease_expired_returns_with_its_answered_stages(assignment):
    rater = assignment.rater
    returning = at_stage(assignment, 2)
    end_lease(returning)
    make_summary(rater.project, shuffle_key=1)
    Assignment.objects.filter(pk=returning.pk).update(created_at=timezone.now() - timedelta(days=1))
    assert take_assignment(rater) == returning
    desk = desk_at(rater, returning.pk)
    assert (desk.assignment.stage, set(desk.given)) == (2, set(FIRST))


def test_nobody_sits_at_anothers_desk(assignment):
    with pytest.raises(AssignmentGone, match="not assigned to you"):
        desk_at(make_rater(assignment.rater.project), assignment.pk)
