"""Reratings: a new rater rates a summary with a doubtful label once more."""

import pytest

from annotation.errors import DomainError, NotAllowed, NotFound
from annotation.gold.gold_set import AgreedAnswer, set_gold_answers
from annotation.models import Rerating
from annotation.projects.settings import change_settings
from annotation.rating.assigning import take_assignment
from annotation.rating.rerating import ReratingState, request_rerating, reratings_of, withdraw_rerating
from tests.annotation.rating.rating_steps import submit_stage
from tests.campaigns import NO
from tests.factories import (
    ALL_YES,
    make_article,
    make_gold,
    make_member,
    make_project,
    make_rater,
    make_summary,
)

pytestmark = pytest.mark.django_db


def rate_next(rater):
    """Rate the rater's next summary and return its id, or None when nothing is left."""
    assignment = take_assignment(rater)
    if assignment is None:
        return None
    submit_stage(rater, assignment.pk, 1, NO)
    return assignment.summary_id


def state_of(summary):
    return reratings_of([summary.pk]).get(summary.pk)


def test_a_rerating_goes_to_one_rater_who_has_not_rated_the_summary(project, researcher):
    summary = make_summary(project)
    first, second, third = (make_rater(project) for _ in range(3))
    assert rate_next(first) == summary.pk
    assert rate_next(second) is None
    assert state_of(summary) is None

    request_rerating(project, researcher, summary.pk)
    assert state_of(summary) == ReratingState.ASKED
    assert rate_next(first) is None
    assert rate_next(second) == summary.pk
    assert state_of(summary) == ReratingState.DONE
    assert rate_next(third) is None


def test_a_summary_with_more_ratings_than_wanted_still_gets_one_more(project, researcher):
    summary = make_summary(project, ratings_wanted=2)
    for _ in range(2):
        rate_next(make_rater(project))
    summary.__class__.objects.filter(pk=summary.pk).update(ratings_wanted=0, open_places=0)
    request_rerating(project, researcher, summary.pk)
    assert rate_next(make_rater(project)) == summary.pk
    assert rate_next(make_rater(project)) is None
    withdraw_rerating(project, researcher, summary.pk)
    summary.refresh_from_db()
    assert (summary.ratings_wanted, summary.open_places) == (0, 0)


def test_a_repeated_request_changes_nothing_and_can_be_withdrawn(project, researcher):
    summary = make_summary(project)
    rate_next(make_rater(project))
    asked = request_rerating(project, researcher, summary.pk)
    assert request_rerating(project, researcher, summary.pk) == asked
    assert asked.asked_by == researcher

    ended = withdraw_rerating(project, researcher, summary.pk)
    assert (ended, ended.ended_by) == (asked, researcher)
    assert state_of(summary) is None
    assert rate_next(make_rater(project)) is None
    assert withdraw_rerating(project, researcher, summary.pk) is None
    summary.refresh_from_db()
    assert summary.ratings_wanted == 1


def test_a_changed_redundancy_keeps_the_requested_rerating(project, researcher):
    summary, other = make_summary(project), make_summary(project)
    request_rerating(project, researcher, summary.pk)
    change_settings(project, {"redundancy": 2})
    summary.refresh_from_db()
    other.refresh_from_db()
    assert (summary.ratings_wanted, other.ratings_wanted) == (3, 2)
    withdraw_rerating(project, researcher, summary.pk)
    summary.refresh_from_db()
    assert summary.ratings_wanted == 2


def test_making_a_summary_gold_ends_its_rerating(project, researcher):
    summary = make_summary(project)
    request_rerating(project, researcher, summary.pk)
    set_gold_answers(summary, {key: AgreedAnswer(value, "So it is.") for key, value in ALL_YES.items()})
    assert not Rerating.objects.current().exists()


def test_only_members_who_may_tag_can_request_a_rerating(project):
    summary = make_summary(project)
    with pytest.raises(NotAllowed):
        request_rerating(project, make_rater(project).user, summary.pk)
    with pytest.raises(NotAllowed):
        withdraw_rerating(project, make_rater(project).user, summary.pk)
    assert request_rerating(project, make_member(project, "manager"), summary.pk)


def test_a_rerating_that_no_rater_could_be_given_is_refused(project, researcher):
    with pytest.raises(DomainError, match="gold set"):
        request_rerating(project, researcher, make_gold(project).summary_id)
    without_text = make_summary(project, article=make_article(project, text=""))
    with pytest.raises(DomainError, match="no text"):
        request_rerating(project, researcher, without_text.pk)
    with pytest.raises(NotFound):
        request_rerating(project, researcher, make_summary(make_project()).pk)
