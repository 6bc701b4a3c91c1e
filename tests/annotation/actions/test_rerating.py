"""A summary whose label is doubted is rated once more: by somebody new, blind, and exactly once."""

import pytest

from annotation.actions.assigning import take_assignment
from annotation.actions.gold_set import AgreedAnswer, set_gold_answers
from annotation.actions.projects import change_settings
from annotation.actions.rating import submit_stage
from annotation.actions.rerating import RatedAgain, ask_for_rerating, reratings_of, take_back_rerating
from annotation.errors import DomainError, NotAllowed, NotFound
from annotation.models import Rerating
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


@pytest.fixture
def project(db):
    return make_project()


@pytest.fixture
def researcher(project):
    return make_member(project, "researcher")


def rate_next(rater):
    """Rates what the rater is given, and says which summary that was; None where nothing is left."""
    assignment = take_assignment(rater)
    if assignment is None:
        return None
    submit_stage(rater, assignment.pk, 1, NO)
    return assignment.summary_id


def state_of(summary):
    return reratings_of([summary.pk]).get(summary.pk)


def test_one_more_rater_is_given_it_and_never_one_who_has_rated_it(project, researcher):
    summary = make_summary(project)
    first, second, third = (make_rater(project) for _ in range(3))
    assert rate_next(first) == summary.pk
    assert rate_next(second) is None
    assert state_of(summary) is None

    ask_for_rerating(project, researcher, summary.pk)
    assert state_of(summary) == RatedAgain.ASKED
    assert rate_next(first) is None
    assert rate_next(second) == summary.pk
    assert state_of(summary) == RatedAgain.DONE
    assert rate_next(third) is None


def test_what_was_imported_with_more_ratings_than_wanted_still_gets_one_more(project, researcher):
    summary = make_summary(project, ratings_wanted=2)
    for _ in range(2):
        rate_next(make_rater(project))
    summary.__class__.objects.filter(pk=summary.pk).update(ratings_wanted=0, open_places=0)
    ask_for_rerating(project, researcher, summary.pk)
    assert rate_next(make_rater(project)) == summary.pk
    assert rate_next(make_rater(project)) is None
    take_back_rerating(project, researcher, summary.pk)
    summary.refresh_from_db()
    assert (summary.ratings_wanted, summary.open_places) == (0, 0)


def test_asked_twice_is_asked_once_and_can_be_taken_back(project, researcher):
    summary = make_summary(project)
    rate_next(make_rater(project))
    asked = ask_for_rerating(project, researcher, summary.pk)
    assert ask_for_rerating(project, researcher, summary.pk) == asked
    assert asked.asked_by == researcher

    ended = take_back_rerating(project, researcher, summary.pk)
    assert (ended, ended.ended_by) == (asked, researcher)
    assert state_of(summary) is None
    assert rate_next(make_rater(project)) is None
    assert take_back_rerating(project, researcher, summary.pk) is None
    summary.refresh_from_db()
    assert summary.ratings_wanted == 1


def test_another_redundancy_keeps_the_one_more(project, researcher):
    summary, other = make_summary(project), make_summary(project)
    ask_for_rerating(project, researcher, summary.pk)
    change_settings(project, {"redundancy": 2})
    summary.refresh_from_db()
    other.refresh_from_db()
    assert (summary.ratings_wanted, other.ratings_wanted) == (3, 2)
    take_back_rerating(project, researcher, summary.pk)
    summary.refresh_from_db()
    assert summary.ratings_wanted == 2


def test_a_summary_that_becomes_gold_is_no_longer_asked_for(project, researcher):
    summary = make_summary(project)
    ask_for_rerating(project, researcher, summary.pk)
    set_gold_answers(summary, {key: AgreedAnswer(value, "So it is.") for key, value in ALL_YES.items()})
    assert not Rerating.objects.current().exists()


def test_only_those_who_tag_may_ask(project):
    summary = make_summary(project)
    with pytest.raises(NotAllowed):
        ask_for_rerating(project, make_rater(project).user, summary.pk)
    with pytest.raises(NotAllowed):
        take_back_rerating(project, make_rater(project).user, summary.pk)
    assert ask_for_rerating(project, make_member(project, "manager"), summary.pk)


def test_what_nobody_could_be_given_is_refused(project, researcher):
    with pytest.raises(DomainError, match="gold set"):
        ask_for_rerating(project, researcher, make_gold(project).summary_id)
    without_text = make_summary(project, article=make_article(project, text=""))
    with pytest.raises(DomainError, match="no text"):
        ask_for_rerating(project, researcher, without_text.pk)
    with pytest.raises(NotFound):
        ask_for_rerating(project, researcher, make_summary(make_project()).pk)
